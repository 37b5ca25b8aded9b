// Converts between every ordered pair of the five open formats and back: each record has to come back with the same
// values in the same order. Also checks that the fixtures use every member of our schemas.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { readEntries } from "./archive.mjs";
import { missingMembers } from "./every-field.mjs";
import { firstDifference } from "./json-text.mjs";
import { FIXTURES, Vault, inFolder } from "./mementory.mjs";
import { zip } from "./generated.mjs";

/** Per format: the name of an export, and a function that reads its content as `{place: text}`. */
export const FORMATS = {
  mem: { name: "out.mem", parts: readBundle },
  alf: { name: "out.alf", parts: readArchive },
  mif: { name: "out.mif.json", parts: readFile },
  pam: { name: "out", parts: readFolder },
  zaxy: { name: "out.json", parts: readFile },
};
/** `[format, fixture, options for converting back]`. The signed fixtures show that signatures survive. */
const CASES = [
  ["mem", "all-kinds/input.mem", "--version", "1.1.0"],
  ["alf", "lossless/input"],
  ["mif", "v1/input.mif.json"],
  ["pam", "whole/input"],
  ["mem", "every-field/input.mem"],
  ["mem", "signed/input.mem", "--version", "1.1.0"],
  ["alf", "every-field/input"],
  ["mif", "every-field/input.mif.json"],
  ["mif", "every-field-2/input.json"],
  ["pam", "every-field/input"],
  ["zaxy", "every-field/input.json"],
  ["zaxy", "signed-ed25519/input.json"],
];
/**
 * Data about the file itself, which a new file lacks or states differently. Each entry is `[prefix of the case name,
 * prefix of the place, reason]`.
 */
const FILE_DATA = [
  ["alf", "manifest.json:", "time, counts and digests of the new archive; the data about the agent is compared"],
  ["alf", "memory/index.json:", "counts of the new partitions"],
  ["alf", "raw/", "files of the agent's program, which may contain secrets that only .alf can remove"],
  [
    "mem (every-field)",
    "manifest.json:",
    "time and author of the new bundle; with --version those of the old one are written",
  ],
];
/** Fields that a conversion may leave out, with the reason. */
const ALLOWED_LOSSES = {
  bytes: "only .alf can contain the bytes of files",
  attachment: "a referenced file that was missing from the start",
  part: "workspace files of an agent",
};

/** Converts each fixture to every other format and back, and compares the contents. */
export async function testConversions(count) {
  for (const problem of missingMembers()) count.add(problem, false);
  for (const [home, fixture, ...how] of CASES) {
    const name = `${home} (${fixture.split("/")[0]})`;
    for (const other of Object.keys(FORMATS).filter((id) => id !== home)) {
      await inFolder((scratch) => {
        const differences = roundTrip(scratch, home, fixture, other, how);
        const isFileData = (text) => FILE_DATA.some(([of, place]) => name.startsWith(of) && text.startsWith(place));
        const problems = differences.filter((problem) => !isFileData(problem));
        problems.forEach((problem) => console.log(`  ${name} → ${other} → ${home}: ${problem}`));
        count.add(`${name} → ${other} → ${home}`, problems.length === 0);
      });
    }
  }
}

function roundTrip(scratch, home, fixture, other, how) {
  const vault = new Vault(scratch);
  const source = home === "alf" ? packArchive(vault, fixture) : join(FIXTURES, home, fixture);
  const [otherPath, homePath] = [
    join(scratch, `there-${FORMATS[other].name}`),
    join(scratch, `back-${FORMATS[home].name}`),
  ];
  const convert = (from, to, ...formatArgs) => vault.run("convert", from, to, "--format", ...formatArgs);
  const thereResult = convert(source, otherPath, other);
  if (thereResult.code !== 0)
    return [`there: ended with ${thereResult.code}: ${thereResult.stdout.slice(0, 400)}${thereResult.stderr}`];
  const backResult = convert(otherPath, homePath, home, ...how);
  // Exit code 1: written but not valid, because invalid lines of the fixture are written back unchanged.
  if (backResult.code !== 0 && backResult.code !== 1)
    return [`back: ended with ${backResult.code}: ${backResult.stdout.slice(0, 400)}${backResult.stderr}`];
  const [before, after] = [source, homePath].map((path) => FORMATS[home].parts(path));
  return [...textChanges(before, after), ...lossProblems(thereResult.answer.losses)];
}

/** Texts that changed, disappeared or were added. */
function textChanges(before, after) {
  const problems = [];
  for (const [place, text] of Object.entries(before)) {
    if (after[place] === undefined) problems.push(`${place}: missing`);
    else if (isJson(text)) {
      const found = isJson(after[place]) ? firstDifference(text, after[place]) : "no longer JSON";
      if (found) problems.push(`${place}: ${found}`);
    } else if (text !== after[place]) problems.push(`${place}: other text`);
  }
  const added = Object.keys(after).filter((place) => before[place] === undefined);
  return [...problems, ...added.map((place) => `${place}: was not there`)];
}

/** Checks that the report lists moved fields, and no losses except the allowed ones. */
function lossProblems(losses) {
  const problems = losses.filter(({ kind, field }) => kind === "left_out" && !ALLOWED_LOSSES[field]);
  const listsMoves = losses.some(({ kind }) => kind === "moved_to_extension");
  return [
    ...problems.map((loss) => `left out: ${JSON.stringify(loss)}`),
    ...(listsMoves ? [] : ["no field is listed as moved to an extension"]),
  ];
}

export function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Packs a fixture's folder as an archive. */
function packArchive(vault, fixture) {
  const root = join(FIXTURES, "alf", fixture);
  return vault.write("in.alf", zip(filesIn(root).map((path) => [relative(root, path), readFileSync(path)])));
}

function filesIn(root) {
  return readdirSync(root)
    .sort()
    .map((name) => join(root, name))
    .flatMap((path) => (statSync(path).isDirectory() ? filesIn(path) : [path]));
}

/** `{relative path: text}` of every file in a folder. */
function readFolder(root) {
  return Object.fromEntries(filesIn(root).map((path) => [relative(root, path), readFileSync(path, "utf8")]));
}

/** `{place: text}` of a bundle: `.jsonl` files line by line, other files as a whole. */
function readBundle(root) {
  return Object.fromEntries(
    Object.entries(readFolder(root)).flatMap(([name, text]) =>
      name.endsWith(".jsonl") ? numberLines(name, text) : [[name, text]],
    ),
  );
}

/**
 * `{place: text}` of an archive: its documents, the memory lines of all partitions, and three members of its manifest.
 */
function readArchive(path) {
  const entries = readEntries(path);
  const { layers, ...manifest } = JSON.parse(entries["manifest.json"]);
  const rows = layers.memory.partitions;
  const memory = rows.flatMap(({ file }) => numberLines("memory", entries[file]).map(([, line]) => line));
  const partitions = rows.map(({ file }) => file);
  const documents = Object.entries(entries).filter(
    ([name]) => !partitions.includes(name) && !name.startsWith("artifacts/"),
  );
  return {
    ...Object.fromEntries(documents),
    ...Object.fromEntries(memory.map((line, at) => [`memory:${at + 1}`, line])),
    "manifest.json, agent": JSON.stringify(manifest.agent),
    "manifest.json, runtime_hints": JSON.stringify(manifest.runtime_hints),
    "manifest.json, sync": JSON.stringify(manifest.sync),
  };
}

function readFile(path) {
  return { document: readFileSync(path, "utf8") };
}

function numberLines(name, text) {
  const filled = text.split("\n").filter((line) => line.trim() !== "");
  return filled.map((line, at) => [`${name}:${at + 1}`, line]);
}
