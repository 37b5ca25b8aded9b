// A watched folder in the real window: an export that lands in it is offered and imported; the next one comes in on its own.
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PASSPHRASE, Vault } from "../cli/mementory.mjs";
import { ROOT, built } from "../tools/places.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { Display, homeWith } from "./display.mjs";
import { Browser, until } from "./webdriver.mjs";

const sample = (name) => join(ROOT, "fixtures", "samples", name);

export async function watching(count) {
  await cargoTool("tauri-driver", "^2");
  const home = mkdtempSync(join(tmpdir(), "mementory-watching-"));
  const vault = new Vault(home).create();
  const downloads = join(home, "Downloads");
  mkdirSync(downloads);
  copyFileSync(sample("chatgpt-saved-memories.txt"), join(downloads, "there before.txt"));
  const display = await Display.start(homeWith(home, vault.path));
  let browser;
  try {
    browser = await Browser.open(await display.driver(), built("mementory-app"));
    await play(browser, downloads, count);
  } catch (error) {
    console.log(`  ${error.message}`);
    count.add("a watched folder is watched to the end", false);
  } finally {
    await browser?.close().catch(() => {});
    await display.end(home);
  }
}

async function play(browser, downloads, count) {
  await browser.type("unlock-passphrase", PASSPHRASE);
  await browser.click("unlock-submit");
  await browser.find("nav-memories");
  // The system's own dialog is nothing that WebDriver reaches: what it would answer is handed over.
  await browser.later(`(path) => window.__TAURI_INTERNALS__.invoke("watch_folder", { path })`, downloads);

  // As browsers do it: under another name until it is whole.
  const unfinished = join(downloads, "chatgpt.zip.crdownload");
  copyFileSync(sample("chatgpt-export.zip"), unfinished);
  writeFileSync(join(downloads, "holiday.txt"), "Nothing that an assistant wrote.");
  renameSync(unfinished, join(downloads, "chatgpt.zip"));
  const toast = () => browser.run(`() => document.querySelector('[data-testid="toast"]')?.innerText`);
  const said = await until("the offer", toast);
  count.add("an export that lands in a watched folder is offered", /chatgpt\.zip.*ChatGPT/.test(said));

  await browser.click("nav-settings");
  await browser.click("settings-folders");
  await browser.find("find");
  count.add("it waits in the settings, and nothing else does", (await browser.count("find")) === 1);
  await browser.click("find-import");
  await browser.click("import-confirm");
  await browser.click("import-done");
  await browser.gone("find");
  count.add("imported, it waits no longer", (await browser.count("find")) === 0);

  const folder = await browser.run(`() => document.querySelector('[data-testid="watched-folder"]').dataset.id`);
  const args = { folder, mode: "own" };
  await browser.later(`(args) => window.__TAURI_INTERNALS__.invoke("set_watching", args)`, args);
  copyFileSync(sample("claude-export.zip"), join(downloads, "claude.zip"));
  await until("the import on its own", async () => {
    const { batches } = await browser.later(`() => window.__TAURI_INTERNALS__.invoke("imports")`);
    return batches.length === 2;
  });
  const told = await until("the word of it", toast);
  count.add("the next one comes in on its own, and the window says so", /claude\.zip/.test(told));
}
