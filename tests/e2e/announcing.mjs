// A long job that ends while the window is not in front: the desktop gets its progress and a notification, which says
// nothing of what is in the vault.
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { PASSPHRASE, Vault } from "../cli/mementory.mjs";
import { built } from "../tools/places.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { has } from "../tools/sh.mjs";
import { Desktop } from "./desktop.mjs";
import { Display, homeWithRecentVaults } from "./display.mjs";
import { Browser, until } from "./webdriver.mjs";

/**
 * Milliseconds for which the program is halted: more than the 10 s after which a job counts as long, and fewer than the
 * 15 s after which the program assumes that the computer was asleep.
 */
const HALTED_MS = 11_000;
/** Number of memories to import: so many that the import is still running when the program is halted. */
const MEMORIES = 8_000;
/** A word that every memory and the name of the file contain. */
const SECRET = "harbour";

export async function testNotifications(count) {
  const missingProgram = ["dbus-daemon", "dbus-monitor"].find((program) => !has(program));
  if (process.platform !== "linux" || missingProgram)
    return count.leaveOut(`a notification at the end of a long job: ${missingProgram ?? "Linux"} is missing`);
  await cargoTool("tauri-driver", "^2");
  const home = mkdtempSync(join(tmpdir(), "mementory-announcing-"));
  const vault = new Vault(home).create();
  const desktop = await Desktop.start();
  await desktop.watch();
  const display = await Display.start(homeWithRecentVaults(home, vault.path), { bus: desktop.address });
  let browser;
  try {
    browser = await Browser.open(await display.driver(), built("mementory-app"));
    await unlock(browser);
    // From here on, the window is not in front. Nothing is typed or clicked any more.
    display.minimize(await display.moveToCorner("Mementory"));
    await runSteps(browser, desktop, home, count);
  } catch (error) {
    console.log(`  ${error.message}`);
    count.add("the test of notifications runs to its end", false);
  } finally {
    await browser?.close().catch(() => {});
    desktop.stop();
    await display.stopAndRemove(home);
  }
}

/** The process of the window in this home. */
function windowProcess(home) {
  const read = (pid, name) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, "utf8");
    } catch {
      return ""; // the process has ended
    }
  };
  const isWindow = (pid) =>
    read(pid, "comm").startsWith("mementory-app") && read(pid, "environ").split("\0").includes(`HOME=${home}`);
  return Number(readdirSync("/proc").find((name) => /^\d+$/.test(name) && isWindow(name)));
}

/** Imports a file of memories, and halts the program meanwhile, so that the import takes long. */
async function importLong(browser, home, name) {
  const memories = Array.from({ length: MEMORIES }, (_, n) => ({
    id: `${name}-${n}`,
    memory: `Walks to the ${SECRET} on day ${n} of ${name}.`,
    categories: ["walks"],
  }));
  const path = join(home, `${SECRET}-${name}.json`);
  writeFileSync(path, JSON.stringify(memories));
  const request = { paths: [path], text: null, format: null, limit_bytes: null, include_blocked: false };
  const choices = { accept_invalid_signature: false, salvage: false, merge: null };
  // Do not wait for the answer here, because the program is halted before it comes.
  await browser.run(
    `(jobId, request) => {
      const tauri = window.__TAURI_INTERNALS__;
      const onProgress = "__CHANNEL__:" + tauri.transformCallback(() => undefined);
      window.importEnd = null;
      tauri.invoke("import_run", { jobId, request, passphrase: null, onProgress }).then(
        () => (window.importEnd = "done"),
        (error) => (window.importEnd = JSON.stringify(error)),
      );
    }`,
    name,
    { ...request, ...choices },
  );
  const pid = windowProcess(home);
  process.kill(pid, "SIGSTOP");
  try {
    await pause(HALTED_MS);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  return until("the import to end", () => browser.run("() => window.importEnd"), 120_000);
}

async function unlock(browser) {
  await browser.type("unlock-passphrase", PASSPHRASE);
  await browser.click("unlock-submit");
  await browser.find("nav-memories");
}

async function runSteps(browser, desktop, home, count) {
  const setNotifications = (value) =>
    browser.runAsync(
      `(value) => window.__TAURI_INTERNALS__.invoke("set_preference", { name: "notifications", value })`,
      value,
    );
  await setNotifications("off");
  count.add("a first long import ends", (await importLong(browser, home, "first")) === "done");
  await setNotifications(null);
  count.add("a second long import ends", (await importLong(browser, home, "second")) === "done");

  const notifications = await until("a notification", () => {
    const notifyMessages = desktop.messages("Notify");
    return notifyMessages.length > 0 && notifyMessages;
  });
  // Messages arrive in the order in which they were sent. A notification of the first import would be among these.
  count.add("the desktop is notified unless the person has turned that off", notifications.length === 1);
  count.add("the notification names the kind of job that has ended", /"The import has ended"/.test(notifications[0]));
  count.add("the notification contains no text of the import", !notifications[0].includes(SECRET));
  const updates = desktop.messages("Update");
  count.add(
    "the launcher shows the progress of the import",
    updates.some((update) => /boolean true/.test(update)),
  );
  count.add("the launcher hides the progress at the end", /boolean false/.test(updates.at(-1) ?? ""));
}
