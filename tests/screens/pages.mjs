// The pages with sample data, built and served with the policy of the real window, in a headless Chromium.
import { spawn } from "node:child_process";
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createPort } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { Browser, until } from "../e2e/webdriver.mjs";
import { ROOT } from "../tools/places.mjs";
import { ENV, has, quiet } from "../tools/sh.mjs";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };

/** What is missing to look at the screens; empty when nothing is. */
export function missing() {
  return ["chromium", "chromedriver"].filter((program) => !has(program));
}

/** The content security policy of the window, as a header. */
function policy() {
  const { csp } = JSON.parse(readFileSync(join(ROOT, "src-tauri", "tauri.conf.json"), "utf8")).app.security;
  return Object.entries(csp)
    .map(([name, value]) => `${name} ${value}`)
    .join("; ");
}

/** Build the pages with sample data into a folder of its own. */
export function build(folder) {
  const args = ["vite", "build", "--config", "ui/vite.config.ts", "--outDir", folder, "--emptyOutDir"];
  const { code, stderr } = quiet("npx", ["--no-install", ...args], { env: { ...ENV, VITE_MOCK: "1" } });
  if (code !== 0) throw new Error(`the pages were not built: ${stderr.slice(-2000)}`);
}

function serve(folder, asked) {
  const header = { "content-security-policy": policy() };
  const server = createServer((request, answer) => {
    asked.push(request.url);
    const path = normalize(new URL(request.url, "http://localhost").pathname).replace(/^\/$/, "/index.html");
    const file = join(folder, path);
    if (!file.startsWith(folder) || !existsSync(file)) return answer.writeHead(404).end();
    answer.writeHead(200, { ...header, "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(answer);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

function freePort() {
  return new Promise((resolve) => {
    const port = createPort().listen(0, "127.0.0.1", () => {
      const { port: number } = port.address();
      port.close(() => resolve(number));
    });
  });
}

/**
 * Build, serve, open a browser, hand it to `use` with the address and what was asked of the server so far, and end
 * everything again. `built`: pages that are there already.
 */
export async function withPages(use, built = process.env.KEEPSAKE_PAGES) {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-screens-"));
  const asked = [];
  let server, driver, browser;
  try {
    if (!built) build(join(folder, "pages"));
    server = await serve(built ?? join(folder, "pages"), asked);
    const port = await freePort();
    driver = spawn("chromedriver", [`--port=${port}`], { stdio: "ignore", env: ENV });
    const base = `http://127.0.0.1:${port}`;
    await until("the WebDriver server", async () => (await fetch(`${base}/status`)).ok);
    browser = await Browser.start(base, {
      browserName: "chrome",
      "goog:loggingPrefs": { performance: "ALL" },
      "goog:chromeOptions": {
        args: [
          "--headless=new",
          "--no-sandbox",
          "--disable-gpu",
          "--lang=en-GB",
          `--user-data-dir=${join(folder, "p")}`,
        ],
      },
    });
    return await use(browser, `http://127.0.0.1:${server.address().port}`, asked);
  } finally {
    await browser?.close().catch(() => undefined);
    driver?.kill();
    server?.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
