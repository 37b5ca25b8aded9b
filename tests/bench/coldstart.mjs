// Measures the time from the start of the window's process until WebDriver sees the unlock field. WebDriver polls every 50 ms
// and WebKitGTK does not report its first paint, so the result is an upper bound.
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Display, homeWith } from "../e2e/display.mjs";
import { Browser } from "../e2e/webdriver.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { Stop } from "../tools/sh.mjs";

const RUNS = 5;
/** Clock ticks per second in `/proc/<pid>/stat`: 100 on every current Linux. */
const TICKS_PER_SECOND = 100;
/** Writing here empties the file system caches, if that is allowed. */
const DROP_CACHES = "/proc/sys/vm/drop_caches";

/** Seconds for each start of `program` with `vault` as the last open one. `cold`: the file caches were empty at the first
 * start. Linux only. */
export async function coldStarts(program, vault) {
  await cargoTool("tauri-driver", "^2");
  const home = mkdtempSync(join(tmpdir(), "mementory-start-"));
  const display = await Display.start(homeWith(home, vault));
  try {
    const driver = await display.driver();
    const cold = emptyCaches();
    const times = [];
    while (times.length < RUNS) times.push(await startOnce(driver, program));
    return { cold, times };
  } finally {
    await display.end(home);
  }
}

async function startOnce(driver, program) {
  const browser = await Browser.open(driver, program);
  await browser.find("unlock-passphrase");
  const visibleAt = Date.now();
  const started = startTimeOf(program);
  await browser.close();
  return (visibleAt - started) / 1000;
}

/** Start time of the newest process of `program`, in milliseconds since 1970. */
function startTimeOf(program) {
  // The kernel cuts process names to 15 characters.
  const name = `(${basename(program).slice(0, 15)})`;
  const ticks = readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        return stat.includes(` ${name} `) ? [Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19])] : [];
      } catch {
        return []; // it has just ended
      }
    });
  if (ticks.length === 0) throw new Stop(`No process of ${program} is running.`);
  const up = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
  return Date.now() - (up - Math.max(...ticks) / TICKS_PER_SECOND) * 1000;
}

function emptyCaches() {
  try {
    writeFileSync(DROP_CACHES, "3");
    return true;
  } catch {
    return false;
  }
}
