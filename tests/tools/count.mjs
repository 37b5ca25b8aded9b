// Counts the results of tests that run without a test runner, and prints each by name.
import { fileURLToPath } from "node:url";

/**
 * Makes a counter of results. `add` counts a passed or failed test, and `leaveOut` a skipped test. Both print a line.
 */
export function tally() {
  return {
    passed: 0,
    failed: 0,
    skipped: 0,
    add(name, good) {
      this[good ? "passed" : "failed"] += 1;
      console.log(`  ${good ? "ok    " : "FAILED"} ${name}`);
    },
    leaveOut(name) {
      this.skipped += 1;
      console.log(`  SKIPPED: ${name}`);
    },
  };
}

/** Runs `check(count)` if the file at `url` is the one that was started: `node <file>`. */
export async function runAlone(url, check) {
  if (process.argv[1] !== fileURLToPath(url)) return;
  const count = tally();
  await check(count);
  process.exitCode = count.failed > 0 ? 1 : 0;
}
