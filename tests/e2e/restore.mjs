// Erased content stays erased: a memory is erased in the window, and then a backup is opened that was made before the
// erasure. The memory has to be gone from the backup too, and the window has to say so.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PASSPHRASE, Vault } from "../cli/mementory.mjs";
import { built } from "../tools/places.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { runAlone } from "../tools/count.mjs";
import { Display, homeWithRecentVaults } from "./display.mjs";
import { Browser, until } from "./webdriver.mjs";

const OUTPUT_FOLDER = fileURLToPath(new URL("out/", import.meta.url));
const ERASED_WORD = "heliotrope";
const KEPT_WORD = "marigold";

export async function testRestore(count) {
  await cargoTool("tauri-driver", "^2");
  mkdirSync(OUTPUT_FOLDER, { recursive: true });
  const home = mkdtempSync(join(tmpdir(), "mementory-restore-"));
  const vault = new Vault(home).create();
  for (const [name, text] of [
    ["erased.txt", `The lantern code is ${ERASED_WORD} seventeen.`],
    ["kept.txt", `Keeps the ${KEPT_WORD} seeds in the blue tin.`],
  ])
    vault.must("add", "--text-file", vault.write(name, text));
  const backup = join(home, "Backup.mementory");
  vault.must("backup", backup);
  const display = await Display.start(homeWithRecentVaults(home, vault.path, backup));
  let browser;
  try {
    browser = await Browser.open(await display.driver(), built("mementory-app"));
    await runSteps(browser, count);
  } catch (error) {
    console.log(`  ${error.message}`);
    count.add("the test of a backup after an erasure runs to its end", false);
  } finally {
    if (browser)
      writeFileSync(join(OUTPUT_FOLDER, "restore.png"), await browser.screenshot().catch(() => Buffer.alloc(0)));
    await browser?.close().catch(() => {});
    await display.stopAndRemove(home);
  }
}

async function unlock(browser) {
  await browser.type("unlock-passphrase", PASSPHRASE);
  await browser.click("unlock-submit");
  await browser.find("nav-memories");
}

/** The texts of the memories that the window lists. */
async function listedTexts(browser) {
  await browser.click("nav-memories");
  await browser.find("list-row");
  return browser.run(`() => [...document.querySelectorAll('[data-testid="list-row"]')].map((row) => row.innerText)`);
}

async function runSteps(browser, count) {
  await unlock(browser);
  count.add("both memories are in the vault", (await listedTexts(browser)).length === 2);

  await browser.type("search-field", ERASED_WORD);
  await until("the memory to be found", async () => (await browser.count("list-row")) === 1);
  await browser.click("list-row");
  await browser.click("detail-trash");
  await browser.click("nav-trash");
  await browser.click("list-row");
  await browser.click("trash-erase");
  await browser.click("erase-confirm");
  await browser.find("receipt-complete");
  await browser.click("receipt-done");
  await browser.gone("receipt");

  await browser.click("nav-settings");
  await browser.click("settings-vault");
  await browser.click("vault-open-recent");
  await unlock(browser);
  await until("the window to say that an erasure was applied", () =>
    browser.run(`() => /erased here too/.test(document.querySelector('[data-testid="toast"]')?.innerText)`),
  );
  count.add("the window says that an erasure was applied", true);
  const remainingTexts = await listedTexts(browser);
  const isThere = (word) => remainingTexts.some((text) => text.includes(word));
  count.add("the erased memory is gone from the backup", remainingTexts.length === 1 && !isThere(ERASED_WORD));
  count.add("the other memory is still in the backup", isThere(KEPT_WORD));
  await browser.type("search-field", ERASED_WORD);
  await until("nothing to be found", async () => (await browser.count("list-row")) === 0);
  count.add("no search finds the erased memory in the backup", true);
}

await runAlone(import.meta.url, testRestore);
