// Builds the pages with sample data, serves them with the content security policy of the window, and opens headless
// Chromium.
import { spawn } from "node:child_process";
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createPort } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { Browser, until } from "../e2e/webdriver.mjs";
import { ROOT } from "../tools/places.mjs";
import { ENV, has, quiet } from "../tools/sh.mjs";

const CONTENT_TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
};

/** Programs that the screen tests need and that are not installed. */
export function missingPrograms() {
  return ["chromium", "chromedriver"].filter((program) => !has(program));
}

/** The content security policy of the window, as a header. */
function readPolicy() {
  const { csp } = JSON.parse(readFileSync(join(ROOT, "src-tauri", "tauri.conf.json"), "utf8")).app.security;
  return Object.entries(csp)
    .map(([name, value]) => `${name} ${value}`)
    .join("; ");
}

/** Folder with the built pages, which are built once per process. */
let pages = process.env.MEMENTORY_PAGES;
export function builtPages() {
  if (pages) return pages;
  const folder = mkdtempSync(join(tmpdir(), "mementory-pages-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  buildPages(folder);
  return (pages = folder);
}

function buildPages(folder) {
  const args = ["vite", "build", "--config", "ui/vite.config.ts", "--outDir", folder, "--emptyOutDir"];
  const { code, stderr } = quiet("npx", ["--no-install", ...args], { env: { ...ENV, VITE_MOCK: "1" } });
  if (code !== 0) throw new Error(`building the pages failed: ${stderr.slice(-2000)}`);
}

/**
 * The time that the pages see, in milliseconds since 1970. It is fixed, so that dates and ages on screenshots stay the
 * same.
 */
const FIXED_TIME_MS = Date.parse("2026-11-22T09:41:05Z");
const TIME_ZONE = "Europe/Oslo";

/** Runs before the scripts of the page. Sets up a fixed clock, fixed random values, empty storage. */
function makeDeterministic(now) {
  const fixedNow = () => now;
  window.Date = new Proxy(Date, {
    construct: (real, given, as) => Reflect.construct(real, given.length > 0 ? given : [fixedNow()], as),
    get: (real, name) => (name === "now" ? fixedNow : Reflect.get(real, name)),
  });
  // Give the same values in every call, because the number of earlier calls depends on the speed of the machine.
  crypto.getRandomValues = (array) => {
    array.forEach((_, at) => (array[at] = at + 1));
    return array;
  };
  // The page stores preferences for its next start, but each screen must start fresh. `about:blank` has no storage.
  if (location.protocol.startsWith("http")) localStorage.clear();
}

/** Serves a folder with the content security policy of the window. The path of each request is added to `requests`. */
export function serve(folder, requests = []) {
  const header = { "content-security-policy": readPolicy() };
  const server = createServer((request, response) => {
    requests.push(request.url);
    const path = normalize(new URL(request.url, "http://localhost").pathname).replace(/^\/$/, "/index.html");
    const file = join(folder, path);
    if (!file.startsWith(folder) || !existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { ...header, "content-type": CONTENT_TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
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
 * Builds and serves the pages, opens a browser, and calls `use` with the browser, the address of the pages and the list
 * of requests to the server. If `logged` is true, Chromium logs its network requests.
 */
export async function withPages(use, { logged = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "mementory-screens-"));
  const requests = [];
  let server, driver, browser;
  try {
    server = await serve(builtPages(), requests);
    const port = await freePort();
    driver = spawn("chromedriver", [`--port=${port}`], { stdio: "ignore", env: ENV });
    const base = `http://127.0.0.1:${port}`;
    await until("the WebDriver server", async () => (await fetch(`${base}/status`)).ok);
    browser = await Browser.start(base, {
      browserName: "chrome",
      ...(logged ? { "goog:loggingPrefs": { performance: "ALL" } } : {}),
      "goog:chromeOptions": {
        // The languages determine the format of dates.
        prefs: { "intl.accept_languages": "en-GB,en" },
        args: [
          "--headless=new",
          "--no-sandbox",
          "--disable-gpu",
          "--lang=en-GB",
          `--user-data-dir=${join(folder, "p")}`,
        ],
      },
    });
    await browser.devTools("Page.addScriptToEvaluateOnNewDocument", {
      source: `(${makeDeterministic})(${FIXED_TIME_MS})`,
    });
    await browser.devTools("Emulation.setTimezoneOverride", { timezoneId: TIME_ZONE });
    return await use(browser, `http://127.0.0.1:${server.address().port}`, requests);
  } finally {
    await browser?.close().catch(() => undefined);
    driver?.kill();
    server?.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
