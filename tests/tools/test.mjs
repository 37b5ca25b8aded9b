// `npm test` installs what is missing, then runs all layers, cheapest first. `npm test -- lint rust` runs only these
// two layers. The last line is `N passed, N failed`, and the exit code is 1 if anything failed.
//
// A run consists of steps. Most layers use only one core, so a step may have several lanes of layers that run in
// parallel. Each layer in such a lane is a process of its own, and its output is shown when it ends.
import { fileURLToPath } from "node:url";
import { LAYERS, STEPS } from "./layers.mjs";
import { ROOT } from "./places.mjs";
import { buildPrograms, buildUi, installForTesting } from "./setup.mjs";
import { Stop, capture, main } from "./sh.mjs";

const SUMMARY = /^== \w+: (\d+) passed, (\d+) failed/m;

/** With this option, one layer is run and nothing is installed or built. */
const LAYER_OPTION = "--alone";

await main(async () => {
  const wanted = process.argv.slice(2);
  if (wanted[0] === LAYER_OPTION) return (await runLayer(wanted[1])).failed === 0 ? 0 : 1;
  const unknown = wanted.filter((name) => !(name in LAYERS));
  if (unknown.length > 0)
    throw new Stop(`There is no layer ${unknown.join(", ")}. There are: ${Object.keys(LAYERS).join(", ")}`);

  await installForTesting();
  // Always build the pages: the window's program embeds them, so it does not compile without them.
  await buildUi();
  if (wanted.length === 0 || wanted.some((name) => ["cli", "kill", "interop", "window"].includes(name)))
    await buildPrograms();

  const total = { passed: 0, failed: 0 };
  const add = ({ passed, failed }) => {
    total.passed += passed;
    total.failed += failed;
  };
  const isWanted = (name) => wanted.length === 0 || wanted.includes(name);
  for (const lanes of STEPS.map((step) =>
    step.map((lane) => lane.filter(isWanted)).filter((lane) => lane.length > 0),
  )) {
    if (lanes.length === 1) for (const name of lanes[0]) add(await runLayer(name));
    else
      await Promise.all(
        lanes.map(async (lane) => {
          for (const name of lane) add(await runInProcess(name));
        }),
      );
  }
  console.log(`\n${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
});

/** Runs a layer in this process and prints its counts. */
async function runLayer(name) {
  console.log(`\n== ${name}`);
  const started = Date.now();
  const count = await LAYERS[name]().catch((error) => {
    console.log(`  FAILED ${error.stack}`);
    return { passed: 0, failed: 1, skipped: 0 };
  });
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
  console.log(
    `== ${name}: ${count.passed} passed, ${count.failed} failed${skipped} (${Math.round((Date.now() - started) / 1000)} s)`,
  );
  return count;
}

/** Runs a layer in a process of its own, and shows its output when it has ended. Returns its counts. */
async function runInProcess(name) {
  const { text } = await capture(process.execPath, [fileURLToPath(import.meta.url), LAYER_OPTION, name], { cwd: ROOT });
  process.stdout.write(text);
  const [, passed, failed] = SUMMARY.exec(text) ?? [];
  if (passed === undefined) console.log(`  FAILED ${name} ended without its counts`);
  return passed === undefined ? { passed: 0, failed: 1 } : { passed: Number(passed), failed: Number(failed) };
}
