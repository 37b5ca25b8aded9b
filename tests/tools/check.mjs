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
  const [searchText] = process.argv.slice(2);
  const allChecks = Object.entries(CHECKS);
  const chosenChecks = allChecks.filter(([name]) => name.includes(searchText ?? ""));
  if (chosenChecks.length === 0) throw new Stop(`No check has "${searchText}" in its name. There are:\n${names()}`);
  const count = tally();
  runChecks(count, Object.fromEntries(chosenChecks));
  console.log(`${count.passed} passed, ${count.failed} failed`);
  return count.failed === 0 ? 0 : 1;
});
