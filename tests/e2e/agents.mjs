// AI clients connected to the real window. The person connects a client, which then sends requests through the window's
// socket. Its first read is announced, its suggestions wait for the person, and at the end it is stopped. Then the
// window runs once more while its system calls are traced, to show that it opens no internet socket to answer clients.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { McpClient, TOOLS, callsOfAllTools } from "../cli/mcp-client.mjs";
import { PASSPHRASE, Vault } from "../cli/mementory.mjs";
import { missedTools, realClients } from "../interop/mcp.mjs";
import { findTraceProblem, readTrace, traced } from "../interop/offline.mjs";
import { runAlone } from "../tools/count.mjs";
import { built } from "../tools/places.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { ENV } from "../tools/sh.mjs";
import { Display, homeWithRecentVaults } from "./display.mjs";
import { Browser, TAKES_PICTURES, until } from "./webdriver.mjs";

const OUTPUT_FOLDER = fileURLToPath(new URL("out/", import.meta.url));
const WORD = "tortoise";
const ROW = '[data-id="claude_code"]';
const WINDOW_SIZES = [
  [1280, 800],
  [900, 600],
];
/** Longest time in milliseconds for the window to open while it is traced, which makes the window slow. */
const TRACED_MS = 240_000;
/** Milliseconds after which the passphrase is typed again. */
const RETYPE_MS = 15_000;
const TAB = "\uE004";
const ENTER = "\uE007";

/** A home with the configuration of Claude Code, and a vault with memories. Returns {home, vault, id, folders}. */
function prepare() {
  const home = mkdtempSync(join(tmpdir(), "mementory-agents-"));
  const vault = new Vault(home).create();
  const add = (text) => vault.must("add", "--text-file", vault.write("text.txt", text));
  add("Prefers night trains to planes.");
  const { id } = add(`Has a ${WORD} called Rui.`);
  writeFileSync(join(home, ".claude.json"), "{}\n", { mode: 0o600 });
  return { home, vault, id, folders: homeWithRecentVaults(home, vault.path) };
}

/**
 * The command, arguments and environment with which Claude Code would start our server. They are in its configuration,
 * which also has the token.
 */
function configuredCommand(home, folders) {
  const { mementory } = JSON.parse(readFileSync(join(home, ".claude.json"), "utf8")).mcpServers;
  const { command, args, env } = mementory;
  return { command, args, env: { ...ENV, ...folders, ...env } };
}

export async function testAgents(count) {
  await cargoTool("tauri-driver", "^2");
  mkdirSync(OUTPUT_FOLDER, { recursive: true });
  const { home, id, folders } = prepare();
  const display = await Display.start(folders);
  let browser;
  try {
    browser = await Browser.open(await display.driver(), built("mementory-app"));
    const window = await display.moveToCorner("Mementory");
    await runSteps({ browser, display, window, count, home, folders, id });
  } catch (error) {
    console.log(`  ${error.stack}`);
    count.add("the test of clients of the window runs to its end", false);
    if (browser) writeFileSync(join(OUTPUT_FOLDER, "agents-failed.png"), await browser.screenshot().catch(() => ""));
  } finally {
    await browser?.close().catch(() => {});
    await display.stopAndRemove(home);
  }
}

/** Takes pictures of a screen in both themes and sizes, for people to look at. */
async function takePictures({ browser, display, window }, name) {
  if (!TAKES_PICTURES) return;
  for (const [width, height] of WINDOW_SIZES) {
    display.resize(window, width, height);
    await until("the window to have its size", () => browser.run("(width) => innerWidth === width", width));
    for (const theme of ["light", "dark"]) {
      await browser.run("(theme) => { document.documentElement.dataset.theme = theme; return true; }", theme);
      await until("the screen to be still", () =>
        browser.run("() => document.getAnimations().every((each) => each.playState !== 'running')"),
      );
      writeFileSync(join(OUTPUT_FOLDER, `agents-${name}-${theme}-${width}.png`), await browser.screenshot());
    }
  }
  display.resize(window, ...WINDOW_SIZES[0]);
}

/** Presses Tab until the element with this `data-testid` has the focus. Fails after 80 presses. */
async function tabTo(browser, testid) {
  for (let n = 0; n < 80; n += 1) {
    await browser.keys(TAB);
    if (await browser.run("(id) => document.activeElement?.dataset?.testid === id", testid)) return;
  }
  throw new Error(`${testid} is not reached with the keyboard`);
}

/** Number of controls without a name that a screen reader could read. */
const countNameless = (browser) =>
  browser.run(`() => [...document.querySelectorAll("main button, main input, main textarea, [role=dialog] button, [role=dialog] input")]
    .filter((each) => each.offsetParent !== null)
    .filter((each) => !(each.innerText?.trim() || each.ariaLabel || each.labels?.length || each.title || each.getAttribute("aria-labelledby")))
    .length`);

const openAgents = async (browser) => {
  await browser.click("nav-settings");
  await browser.click("settings-agents");
  await browser.find("agent", ROW);
};

async function runSteps(stage) {
  const { browser, count, home, folders, id } = stage;
  await browser.type("unlock-passphrase", PASSPHRASE);
  await browser.click("unlock-submit");
  await browser.find("nav-memories");
  await openAgents(browser);
  const socket = join(folders.XDG_RUNTIME_DIR, "mementory", "clients.sock");
  count.add("before a client is connected, the window has no socket", !existsSync(socket));

  await browser.click("agent-connect");
  await browser.find("configuration-change");
  await browser.click("connect-export");
  count.add(
    "every control of the sheet for connecting has a name for a screen reader",
    (await countNameless(browser)) === 0,
  );
  await takePictures(stage, "connect");
  await tabTo(browser, "connect-do");
  await browser.keys(ENTER);
  await browser.find("agent-stop");
  count.add("the window has a socket once a client is connected", existsSync(socket));
  await takePictures(stage, "connected");

  const { command, args, env } = configuredCommand(home, folders);
  const client = await McpClient.start(command, args, env);
  const firstAnswer = await client.call("search", { query: WORD });
  count.add("the client finds the memory through the window", firstAnswer?.results?.[0]?.id === id);
  await until("the first read to be announced", () =>
    browser.run(`() => /Claude Code.*first time/.test(document.querySelector('[data-testid="toast"]')?.innerText)`),
  );
  count.add("the first read is announced in the window", true);
  await takePictures(stage, "first-read");

  for (const [name, run] of Object.entries(await realClients({ command, args }, callsOfAllTools(id, WORD), env))) {
    const { listsAll, failed } = missedTools(await run());
    if (failed.length > 0) console.log(`  ${failed.join(", ")}`);
    count.add(`the window answers ${name}, all ${TOOLS.length} tools`, listsAll && failed.length === 0);
  }
  await openAgents(browser);
  await takePictures(stage, "list");
  const row = await browser.text("agent", ROW);
  count.add("the window shows the program that is really connected", /node|python|\.mjs/.test(row));
  await browser.click("agent-calls");
  await browser.find("call");
  await takePictures(stage, "calls");

  await reviewSuggestions(stage);

  await openAgents(browser);
  await browser.click("agent-stop");
  await until("the client to be stopped", async () => (await browser.count("agent-stop")) === 0);
  count.add("a stopped client gets nothing more", (await client.call("search", { query: WORD })) === null);
  await takePictures(stage, "stopped");
  await client.close();
}

/** Accepts one suggestion with the keyboard, refuses the others permanently, and checks that the queue shrinks. */
async function reviewSuggestions(stage) {
  const { browser, count } = stage;
  const invoke = (command) => browser.runAsync(`() => window.__TAURI_INTERNALS__.invoke("${command}")`);
  const waiting = (await invoke("suggestions")).items;
  count.add("the suggestions of all clients wait once each", waiting.length === 4);
  count.add(
    "the sidebar shows the number of suggestions",
    (await browser.text("nav-suggestions")).includes(String(waiting.length)),
  );
  await browser.click("nav-suggestions");
  await browser.find("suggestion");
  count.add(
    "every control of the list of suggestions has a name for a screen reader",
    (await countNameless(browser)) === 0,
  );
  await takePictures(stage, "queue");
  await tabTo(browser, "suggestion-accept");
  await browser.keys(ENTER);
  await until("one to be accepted", async () => (await browser.count("suggestion")) === waiting.length - 1);
  count.add("the keyboard accepts a suggestion", (await invoke("suggestions")).items.length === waiting.length - 1);
  await browser.click("suggestions-all");
  await browser.click("suggestions-never");
  await until("the queue to be empty", async () => (await browser.count("suggestion")) === 0);
  await takePictures(stage, "queue-empty");
}

/**
 * Traces the window while it answers a client. The window is started without WebDriver, because WebDriver would open
 * sockets inside the window's process.
 */
export async function testAgentsTraced(count) {
  const traceProblem = findTraceProblem();
  if (traceProblem) return count.leaveOut(`the window under a trace: ${traceProblem}`);
  const { home, vault, id, folders } = prepare();
  vault.must("grants", "add", "Traced", "--token-file", join(home, "token"), "--rights", "read,suggest,export");
  const display = await Display.start(folders);
  try {
    const trace = join(home, "window.trace");
    const [program, ...options] = traced(trace);
    const window = await display.open(program, [...options, built("mementory-app")], "Mementory");
    const windowClosed = new Promise((resolve) => window.on("close", resolve));
    const socket = join(folders.XDG_RUNTIME_DIR, "mementory", "clients.sock");
    // Type the passphrase repeatedly until the vault is open, because the window may not have been ready. If only some
    // of the keys arrive, the passphrase is wrong and the field is cleared.
    const tryToUnlock = async () => {
      if (!existsSync(socket)) display.type(PASSPHRASE, "Return");
      return until("the socket", () => existsSync(socket), RETYPE_MS).catch(() => false);
    };
    await until("the vault to be open", tryToUnlock, TRACED_MS);
    const client = await McpClient.start(built("mementory"), ["mcp", "--token-file", join(home, "token")], {
      ...ENV,
      ...folders,
    });
    const failed = [];
    for (const [name, input] of callsOfAllTools(id, WORD))
      if ((await client.call(name, input)) === null) failed.push(name);
    await client.close();
    count.add("the traced window answers all tools", failed.length === 0);
    let ended = false;
    windowClosed.then(() => (ended = true));
    await until("the window to end", () => (ended ? true : (display.closeWindow(), false)));
    const { network, seesLocalSocket } = readTrace(trace);
    network.slice(0, 5).forEach((line) => console.log(`  ${line.slice(0, 160)}`));
    count.add("the window opens no internet socket, only local ones", seesLocalSocket && network.length === 0);
  } catch (error) {
    console.log(`  ${error.stack}`);
    count.add("the test of the window under a trace runs to its end", false);
  } finally {
    await display.stopAndRemove(home);
  }
}

await runAlone(import.meta.url, async (count) => {
  await testAgents(count);
  await testAgentsTraced(count);
});
