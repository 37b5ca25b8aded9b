// What is counted in the tests that are no test runner's: by name, and each name is said.
import { fileURLToPath } from "node:url";

/** Counts, with one line printed for each thing counted by name. */
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

/** Run `check(count)` when the file at `url` is the one that was started: `node <file>`. */
export async function byItself(url, check) {
  if (process.argv[1] !== fileURLToPath(url)) return;
  const count = tally();
  await check(count);
  process.exitCode = count.failed > 0 ? 1 : 0;
}
