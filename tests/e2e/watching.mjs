// A watched folder in the real window. A new export is offered and imported. When automatic import is on, the next
// export is imported without a click.
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PASSPHRASE, Vault } from "../cli/mementory.mjs";
import { ROOT, built } from "../tools/places.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { Display, homeWithRecentVaults } from "./display.mjs";
import { Browser, until } from "./webdriver.mjs";

const sample = (name) => join(ROOT, "fixtures", "samples", name);

export async function testWatchedFolder(count) {
  await cargoTool("tauri-driver", "^2");
  const home = mkdtempSync(join(tmpdir(), "mementory-watching-"));
  const vault = new Vault(home).create();
  const downloads = join(home, "Downloads");
  mkdirSync(downloads);
  copyFileSync(sample("chatgpt-saved-memories.txt"), join(downloads, "there before.txt"));
  const display = await Display.start(homeWithRecentVaults(home, vault.path));
  let browser;
  try {
    browser = await Browser.open(await display.driver(), built("mementory-app"));
    await runSteps(browser, downloads, count);
  } catch (error) {
    console.log(`  ${error.message}`);
    count.add("the watched folder test runs to its end", false);
  } finally {
    await browser?.close().catch(() => {});
    await display.stopAndRemove(home);
  }
}

async function runSteps(browser, downloads, count) {
  await browser.type("unlock-passphrase", PASSPHRASE);
  await browser.click("unlock-submit");
  await browser.find("nav-memories");
  // WebDriver cannot operate the system's file dialog, so call the command with the folder that a person would choose.
  await browser.runAsync(`(path) => window.__TAURI_INTERNALS__.invoke("watch_folder", { path })`, downloads);

  // The file has another name until it is complete, like a download of a browser.
  const unfinishedDownload = join(downloads, "chatgpt.zip.crdownload");
  copyFileSync(sample("chatgpt-export.zip"), unfinishedDownload);
  writeFileSync(join(downloads, "holiday.txt"), "Nothing that an assistant wrote.");
  renameSync(unfinishedDownload, join(downloads, "chatgpt.zip"));
  const toast = () => browser.run(`() => document.querySelector('[data-testid="toast"]')?.innerText`);
  const offer = await until("the offer", toast);
  count.add("a new export in a watched folder is offered", /chatgpt\.zip.*ChatGPT/.test(offer));

  await browser.click("nav-settings");
  await browser.click("settings-folders");
  await browser.find("detected-file");
  count.add("the settings list the new export and no other file", (await browser.count("detected-file")) === 1);
  await browser.click("detected-file-import");
  await browser.click("import-confirm");
  await browser.click("import-done");
  await browser.gone("detected-file");
  count.add("the settings do not list the export after its import", (await browser.count("detected-file")) === 0);

  const folder = await browser.run(`() => document.querySelector('[data-testid="watched-folder"]').dataset.id`);
  const args = { folder, mode: "own" };
  await browser.runAsync(`(args) => window.__TAURI_INTERNALS__.invoke("set_watching", args)`, args);
  copyFileSync(sample("claude-export.zip"), join(downloads, "claude.zip"));
  await until("the automatic import", async () => {
    const { batches } = await browser.runAsync(`() => window.__TAURI_INTERNALS__.invoke("imports")`);
    return batches.length === 2;
  });
  const notice = await until("the notice", toast);
  count.add("the next export is imported automatically, with a notice", /claude\.zip/.test(notice));
}
