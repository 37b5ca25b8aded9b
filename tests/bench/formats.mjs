// `npm run bench -- formats`: measures what the program does with the open formats. Each time is compared with that of
// the format's reference tool on the same data and with that of two plain passes over the JSON. The table is printed
// and written to RESULTS-formats.md next to this file.
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { python } from "../tools/setup.mjs";
import { Stop } from "../tools/sh.mjs";
import { publish, setup } from "./report.mjs";
import { parseTwice } from "./limits.mjs";
import { median, usageText } from "./measure.mjs";
import { writeChanges, writeMemories, writePamStore, variedText } from "./memories.mjs";

const REFERENCE_SCRIPT = fileURLToPath(new URL("reference_formats.py", import.meta.url));
/** Python packages with the reference tools, in the versions that the interop tests use. */
const REFERENCE_PACKAGES = ["portable-memory==0.3.0", "portable-ai-memory==1.0.0"];
const EPISODE_COUNT = 50_000;
const PAM_MEMORY_COUNT = 100_000;
/** Numbers of changed, added and removed episodes, together one percent of all. */
const CHANGE_COUNTS = { changed: EPISODE_COUNT * 0.006, added: EPISODE_COUNT * 0.002, removed: EPISODE_COUNT * 0.002 };
/** Formats other than `.mem` store the header of an imported `.mem` as one more record. */
const HEADER_RECORD_COUNT = 1;
/** Target: Mementory is at least this many times as fast as the Python SDK. */
const TARGET_SPEEDUP = 20;
/** Target for writing a delta. */
const MAX_DELTA_SECONDS = 10;
/** Target for the size of the `.alf` archive, in MB of 10^6 bytes. */
const MAX_ARCHIVE_MB = 50;
/** Number of runs of each task, in turn with its reference. The table shows the median, because the speed varies. */
const RUN_COUNT = 3;

/** Measures all formats, prints the table and writes it to a file. Returns the exit code. */
export async function measureFormats() {
  const run = { ...setup(), program: await python(REFERENCE_PACKAGES), rows: [], wrong: [] };
  const unlock = measureUnlockSeconds(run);
  measureMem(run);
  measureAlf(run);
  measurePam(run);
  return publish(run, {
    file: "RESULTS-formats.md",
    title: "Benchmark of the open formats",
    facts: [`Reference: ${REFERENCE_PACKAGES.join(", ")} on Python; no tool of .alf is published as a package`],
    columns: ["Data", "What", "Mementory", "Reference", "Times as fast: wall (CPU)", "Two plain passes", "Verdict"],
    notes: tableNotes(unlock),
  });
}

function tableNotes(unlock) {
  return [
    `Each ${RUN_COUNT} times, in turn with the reference where there is one; the median counts.`,
    `Mementory: the whole process; what works on a vault unlocks it first: ${unlock.toFixed(2)} s and 67 MB of each figure.`,
    "Import writes an encrypted vault with a search index, export reads one, reads back what it wrote and validates it.",
    "Reference: its work alone, without starting Python and loading packages (peak: of the whole process); its store is a dictionary in memory. Its export is timed with the validation of what it wrote.",
    "Two plain passes: serde_json reads the file's JSON (for .alf the lines as they are unpacked) into `Value` twice and drops it.",
    "Held whole in memory: by the references everything; by Mementory a PAM document, and while writing .mem the lines of the bundle, .alf those of some quarters.",
    `Verdict: ${TARGET_SPEEDUP}× = as fast as ${TARGET_SPEEDUP} times the Python SDK, by wall; 2 passes = no slower than the two plain passes. MB is 10^6 bytes.`,
  ].join("\n");
}

/** Seconds to open a vault, including the start of the program. */
function measureUnlockSeconds({ mementory, folder }) {
  const vault = join(folder, "empty");
  mementory.run(vault, "create", vault, "--kdf-floor");
  return mementory.median(vault, "imports");
}

function measureMem(run) {
  const { mementory, folder } = run;
  const bundle = writeMemories(join(folder, "base.mem"), EPISODE_COUNT, variedText);
  const label = `.mem, ${EPISODE_COUNT} episodes, ${mb(bundle.bytes)} MB`;
  const passes = parseTwice(mementory.meter, bundle.lines);
  const line = (what, ours, theirs) => addRow(run, label, what, ours, theirs, passes);

  line(
    "validation",
    ...runAlternating(
      () => requireValid(mementory.run("none", "validate", bundle.path), EPISODE_COUNT),
      () => runReference(run, "mem-validate", bundle.path),
    ),
  );
  const runImport = (vault, ...how) =>
    requireCount(mementory.run(createVault(run, vault), "import", ...how, bundle.path), "memories", EPISODE_COUNT);
  const [importRun, dryRun, referenceRun] = runAlternating(
    (i) => runImport(`mem${i}`),
    (i) => runImport(`dry${i}`, "--dry-run"),
    () => runReference(run, "mem-import", bundle.path),
  );
  line("import and validation", importRun, referenceRun);
  line("the same without keeping it (--dry-run)", dryRun, referenceRun);
  line(
    "export, read back and validated",
    ...runAlternating(
      (i) =>
        requireValidated(mementory.run(join(folder, "mem0"), "export", "--format", "mem", join(folder, `out${i}.mem`))),
      (i) => runReference(run, "mem-export", bundle.path, join(folder, `reference${i}.mem`)),
    ),
  );
}

/** Measures `.alf`, with the vault into which `measureMem` imported its bundle. */
function measureAlf(run) {
  const { mementory, folder, wrong } = run;
  const vault = join(folder, "mem0");
  const base = join(folder, "base0.alf");
  const later = writeChanges(join(folder, "later.mem"), EPISODE_COUNT, CHANGE_COUNTS, variedText);

  const exports = medianRun((i) =>
    requireValidated(mementory.run(vault, "export", "--format", "alf", join(folder, `base${i}.alf`))),
  );
  const json = join(folder, "alf.jsonl");
  const unpacked = runReference(run, "alf-lines", base, json).value;
  const size = statSync(base).size;
  const label = `.alf, ${EPISODE_COUNT} memories, ${mb(size)} MB, unpacked ${mb(unpacked.bytes)} MB`;
  const passes = parseTwice(mementory.meter, json);
  const line = (what, ours, more) => addRow(run, label, what, ours, null, passes, more);
  const isSmallEnough = size / 1e6 < MAX_ARCHIVE_MB;
  if (!isSmallEnough) wrong.push(`the archive has ${mb(size)} MB, ${MAX_ARCHIVE_MB} are allowed`);
  line("export, read back and validated", exports, `under ${MAX_ARCHIVE_MB} MB: ${yesOrNo(isSmallEnough)}`);
  line(
    "validation",
    medianRun(() => requireValid(mementory.run("none", "validate", base), EPISODE_COUNT + HEADER_RECORD_COUNT)),
  );
  line(
    "import into an empty vault",
    medianRun((i) =>
      requireCount(mementory.run(createVault(run, `alf${i}`), "import", base), "memories", EPISODE_COUNT),
    ),
  );

  const { added, updated } = mementory.run(vault, "import", later.path).value.by_kind.memory;
  if (added !== CHANGE_COUNTS.added || updated !== CHANGE_COUNTS.changed)
    throw new Stop(
      `${added} memories added and ${updated} changed, not ${CHANGE_COUNTS.added} and ${CHANGE_COUNTS.changed}.`,
    );
  const summary = `${CHANGE_COUNTS.changed} changed, ${CHANGE_COUNTS.added} new, ${CHANGE_COUNTS.removed} erased`;
  const name = (i) => join(folder, `later${i}.alf-delta`);
  const deltas = medianRun((i) =>
    requireValidated(mementory.run(vault, "export", "--format", "alf_delta", "--base", base, name(i))),
  );
  const isFastEnough = deltas.wall < MAX_DELTA_SECONDS;
  if (!isFastEnough) wrong.push(`the delta took ${deltas.wall.toFixed(1)} s, ${MAX_DELTA_SECONDS} are allowed`);
  const kb = (statSync(name(0)).size / 1e3).toFixed(0);
  line(`delta (${summary}), ${kb} kB`, deltas, `under ${MAX_DELTA_SECONDS} s: ${yesOrNo(isFastEnough)}`);
  // The archive also contains the deletions that were imported from a .mem, so that they can be exported again.
  const lines = CHANGE_COUNTS.changed + CHANGE_COUNTS.added + 2 * CHANGE_COUNTS.removed + HEADER_RECORD_COUNT;
  const againstBase = medianRun(() => requireValid(mementory.run("none", "validate", name(0), "--base", base), lines));
  addRow(run, label, "validation of the delta against its base", againstBase);
  const otherVault = join(folder, "alf0");
  const imported = mementory.run(otherVault, "import", name(0));
  addRow(run, label, "import of the delta into the vault that took in its base", imported);

  const [full, applied] = [join(folder, "full.alf"), join(folder, "applied.alf")];
  requireValidated(mementory.run(vault, "export", "--format", "alf", full));
  requireValidated(mementory.run(otherVault, "export", "--format", "alf", applied));
  const comparison = runReference(run, "alf-apply", base, name(0), full, applied).value;
  run.rows.push([
    label,
    "base and delta by the specification, line by line",
    "",
    "",
    "",
    "",
    `a full export: ${yesOrNo(comparison.ok)}`,
  ]);
  if (!comparison.ok) wrong.push("base and delta are not the full export");
  const { missing, different, more } = comparison;
  if (missing + different > 0) wrong.push(`base and delta in a vault: ${missing} missing, ${different} different`);
  const verdict = `${missing} missing, ${different} different, ${more} more than a full export`;
  run.rows.push([label, "base and delta taken into another vault", "", "", "", "", verdict]);
}

function measurePam(run) {
  const { mementory, folder } = run;
  const store = writePamStore(join(folder, "memory-store.json"), PAM_MEMORY_COUNT, variedText);
  const label = `PAM, ${PAM_MEMORY_COUNT} memories, ${mb(store.bytes)} MB`;
  const passes = parseTwice(mementory.meter, store.path);
  const [ours, whole, alone] = runAlternating(
    () => requireValid(mementory.run("none", "validate", store.path), PAM_MEMORY_COUNT),
    () => runReference(run, "pam-validate", store.path),
    () => runReference(run, "pam-checksum", store.path),
  );
  addRow(run, label, "checksum and validation", ours, whole, passes);
  // Mementory has no command that only computes the checksum, so compare the same time with the SDK's checksum alone.
  addRow(run, label, "as above, beside the SDK's checksum alone", ours, alone);
}

/**
 * Runs `work` several times and passes it the number of the run. Returns the result of the run with the median time.
 */
const medianRun = (work) => runAlternating(work)[0];

/** Like `medianRun`, for several tasks that run in turn. Returns one result for each task. */
function runAlternating(...works) {
  const rounds = Array.from({ length: RUN_COUNT }, (_, i) => works.map((work) => work(i)));
  return works.map((_, which) => {
    const runs = rounds.map((round) => round[which]);
    const wall = median(runs.map((r) => r.wall));
    return runs.find((r) => r.wall === wall);
  });
}

function createVault({ mementory, folder }, name) {
  const vault = join(folder, name);
  mementory.run(vault, "create", vault, "--kdf-floor");
  return vault;
}

/** Stops unless `validate` accepted the file and counted this many records. */
function requireValid(measured, records) {
  if (measured.value.ok !== true) throw new Stop(`not valid: ${JSON.stringify(measured.value.errors).slice(0, 500)}`);
  return requireCount(measured, "records", records);
}

/** Stops unless an export was validated after writing. */
function requireValidated(measured) {
  if (measured.value.validated !== true) throw new Stop(`an export was not validated: ${measured.value.path}`);
  return measured;
}

/** Stops unless the number `what` in the answer is `wanted`. */
function requireCount(measured, what, wanted) {
  if (measured.value[what] !== wanted) throw new Stop(`${measured.value[what]} ${what}, ${wanted} expected.`);
  return measured;
}

/**
 * Runs a command of the reference script. Returns {value, wall, user, sys, rss}. `user` is user and system time
 * together. The times do not include the start of Python. `rss` is the peak memory of the whole process.
 */
function runReference({ mementory, program }, ...args) {
  const { status, stdout, stderr, rss } = mementory.meter.measure([program, REFERENCE_SCRIPT, ...args]);
  if (status !== 0) throw new Stop(`reference_formats.py ${args[0]} ended with ${status}: ${stderr.slice(-1000)}`);
  const value = JSON.parse(stdout);
  if (value.ok !== true && args[0] !== "alf-apply") throw new Stop(`${args[0]}: the reference rejects ${args[1]}.`);
  return { value, wall: value.seconds, user: value.cpu, sys: 0, rss };
}

function addRow(run, label, what, ours, theirs, passes, more) {
  const verdicts = [];
  const cpu = (r) => r.user + r.sys;
  const ratio = theirs && theirs.wall / ours.wall;
  if (theirs) verdicts.push(`${TARGET_SPEEDUP}×: ${yesOrNo(ratio >= TARGET_SPEEDUP)}`);
  if (passes) verdicts.push(`2 passes: ${yesOrNo(ours.wall <= passes.wall)}`);
  if (more) verdicts.push(more);
  const cells = [
    usageText(ours),
    theirs ? usageText(theirs) : "none",
    theirs ? `${ratio.toFixed(1)} (${(cpu(theirs) / cpu(ours)).toFixed(1)})` : "",
    passes ? usageText(passes) : "",
    verdicts.join("; "),
  ];
  run.rows.push([label, what, ...cells]);
  console.log(`  ${label}: ${what}: ${cells.filter(Boolean).join(" | ")}`);
}

const mb = (bytes) => (bytes / 1e6).toFixed(1);
const yesOrNo = (is) => (is ? "yes" : "**no**");
