// `npm run bench`: measures the released command line and the limits of this machine in one table. `--quick` skips the
// large export. `--no-build` uses the programs as they were built last. One of the following words selects another
// measurement. `formats` compares the open formats with their reference tools, `readers` imports large sources
// of many vendors, `window` measures the window with a large vault, and `clients` measures the answers to connected
// clients (with `--debug`, those of the dev build). `turns PROGRAM` compares the command line with PROGRAM, that of an
// earlier version. Each prints its table and writes it next to this file: RESULTS.md, RESULTS-formats.md,
// RESULTS-readers.md, RESULTS-window.md, RESULTS-clients.md, RESULTS-turns.md.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TARGET } from "../tools/places.mjs";
import { ENV, Stop, main } from "../tools/sh.mjs";
import { weightsVariable } from "../tools/weights.mjs";
import { measureClients } from "./clients.mjs";
import { coldStarts } from "./coldstart.mjs";
import { chatgptExport, hasGenerator } from "./data.mjs";
import { measureFormats } from "./formats.mjs";
import { build, publish, setup } from "./report.mjs";
import { measureLimits } from "./limits.mjs";
import { quantile, usageText } from "./measure.mjs";
import { writeMemories } from "./memories.mjs";
import { measureReaders } from "./readers.mjs";
import { compareByTurns } from "./turns.mjs";
import { measureWindow } from "./window.mjs";

const MEMORY_COUNT = 50_000;
const ENCODED_MEMORY_COUNT = 20_000;
const ERASED_MESSAGE_COUNT = 1000;
/** Questions about the texts of `repetitiveText` that use other words than those texts. */
const MEANING_QUESTIONS = [
  "Which instrument does this person know?",
  "How does she get to the office?",
  "hobby with insects",
  "what to do at bedtime",
  "brief replies that name where they come from",
];
const KNOWN_ARGUMENTS = ["formats", "readers", "window", "clients", "turns", "--quick", "--no-build", "--debug"];

await main(async () => {
  const args = process.argv.slice(2);
  const [otherProgram] = args.includes("turns") ? args.splice(args.indexOf("turns") + 1, 1) : [];
  const unknown = args.filter((arg) => !KNOWN_ARGUMENTS.includes(arg));
  if (unknown.length > 0)
    throw new Stop(`Unknown arguments: ${unknown.join(" ")}. Known are ${KNOWN_ARGUMENTS.join(", ")}.`);
  const debug = args.includes("--debug");
  if (debug && !args.includes("clients")) throw new Stop("Only clients are measured with the dev build.");
  if (args.includes("turns") && !existsSync(otherProgram ?? ""))
    throw new Stop("`turns` needs the program to compare with.");
  if (!args.includes("--no-build") && !debug) await build();
  if (otherProgram) return compareByTurns(otherProgram);
  if (args.includes("clients")) return measureClients(debug ? "debug" : "release");
  if (args.includes("window")) return measureWindow();
  if (args.includes("readers")) return measureReaders(args.includes("--quick"));
  return args.includes("formats") ? measureFormats() : measurePrograms(args.includes("--quick"));
});

/** Measures import, export, first pages, search, erasure and the start of the window. */
async function measurePrograms(quick) {
  const run = { ...setup(), rows: [], wrong: [] };
  await measureColdStart(run);
  measureBundles(run);
  await measureMeaning(run);
  if (hasGenerator()) {
    await measureExport(run, 4000, 200, true);
    if (!quick) await measureExport(run, 20_000, 1000, false);
  } else {
    const skipReason = "not measured: ../shared/exports/gen_exports.py is missing";
    console.log(`SKIPPED: everything with a ChatGPT export; ${skipReason}`);
    run.rows.push(["ChatGPT exports", "", skipReason]);
  }
  return publish(run, {
    file: "RESULTS.md",
    title: "Benchmark",
    facts: [quick ? "Run with --quick: without the 1 GB export" : "Full run"],
    columns: ["Data", "What", "Figure"],
    notes:
      "MB is 10^6 bytes of uncompressed conversation JSON. Commands run one by one, each with its own process and unlock. " +
      "Cold start: from the start of the process until WebDriver sees the unlock field (looked for every 50 ms), under Xvfb.",
  });
}

/**
 * Measures import, unlocking, first pages, search and erasure with a ChatGPT export of about `mb` MB. If `withLimits` is
 * true, also measures a calibrated unlock and the limits of this machine.
 */
async function measureExport({ mementory, folder, rows, wrong }, conversations, mb, withLimits) {
  const { path, truth } = await chatgptExport(conversations, mb);
  const size = truth.json_bytes / 1e6;
  const label = `${Math.round(size)} MB`;
  const row = (what, value) => {
    rows.push([label, what, value]);
    console.log(`  ${label}: ${what}: ${value}`);
  };
  const vault = join(folder, `v${mb}`);
  mementory.run(vault, "create", vault, "--kdf-floor");

  const first = mementory.run(vault, "import", path);
  const { found, added } = first.value;
  row(
    `import, ${truth.conversations} conversations`,
    `${(size / first.wall).toFixed(1)} MB/s, ${(size / (first.user + first.sys)).toFixed(1)} MB per CPU second; ${usageText(first)}; ${added} of ${found} records added`,
  );
  const secondImport = mementory.run(vault, "import", path);
  row(
    "the same file again",
    `${(size / secondImport.wall).toFixed(1)} MB/s; ${usageText(secondImport)}; ${secondImport.value.added} added, ${secondImport.value.unchanged} unchanged`,
  );

  const start = mementory.measureStart();
  // `imports` is the cheapest command that opens the vault, so its time is about the time of unlocking.
  const cheapest = mementory.median(vault, "imports");
  row(
    `unlock (${kdfText(vault)})`,
    `${millisecondsText(cheapest - start)}; start of the program ${millisecondsText(start)}`,
  );
  if (withLimits) {
    const calibratedVault = join(folder, "calibrated");
    mementory.run(calibratedVault, "create", calibratedVault);
    row(
      `unlock, calibrated (${kdfText(calibratedVault)}), empty vault`,
      millisecondsText(mementory.median(calibratedVault, "imports") - start),
    );
  }
  for (const kind of ["memory", "conversation", "message"]) {
    const page = mementory.median(vault, "list", "--kind", kind, "--limit", "50");
    row(
      `first page (50), ${kind}`,
      `${millisecondsText(page)} whole process; ${page > cheapest ? `${millisecondsText(page - cheapest)} more than unlock` : "no more than unlock, within the noise"}`,
    );
  }
  measureSearch(mementory, vault, folder, truth, row);
  measureErasure(mementory, vault, cheapest, row, wrong);
  if (withLimits) {
    const limits = measureLimits(path, folder);
    const rate = (name) => `${limits[name].toFixed(0)} MB/s`;
    const limit = (what, value) => rows.push(["machine", what, value]);
    limit("inflate (flate2, zlib-rs)", rate("inflate_mb_s"));
    limit(
      "JSON parse (serde_json): Value / typed with RawValue",
      `${rate("json_value_mb_s")} / ${rate("json_typed_mb_s")}`,
    );
    limit(
      "SQLCipher insert, the vault's pragmas, rows of 900 bytes",
      `${limits.sqlcipher_rows_s.toFixed(0)} rows/s, ${rate("sqlcipher_mb_s")}`,
    );
    limit("tantivy add, in memory, one thread", rate("tantivy_mb_s"));
  }
  rmSync(vault, { recursive: true });
}

/**
 * Searches for all queries with a known answer in one process that loads the index first, like the window after
 * unlocking. Then runs the first query in seven new processes that do not load the index first.
 */
function measureSearch(mementory, vault, folder, truth, row) {
  const file = join(folder, "queries.txt");
  writeFileSync(file, truth.needles.map((n) => n.query).join("\n"));
  const { results } = mementory.run(vault, "search", "--queries", file, "--limit", "10").value;
  if (results.length !== truth.needles.length)
    throw new Stop(`${results.length} answers to ${truth.needles.length} questions.`);
  const foundCount = results.filter((r, i) => r.hits.some((h) => h.origin_id === truth.needles[i].message_id)).length;
  const times = results.map((r) => r.took_ms);
  const percentage = ((100 * foundCount) / results.length).toFixed(1);
  row(
    `search, ${results.length} questions`,
    `p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms, longest ${quantile(times, 1).toFixed(1)} ms (in the core, ranking only, index read ahead); answer in the top ten: ${foundCount} of ${results.length} (${percentage} %)`,
  );
  const coldTimes = Array.from(
    { length: 7 },
    () => mementory.run(vault, "search", truth.needles[0].query, "--limit", "10").value.took_ms,
  );
  row("search, first question of a process", `median ${quantile(coldTimes, 0.5).toFixed(1)} ms, nothing read ahead`);
}

/** Erases one message, then many at once. An incomplete receipt is added to `wrong`. */
function measureErasure(mementory, vault, unlock, row, wrong) {
  const list = (n) => mementory.run(vault, "list", "--kind", "message", "--limit", `${n}`).value.items.map((i) => i.id);
  for (const count of [1, ERASED_MESSAGE_COUNT]) {
    const ids = list(count);
    if (ids.length !== count) throw new Stop(`Only ${ids.length} messages to erase, ${count} wanted.`);
    // Exit code 1 means that the receipt is incomplete. The time is measured anyway, and the receipt is reported.
    const erased = mementory.run(vault, { exits: [0, 1] }, "erase", ...ids);
    const receipt = erased.value.receipt;
    if (!receipt) throw new Stop(`erase failed: ${JSON.stringify(erased.value)}`);
    const failed = receipt.places.filter((p) => p.outcome === "failed").map((p) => `${p.place}: ${p.detail}`);
    const verdict = receipt.complete === true ? "receipt complete" : `**RECEIPT NOT COMPLETE** (${failed.join("; ")})`;
    if (receipt.complete !== true) wrong.push(`erasing ${count}: ${failed.join("; ")}`);
    row(
      `erase ${count} message${count > 1 ? "s" : ""}`,
      `${(erased.wall - unlock).toFixed(2)} s without unlock; ${usageText(erased)}; ${verdict}`,
    );
  }
}

/** Measures the time from the start of the window to its unlock screen. Linux only. */
async function measureColdStart({ mementory, folder, rows }) {
  const row = (value) => {
    rows.push(["window", "cold start to the unlock screen", value]);
    console.log(`  cold start to the unlock screen: ${value}`);
  };
  if (process.platform !== "linux") return row("not measured: only on Linux");
  const vault = join(folder, "start");
  mementory.run(vault, "create", vault, "--kdf-floor");
  const { cold, times } = await coldStarts(join(TARGET, "release", "mementory-app"), vault);
  const caches = cold ? "file caches emptied" : "file caches as they were";
  row(
    `first ${millisecondsText(times[0])} (${caches}), median of the next ${times.length - 1} ${millisecondsText(quantile(times.slice(1), 0.5))}`,
  );
}

/** Imports a `.mem` bundle and exports its memories as `.mem` and `.alf`. */
function measureBundles({ mementory, folder, rows }) {
  const vault = join(folder, "memories");
  const bundle = writeMemories(join(folder, "memories.mem"), MEMORY_COUNT);
  mementory.run(vault, "create", vault, "--kdf-floor");
  const row = (what, value) => {
    rows.push([`${MEMORY_COUNT} memories`, what, value]);
    console.log(`  ${what}: ${value}`);
  };
  const importResult = mementory.run(vault, "import", bundle.path);
  if (importResult.value.memories !== MEMORY_COUNT)
    throw new Stop(`${importResult.value.memories} memories came in, ${MEMORY_COUNT} were written.`);
  row(
    "import of the .mem bundle",
    `${(bundle.bytes / 1e6 / importResult.wall).toFixed(1)} MB/s; ${usageText(importResult)}`,
  );
  for (const format of ["mem", "alf"]) {
    const written = mementory.run(vault, "export", "--format", format, join(folder, `out.${format}`));
    const { records, bytes, validated } = written.value;
    row(
      `export to .${format}, read back and validated`,
      `${usageText(written)}; ${records} records, ${(bytes / 1e6).toFixed(1)} MB, validated: ${validated}`,
    );
  }
}

/**
 * Measures search by meaning. The first search also encodes all memories. The other searches run in one process that
 * only reads the stored vectors.
 */
async function measureMeaning({ mementory, folder, rows }) {
  const row = (what, value) => {
    rows.push([`${ENCODED_MEMORY_COUNT} memories`, what, value]);
    console.log(`  ${what}: ${value}`);
  };
  Object.assign(ENV, await weightsVariable());
  if (!ENV.MEMENTORY_WEIGHTS_DIR) return row("search by meaning", "not measured: the weights cannot be fetched");
  const [vault, file] = [join(folder, "meaning"), join(folder, "questions.txt")];
  mementory.run(vault, "create", vault, "--kdf-floor");
  mementory.run(vault, "import", writeMemories(join(folder, "meaning.mem"), ENCODED_MEMORY_COUNT).path);
  const words = mementory.run(vault, "search", MEANING_QUESTIONS[0]);
  const encoding = mementory.run(vault, "search", "--meaning", MEANING_QUESTIONS[0]);
  if (!encoding.value.hits.some((hit) => hit.how === "meaning")) throw new Stop("No memory was found by its meaning.");
  row(
    "encoding for search by meaning",
    `${usageText(encoding)}, with the first search; a search by words alone: ${usageText(words)}`,
  );
  writeFileSync(
    file,
    Array.from({ length: 20 }, () => MEANING_QUESTIONS)
      .flat()
      .join("\n"),
  );
  const { results } = mementory.run(vault, "search", "--meaning", "--queries", file, "--limit", "10").value;
  const times = results.map((result) => result.took_ms);
  row(
    `search by meaning, ${times.length} questions`,
    `p50 ${quantile(times, 0.5).toFixed(1)} ms, p95 ${quantile(times, 0.95).toFixed(1)} ms`,
  );
}

function millisecondsText(seconds) {
  return `${(seconds * 1000).toFixed(0)} ms`;
}

function kdfText(vault) {
  const { kdf: name, slots } = JSON.parse(readFileSync(join(vault, "vault.json"), "utf8"));
  const { memory_kib: memory, passes, lanes } = slots.find((s) => s.kind === "passphrase").kdf;
  return `${name} ${memory / 1024} MiB, ${passes} passes, ${lanes} lanes`;
}
