// Tests a double click: the window is started with a file on the command line, a second start hands its files to the
// first window and ends, and files that cannot be opened are named. The time until the demonstration is open is
// printed.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PASSPHRASE, Vault } from "../cli/mementory.mjs";
import { runAlone } from "../tools/count.mjs";
import { built } from "../tools/places.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { has } from "../tools/sh.mjs";
import { Display, homeWithRecentVaults } from "./display.mjs";
import { Desktop } from "./desktop.mjs";
import { Browser, until } from "./webdriver.mjs";

const OUTPUT_FOLDER = fileURLToPath(new URL("out/", import.meta.url));
const APP = built("mementory-app");

/** Returns the reason why the test cannot run here, or null if it can. */
function findSkipReason() {
  if (process.platform !== "linux") return "only on Linux";
  return has("dbus-daemon") ? null : "dbus-daemon is not installed";
}

export async function testOpening(count) {
  const skipReason = findSkipReason();
  if (skipReason) return count.leaveOut(`files that the system asks to open: ${skipReason}`);
  await cargoTool("tauri-driver", "^2");
  mkdirSync(OUTPUT_FOLDER, { recursive: true });
  const home = mkdtempSync(join(tmpdir(), "mementory-opening-"));
  const vault = new Vault(home).create();
  const otherFolder = join(home, "other");
  mkdirSync(otherFolder);
  const otherVault = new Vault(otherFolder).create();
  const files = Object.fromEntries(
    ["first", "second", "third"].map((name) => [name, vault.write(`${name}.txt`, `A note about the ${name} lantern.`)]),
  );
  mkdirSync(join(home, "notes"));
  writeFileSync(join(home, "notes", "inside.md"), "A note about harbour lights.");
  // A second start of the program finds the first one on the session bus.
  const desktop = await Desktop.start();
  const display = await Display.start(homeWithRecentVaults(home, vault.path), { bus: desktop.address });
  let browser;
  try {
    browser = await Browser.open(await display.driver(), APP, [files.first]);
    await openFiles(count, browser, display, { ...files, notes: join(home, "notes") });
    await openOther(count, browser, display, { vault: vault.path, other: otherVault.path });
    await openDemonstration(count, browser, display, otherVault.path);
  } catch (error) {
    console.log(`  ${error.message}`);
    count.add("the test of files that the system asks to open runs to its end", false);
  } finally {
    if (browser)
      writeFileSync(join(OUTPUT_FOLDER, "opening.png"), await browser.screenshot().catch(() => Buffer.alloc(0)));
    await browser?.close().catch(() => {});
    desktop.stop();
    await display.stopAndRemove(home);
  }
}

/** The paths of the files that the import sheet lists. */
const listedFiles = (browser) =>
  browser.run(`() => [...document.querySelectorAll('[data-testid="import-file"]')].map((file) => file.dataset.path)`);

const untilListed = (browser, ...paths) =>
  until(`the import of ${paths.join(", ")}`, async () => {
    const fileNames = await listedFiles(browser);
    return fileNames.length === paths.length && paths.every((path) => fileNames.includes(path));
  });

const untilToast = (browser, ...words) =>
  until(`a message with ${words.join(", ")}`, () =>
    browser.run(
      `(words) => words.every((word) => document.querySelector('[data-testid="toast"]')?.innerText.includes(word))`,
      words,
    ),
  );

async function unlock(browser) {
  await browser.type("unlock-passphrase", PASSPHRASE);
  await browser.click("unlock-submit");
}

/** Starts the program a second time. It has to hand over its arguments and end. */
async function startAgain(count, display, what, ...args) {
  const code = await Promise.race([
    display.run(APP, args),
    until("the second start to end", () => false).catch(() => "running"),
  ]);
  count.add(`a second start ${what} ends (${code})`, code === 0);
}

/** Tests files on the command line, files and a folder of a second start, and paths that cannot be opened. */
async function openFiles(count, browser, display, { first, second, third, notes }) {
  await browser.find("unlock-files");
  count.add("a file on the command line waits for the vault", true);
  await unlock(browser);
  await untilListed(browser, first);
  count.add("a file on the command line is offered for import when the vault is open", true);
  await browser.click("import-cancel");
  await browser.gone("import-sheet");

  await startAgain(count, display, "with two files", second, third);
  await untilListed(browser, second, third);
  count.add("two files of a second start are offered together", (await browser.windows()).length === 1);
  await browser.click("import-cancel");
  await browser.gone("import-sheet");

  await startAgain(count, display, "with a folder", notes);
  await untilListed(browser, notes);
  count.add("a folder is offered for import", true);
  await browser.click("import-cancel");
  await browser.gone("import-sheet");

  await startAgain(count, display, "with a file that is gone, and a device", `${second}.gone`, "/dev/zero");
  await untilToast(browser, "second.txt.gone can’t be found", "zero is neither a file nor a folder");
  count.add("a path that cannot be opened is named", (await browser.count("import-sheet")) === 0);
}

/** Opens the vault that is already open, and then another vault while no edit would be lost. */
async function openOther(count, browser, display, { vault, other }) {
  await startAgain(count, display, "with the vault that is open", join(vault, "vault.json"));
  await browser.click("nav-memories");
  count.add("a second start with the open vault changes nothing", (await browser.count("unlock-passphrase")) === 0);

  await startAgain(count, display, "with another vault", other);
  await browser.find("unlock-passphrase");
  count.add("another vault is unlocked at once if nothing would be lost", true);
  await unlock(browser);
  await browser.find("nav-memories");
}

/** Opens the demonstration by the action of the desktop entry, and from the welcome screen. */
async function openDemonstration(count, browser, display, other) {
  const start = () => startAgain(count, display, "for the demonstration", "--demonstration");
  await measureDemonstration(count, browser, "made for the desktop entry", start);
  await browser.click("demonstration-delete");
  await browser.find("welcome-demo");
  await measureDemonstration(count, browser, "made from the welcome screen", () => browser.click("welcome-demo"));
  await startAgain(count, display, "with a vault", other);
  await browser.find("unlock-passphrase");
  await measureDemonstration(count, browser, "opened again", start);
}

/** Prints the time until the demonstration is shown. It depends on the machine, so it is no test. */
async function measureDemonstration(count, browser, what, open) {
  const started = performance.now();
  await open();
  await browser.find("demonstration");
  await browser.drawn();
  count.add(`the demonstration is ${what}: shown after ${((performance.now() - started) / 1000).toFixed(1)} s`, true);
}

await runAlone(import.meta.url, testOpening);
