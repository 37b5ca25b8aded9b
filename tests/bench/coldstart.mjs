// Measures the time from the start of the window's process until WebDriver sees the unlock field. WebDriver polls every
// 50 ms and WebKitGTK does not report its first paint, so the result is an upper bound.
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Display, homeWithRecentVaults } from "../e2e/display.mjs";
import { Browser } from "../e2e/webdriver.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { Stop } from "../tools/sh.mjs";

const START_COUNT = 5;
/** Clock ticks per second in `/proc/<pid>/stat`: 100 on every current Linux. */
const TICKS_PER_SECOND = 100;
/** Writing "3" to this file empties the file system caches. Only root may do it. */
const DROP_CACHES_FILE = "/proc/sys/vm/drop_caches";

/**
 * Starts `program` several times with `vault` as the most recently opened vault. Returns {cold, times}: `times` has the
 * seconds of each start, and `cold` is true if the file caches were emptied before the first start. Linux only.
 */
export async function coldStarts(program, vault) {
  await cargoTool("tauri-driver", "^2");
  const home = mkdtempSync(join(tmpdir(), "mementory-start-"));
  const display = await Display.start(homeWithRecentVaults(home, vault));
  try {
    const driver = await display.driver();
    const cold = emptyCaches();
    const times = [];
    while (times.length < START_COUNT) times.push(await startOnce(driver, program));
    return { cold, times };
  } finally {
    await display.stopAndRemove(home);
  }
}

/** Starts `program` once. Returns the seconds from its start until WebDriver sees the unlock field. */
async function startOnce(driver, program) {
  const browser = await Browser.open(driver, program);
  await browser.find("unlock-passphrase");
  const visibleAt = Date.now();
  const startedAt = startTimeOf(program);
  await browser.close();
  return (visibleAt - startedAt) / 1000;
}

/** Start time of the newest process of `program`, in milliseconds since 1970. */
function startTimeOf(program) {
  // The kernel cuts process names to 15 characters.
  const name = `(${basename(program).slice(0, 15)})`;
  const ticks = readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const statText = readFileSync(`/proc/${pid}/stat`, "utf8");
        return statText.includes(` ${name} `)
          ? [Number(statText.slice(statText.lastIndexOf(")") + 2).split(" ")[19])]
          : [];
      } catch {
        return []; // the process has just ended
      }
    });
  if (ticks.length === 0) throw new Stop(`No process of ${program} is running.`);
  const uptime = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
  return Date.now() - (uptime - Math.max(...ticks) / TICKS_PER_SECOND) * 1000;
}

/** Empties the file system caches if this process may. Returns whether they were emptied. */
function emptyCaches() {
  try {
    writeFileSync(DROP_CACHES_FILE, "3");
    return true;
  } catch {
    return false;
  }
}
