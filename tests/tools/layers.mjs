// The layers of `npm test`, cheapest first. A layer is a function that runs tests and returns {passed, failed,
// skipped}.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testBombs } from "../cli/bombs.mjs";
import { testCanaries, testConversionLeavesNothing } from "../cli/canary.mjs";
import { testDemonstration } from "../cli/demonstration.mjs";
import { testExports } from "../cli/exports.mjs";
import { testGoldenVaults } from "../cli/golden.mjs";
import { SHARED } from "../cli/mementory.mjs";
import { testConversions } from "../cli/matrix.mjs";
import { testSameFormat } from "../cli/same-format.mjs";
import { testCliCases } from "../cli/run.mjs";
import { testUnknownFields } from "../cli/unknown-fields.mjs";
import { testCorpus } from "../corpus/run.mjs";
import { testAgents, testAgentsTraced } from "../e2e/agents.mjs";
import { testOffline } from "../e2e/alone.mjs";
import { testNotifications } from "../e2e/announcing.mjs";
import { testLockWhenAway } from "../e2e/away.mjs";
import { testOpening } from "../e2e/opening.mjs";
import { testWindowPlace } from "../e2e/placing.mjs";
import { testRestore } from "../e2e/restore.mjs";
import { testKeyboard } from "../e2e/keyboard.mjs";
import { testAccessibilityTree } from "../e2e/spoken.mjs";
import { testMainStory } from "../e2e/story.mjs";
import { testWatchedFolder } from "../e2e/watching.mjs";
import { amemInterop } from "../interop/amem.mjs";
import { chatsInterop } from "../interop/chats.mjs";
import { clientInterop } from "../interop/clients.mjs";
import { enginesInterop } from "../interop/engines.mjs";
import { bundleInterop, installClients, mcpInterop } from "../interop/mcp.mjs";
import { clientsOffline } from "../interop/offline.mjs";
import { pamInterop } from "../interop/pam.mjs";
import { REFERENCE_PACKAGES, interop } from "../interop/run.mjs";
import { schemas } from "../interop/schemas.mjs";
import { zaxyInterop } from "../interop/zaxy.mjs";
import { testFaults } from "../kill/faults.mjs";
import { testKills } from "../kill/run.mjs";
import { AccessibilityCheck } from "../screens/axe.mjs";
import { checkInEnglish } from "../screens/english.mjs";
import { testHostileTexts } from "../screens/hostile.mjs";
import { testLanguages } from "../screens/run.mjs";
import { Pictures } from "../screens/shots.mjs";
import { checkDesktopFiles } from "./checks/desktop.mjs";
import { runChecks } from "./checks/index.mjs";
import { tally } from "./count.mjs";
import { WORKSPACE } from "./places.mjs";
import { cargoTool, python } from "./setup.mjs";
import { weightsVariable } from "./weights.mjs";
import { ENV, Stop, capture, has, show, showAndKeep } from "./sh.mjs";

const inWorkspace = { cwd: WORKSPACE };

/** Linters that need cargo's lock, one after the other. */
const RUST_LINTERS = {
  rustfmt: ["cargo", ["fmt", "--all", "--check"], inWorkspace],
  "rustfmt of the fuzz targets": ["cargo", ["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"], inWorkspace],
  clippy: [
    "cargo",
    ["clippy", "--locked", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"],
    inWorkspace,
  ],
  "unused dependencies": ["cargo", ["machete", "--skip-target-dir", "."], inWorkspace],
};
/** Linters that run in Node, in parallel with those for Rust. */
const NODE_LINTERS = {
  "svelte-check": ["npm", ["run", "--silent", "ui:check"]],
  "eslint and prettier of the pages": ["npm", ["run", "--silent", "ui:lint"]],
  "eslint of the tools": ["npx", ["--no-install", "eslint", "--config", "tests/eslint.config.js", "tests"]],
  "prettier of the tools": [
    "npx",
    ["--no-install", "prettier", "--config", "ui/.prettierrc", "--check", "tests/**/*.{mjs,js,json}"],
  ],
};
/** Runs only where cargo-deny is already installed, because building it takes minutes. */
const CARGO_DENY_COMMAND = [
  "cargo",
  ["deny", "--offline", "check", "--hide-inclusion-graph", "licenses", "bans", "sources"],
  inWorkspace,
];

async function lint() {
  await cargoTool("cargo-machete", "^0.9");
  const count = tally();
  runChecks(count);
  checkDesktopFiles(count);
  await Promise.all([RUST_LINTERS, NODE_LINTERS].map((linters) => oneByOne(count, linters)));
  if (has("cargo-deny")) count.add("licences, sources and duplicates", (await show(...CARGO_DENY_COMMAND)) === 0);
  else count.leaveOut("licences, sources and duplicates: cargo-deny is not installed");
  return count;
}

/**
 * Runs linters in turn. Shows the output of each linter when it ends, so that parallel runs do not mix their output.
 */
async function oneByOne(count, linters) {
  for (const [name, [program, args, options]] of Object.entries(linters)) {
    const { code, text } = await capture(program, args, options);
    process.stdout.write(text);
    count.add(name, code === 0);
  }
}

/** Environment variables by which the Rust tests find the SDK of `.mem` and the shared data next to the clone. */
async function referenceTools(count) {
  try {
    return { MEMENTORY_MEM_PYTHON: await python(REFERENCE_PACKAGES), MEMENTORY_SHARED: SHARED };
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    count.leaveOut(`the reference SDKs cannot be installed: ${error.message}`);
    return { MEMENTORY_SHARED: SHARED };
  }
}

/**
 * Counts tests as skipped, not as passed, if they could not check everything. The tests report this in a file, which
 * has one line `test<TAB>why` for each of them.
 */
function countSkipped(count, lines) {
  const tests = new Map(lines.map((line) => line.split("\t")));
  for (const [test, why] of tests) count.leaveOut(`${test}: ${why}`);
  count.passed -= tests.size;
}

async function rust() {
  const count = tally();
  const folder = mkdtempSync(join(tmpdir(), "mementory-rust-"));
  const list = join(folder, "skipped");
  const env = {
    ...ENV,
    ...(await referenceTools(count)),
    ...(await weightsVariable((why) => count.leaveOut(why))),
    MEMENTORY_SKIPPED: list,
  };
  const { code, text } = await showAndKeep("cargo", ["test", "--locked", "--workspace", "--no-fail-fast"], {
    ...inWorkspace,
    env,
  });
  for (const [, passed, failed, ignored] of text.matchAll(
    /^test result: .*? (\d+) passed; (\d+) failed; (\d+) ignored/gm,
  )) {
    count.passed += Number(passed);
    count.failed += Number(failed);
    count.skipped += Number(ignored);
  }
  countSkipped(count, existsSync(list) ? readFileSync(list, "utf8").trim().split("\n") : []);
  rmSync(folder, { recursive: true });
  // If a crate does not compile, it prints no result line, so count the failure here.
  if (code !== 0 && count.failed === 0) count.add("cargo test", false);
  return count;
}

async function pages() {
  const folder = mkdtempSync(join(tmpdir(), "mementory-vitest-"));
  const file = join(folder, "result.json");
  const code = await show("npm", [
    "run",
    "--silent",
    "ui:test",
    "--",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${file}`,
  ]);
  const count = tally();
  try {
    const result = JSON.parse(readFileSync(file, "utf8"));
    count.passed = result.numPassedTests;
    count.failed = result.numFailedTests;
    count.skipped = result.numPendingTests;
  } catch {
    console.log("  vitest left no result");
  }
  rmSync(folder, { recursive: true });
  if (code !== 0 && count.failed === 0) count.add("vitest", false);
  return count;
}

/** Runs a part of a layer. If the part throws, it counts as failed, and the other parts still run. */
async function runPart(count, run) {
  try {
    await run(count);
  } catch (error) {
    console.log(`  ${error.stack}`);
    count.add(`${run.name || "a part of this layer"} runs to its end`, false);
  }
}

/** Makes a layer that calls these functions one after the other with one tally. */
const layerOf =
  (...runs) =>
  async () => {
    const count = tally();
    for (const run of runs) await runPart(count, run);
    return count;
  };

/** A layer that calls these functions at the same time, because each waits for its own browser most of the time. */
const parallelLayerOf =
  (...runs) =>
  async () => {
    const count = tally();
    await Promise.all(runs.map((run) => runPart(count, run)));
    return count;
  };

export const LAYERS = {
  lint,
  rust,
  pages,
  screens: parallelLayerOf(
    testLanguages,
    (count) => checkInEnglish(count, [new Pictures(), new AccessibilityCheck()]),
    testHostileTexts,
  ),
  cli: layerOf(
    testCliCases,
    testGoldenVaults,
    testExports,
    testConversions,
    testSameFormat,
    testCanaries,
    testConversionLeavesNothing,
    testBombs,
    testUnknownFields,
    testCorpus,
    testDemonstration,
  ),
  kill: layerOf(testKills, testFaults),
  interop: layerOf(
    interop,
    pamInterop,
    zaxyInterop,
    amemInterop,
    mcpInterop,
    bundleInterop,
    chatsInterop,
    enginesInterop,
    clientInterop,
    clientsOffline,
    schemas,
  ),
  window: layerOf(
    testMainStory,
    testKeyboard,
    testWatchedFolder,
    testRestore,
    testOpening,
    testLockWhenAway,
    testNotifications,
    testWindowPlace,
    testAgents,
    testAgentsTraced,
    testOffline,
    testAccessibilityTree,
  ),
};

/**
 * Layers whose programs must not need a network. These layers run without a network, so each has a function that first
 * installs what its tests use.
 */
export const OFFLINE_LAYERS = {
  cli: async () => {},
  kill: async () => {},
  window: async () => {
    await cargoTool("tauri-driver", "^2");
    await installClients();
  },
};

/**
 * The steps of a whole run. Each step consists of lanes that run at the same time, and each lane of layers that run one
 * after the other. `window` runs alone because its tests wait for focus and animations.
 */
export const STEPS = [[["lint"]], [["rust"], ["pages"]], [["cli"], ["screens", "kill", "interop"]], [["window"]]];
