// When the desktop announces on the session bus that the screen is locked, the vault must lock too, unless the setting
// is off.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PASSPHRASE, Vault } from "../cli/mementory.mjs";
import { built } from "../tools/places.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { has } from "../tools/sh.mjs";
import { Desktop } from "./desktop.mjs";
import { Display, homeWithRecentVaults } from "./display.mjs";
import { Browser, until } from "./webdriver.mjs";

/** Returns the reason why the test cannot run here, or null if it can. */
function findSkipReason() {
  if (process.platform !== "linux") return "only on Linux";
  const missingProgram = ["dbus-daemon", "dbus-send"].find((program) => !has(program));
  return missingProgram ? `${missingProgram} is not installed` : null;
}

export async function testLockWhenAway(count) {
  const skipReason = findSkipReason();
  if (skipReason) return count.leaveOut(`the vault locks with the screen: ${skipReason}`);
  await cargoTool("tauri-driver", "^2");
  const home = mkdtempSync(join(tmpdir(), "mementory-away-"));
  const vault = new Vault(home).create();
  const desktop = await Desktop.start();
  const display = await Display.start(homeWithRecentVaults(home, vault.path), { bus: desktop.address });
  let browser;
  try {
    browser = await Browser.open(await display.driver(), built("mementory-app"));
    await runSteps(browser, desktop, count);
  } catch (error) {
    console.log(`  ${error.message}`);
    count.add("the test of locking with the screen runs to its end", false);
  } finally {
    await browser?.close().catch(() => {});
    desktop.stop();
    await display.stopAndRemove(home);
  }
}

async function unlock(browser) {
  await browser.type("unlock-passphrase", PASSPHRASE);
  await browser.click("unlock-submit");
  await browser.find("nav-memories");
}

const isVaultOpen = async (browser) =>
  (await browser.runAsync(`() => window.__TAURI_INTERNALS__.invoke("session_state")`)).open;

/**
 * Announces a locked screen again and again until the vault locks, because the window may open before it listens to the
 * bus.
 */
const waitForLock = (browser, desktop) =>
  until("the vault to lock", async () => desktop.announce(true) && (await browser.count("unlock-passphrase")) === 1);

async function runSteps(browser, desktop, count) {
  await unlock(browser);
  await waitForLock(browser, desktop);
  const footer = await browser.run(`() => document.querySelector("footer")?.innerText`);
  count.add("the vault locks with the screen, and the window says so", /when the screen was locked/.test(footer));
  count.add("the vault is locked, not only covered", !(await isVaultOpen(browser)));

  desktop.announce(false);
  await unlock(browser);
  await browser.click("nav-settings");
  await browser.click("settings-security");
  const toggle = async (on) => {
    await browser.click("settings-lock-away");
    await until(
      "the switch to move",
      async () => (await browser.attribute("settings-lock-away", "aria-checked")) === on,
    );
  };
  await toggle("false");
  count.add("the desktop announces a locked screen again", desktop.announce(true));
  // Once these clicks are done, the announcement must have arrived.
  await browser.click("nav-memories");
  await browser.click("nav-settings");
  await browser.click("settings-security");
  count.add("the vault stays open when locking with the screen is switched off", await isVaultOpen(browser));
  await toggle("true");
  await waitForLock(browser, desktop);
  count.add("the vault locks again when locking with the screen is switched on", !(await isVaultOpen(browser)));
}
