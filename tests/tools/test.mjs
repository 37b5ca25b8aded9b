// `npm test` installs what is missing, then runs all layers, cheapest first. `npm test -- lint rust` runs only these
// two layers. The last line is `N passed, N failed`, and the exit code is 1 if anything failed.
//
// A run consists of steps. Most layers use only one core, so a step may have several lanes of layers that run in
// parallel. Each layer in such a lane is a process of its own, and its output is shown when it ends.
//
// The tests of the command line and of the window run without a network, where that is possible.
import { fileURLToPath } from "node:url";
import { tally } from "./count.mjs";
import { LAYERS, OFFLINE_LAYERS, STEPS } from "./layers.mjs";
import { findNamespaceProblem, undeliveredPackets, withoutNetwork } from "./no_network.mjs";
import { buildPrograms, buildUi, installForTesting } from "./setup.mjs";
import { Stop, capture, main, show, showAndKeep } from "./sh.mjs";

const SUMMARY = /^== \w+: (\d+) passed, (\d+) failed/m;

/** With this option, one layer is run and nothing is installed or built. */
const LAYER_OPTION = "--alone";
/** Like `LAYER_OPTION`, but for a process that already has no network. */
const OFFLINE_OPTION = "--alone-offline";

await main(async () => {
  const wanted = process.argv.slice(2);
  if (wanted[0] === OFFLINE_OPTION) return (await runLayer(wanted[1], true)).failed === 0 ? 0 : 1;
  if (wanted[0] === LAYER_OPTION) {
    if (!runsOffline(wanted[1])) return (await runLayer(wanted[1])).failed === 0 ? 0 : 1;
    const [program, ...args] = await commandOf(wanted[1]);
    return await show(program, args);
  }
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
    const isAlone = lanes.length === 1;
    await Promise.all(
      lanes.map(async (lane) => {
        for (const name of lane)
          add(isAlone && !runsOffline(name) ? await runLayer(name) : await runInProcess(name, isAlone));
      }),
    );
  }
  console.log(`\n${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
});

/** Whether a layer runs in a process without a network. */
function runsOffline(name) {
  return name in OFFLINE_LAYERS && findNamespaceProblem() === null;
}

/**
 * The command that runs a layer in a separate process. If that process has no network, the tools of the layer are
 * installed first.
 */
async function commandOf(name) {
  const command = (option) => [process.execPath, fileURLToPath(import.meta.url), option, name];
  if (!runsOffline(name)) return command(LAYER_OPTION);
  await OFFLINE_LAYERS[name]();
  return withoutNetwork(command(OFFLINE_OPTION));
}

/** Runs a layer in this process and prints its counts. `isOffline`: the process has no network. */
async function runLayer(name, isOffline = false) {
  console.log(`\n== ${name}`);
  const started = Date.now();
  const packetsBefore = isOffline ? undeliveredPackets() : 0;
  const count = await LAYERS[name]().catch((error) => {
    console.log(`  FAILED ${error.stack}`);
    return Object.assign(tally(), { failed: 1 });
  });
  if (isOffline)
    count.add("no program of these tests sends anything to a network", undeliveredPackets() === packetsBefore);
  else if (name in OFFLINE_LAYERS) count.leaveOut(`without a network: ${findNamespaceProblem()}`);
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
  console.log(
    `== ${name}: ${count.passed} passed, ${count.failed} failed${skipped} (${Math.round((Date.now() - started) / 1000)} s)`,
  );
  return count;
}

/** Runs a layer in a process of its own, and shows its output at once or when it has ended. Returns its counts. */
async function runInProcess(name, atOnce) {
  const [program, ...args] = await commandOf(name);
  const { text } = await (atOnce ? showAndKeep : capture)(program, args);
  if (!atOnce) process.stdout.write(text);
  const [, passed, failed] = SUMMARY.exec(text) ?? [];
  if (passed === undefined) console.log(`  FAILED ${name} ended without its counts`);
  return passed === undefined ? { passed: 0, failed: 1 } : { passed: Number(passed), failed: Number(failed) };
}
