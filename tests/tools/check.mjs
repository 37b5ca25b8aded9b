// `npm run check` runs only our own checks, which takes seconds. `npm run check -- <text>` runs the checks whose name
// contains the text.
import { CHECKS, runChecks } from "./checks/index.mjs";
import { tally } from "./count.mjs";
import { Stop, main } from "./sh.mjs";

const names = () =>
  Object.keys(CHECKS)
    .map((name) => `  ${name}`)
    .join("\n");

await main(async () => {
  const [wanted] = process.argv.slice(2);
  const known = Object.entries(CHECKS);
  const chosen = known.filter(([name]) => name.includes(wanted ?? ""));
  if (chosen.length === 0) throw new Stop(`No check has "${wanted}" in its name. There are:\n${names()}`);
  const count = tally();
  runChecks(count, Object.fromEntries(chosen));
  console.log(`${count.passed} passed, ${count.failed} failed`);
  return count.failed === 0 ? 0 : 1;
});
