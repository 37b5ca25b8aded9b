// From the start of the window's process until the unlock screen's field is on screen, as WebDriver sees it: it looks
// every 50 ms, and WebKitGTK does not say itself when it first painted, so the figure is an upper bound.
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Display, homeWith } from "../e2e/display.mjs";
import { Browser } from "../e2e/webdriver.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { Stop } from "../tools/sh.mjs";

const RUNS = 5;
/** Clock ticks of `/proc/<pid>/stat`: 100 a second on every Linux of today. */
const TICKS = 100;
/** File system caches emptied where that is allowed, so that the first run is cold in every sense. */
const DROP = "/proc/sys/vm/drop_caches";

/** Seconds of each start of `program` with `vault` as the last one that was open. `cold` says whether the file caches
 * were empty at the first. Linux only. */
export async function coldStarts(program, vault) {
  await cargoTool("tauri-driver", "^2");
  const home = mkdtempSync(join(tmpdir(), "mementory-start-"));
  const display = await Display.start(homeWith(home, vault));
  try {
    const driver = await display.driver();
    const cold = emptyCaches();
    const times = [];
    while (times.length < RUNS) times.push(await once(driver, program));
    return { cold, times };
  } finally {
    await display.end(home);
  }
}

async function once(driver, program) {
  const browser = await Browser.open(driver, program);
  await browser.find("unlock-passphrase");
  const seen = Date.now();
  const started = startOf(program);
  await browser.close();
  return (seen - started) / 1000;
}

/** When the newest process of `program` was started, in milliseconds since 1970. */
function startOf(program) {
  // The kernel cuts a process's name after 15 characters.
  const name = `(${basename(program).slice(0, 15)})`;
  const ticks = readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        return stat.includes(` ${name} `) ? [Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19])] : [];
      } catch {
        return []; // it ended in the meantime
      }
    });
  if (ticks.length === 0) throw new Stop(`No process of ${program} is there.`);
  const up = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
  return Date.now() - (up - Math.max(...ticks) / TICKS) * 1000;
}

function emptyCaches() {
  try {
    writeFileSync(DROP, "3");
    return true;
  } catch {
    return false;
  }
}
