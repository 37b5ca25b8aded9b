// Every ordered pair of the five open formats, there and back: each record of the first is what it was, value for value
// and in the same order. The fixtures use every member that our schemas know; that is checked here too.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { entries } from "./archive.mjs";
import { missingMembers } from "./every-field.mjs";
import { difference } from "./json-text.mjs";
import { FIXTURES, Vault, inFolder } from "./mementory.mjs";
import { zip } from "./generated.mjs";

/** The five: what an export is called, and what is in one, as `{place: text}`. */
const FORMATS = {
  mem: { name: "out.mem", parts: bundle },
  alf: { name: "out.alf", parts: agent },
  mif: { name: "out.mif.json", parts: oneFile },
  pam: { name: "out", parts: folder },
  zaxy: { name: "out.json", parts: oneFile },
};
/** `[format, fixture, how it is written back]`. The signed ones show that a signature comes home too. */
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
/** `[format, what its place begins with, why]`: about the file and not about a record of it, so made anew or left behind. */
const FRAME = [
  [
    "alf",
    "manifest.json:",
    "time, counts and digests of the archive that was made; what it says of the agent is compared",
  ],
  ["alf", "memory/index.json:", "counts of the partitions, made with them"],
  ["alf", "raw/", "files of the agent's program; they may hold secrets that only .alf knows to take out"],
  [
    "mem (every-field)",
    "manifest.json:",
    "a bundle says when and by whom it was made; with --version it is the old one",
  ],
];
/** What a fixture may lose on the way, with the reason. */
const LEFT_OUT = {
  bytes: "bytes of files travel in .alf only",
  attachment: "a file that was named and not there to begin with",
  part: "files of an agent stay with it",
};

/** Convert there and back and compare. */
export async function matrix(count) {
  for (const problem of missingMembers()) count.add(problem, false);
  for (const [home, fixture, ...how] of CASES) {
    const name = `${home} (${fixture.split("/")[0]})`;
    for (const away of Object.keys(FORMATS).filter((one) => one !== home)) {
      await inFolder((scratch) => {
        const found = thereAndBack(scratch, home, fixture, away, how);
        const framed = (text) => FRAME.some(([of, place]) => name.startsWith(of) && text.startsWith(place));
        const problems = found.filter((problem) => !framed(problem));
        problems.forEach((problem) => console.log(`  ${name} → ${away} → ${home}: ${problem}`));
        count.add(`${name} → ${away} → ${home}`, problems.length === 0);
      });
    }
  }
}

function thereAndBack(scratch, home, fixture, away, how) {
  const vault = new Vault(scratch);
  const source = home === "alf" ? packed(vault, fixture) : join(FIXTURES, home, fixture);
  const [there, back] = [join(scratch, `there-${FORMATS[away].name}`), join(scratch, `back-${FORMATS[home].name}`)];
  const convert = (from, to, ...as) => vault.run("convert", from, to, "--format", ...as);
  const first = convert(source, there, away);
  if (first.code !== 0) return [`there: ended with ${first.code}: ${first.stdout.slice(0, 400)}${first.stderr}`];
  const second = convert(there, back, home, ...how);
  // 1: written, and not valid; lines that came with faults of their own go back out as they came.
  if (second.code !== 0 && second.code !== 1)
    return [`back: ended with ${second.code}: ${second.stdout.slice(0, 400)}${second.stderr}`];
  const [before, after] = [source, back].map((path) => FORMATS[home].parts(path));
  return [...changes(before, after), ...untold(first.answer.losses)];
}

/** What is another text than before, or gone, or new. */
function changes(before, after) {
  const problems = [];
  for (const [place, text] of Object.entries(before)) {
    if (after[place] === undefined) problems.push(`${place}: gone`);
    else if (isJson(text)) {
      const found = isJson(after[place]) ? difference(text, after[place]) : "no JSON any more";
      if (found) problems.push(`${place}: ${found}`);
    } else if (text !== after[place]) problems.push(`${place}: other text`);
  }
  const added = Object.keys(after).filter((place) => before[place] === undefined);
  return [...problems, ...added.map((place) => `${place}: was not there`)];
}

/** The report has to say what another program does not see, and nothing may be lost that is not listed here. */
function untold(losses) {
  const problems = losses.filter(({ kind, field }) => kind === "left_out" && !LEFT_OUT[field]);
  const told = losses.some(({ kind }) => kind === "moved_to_extension");
  return [
    ...problems.map((loss) => `left out: ${JSON.stringify(loss)}`),
    ...(told ? [] : ["nothing is said to have moved"]),
  ];
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A fixture's folder as an archive. */
function packed(vault, fixture) {
  const root = join(FIXTURES, "alf", fixture);
  return vault.write("in.alf", zip(files(root).map((path) => [relative(root, path), readFileSync(path)])));
}

function files(root) {
  return readdirSync(root)
    .sort()
    .map((name) => join(root, name))
    .flatMap((path) => (statSync(path).isDirectory() ? files(path) : [path]));
}

/** Each file of a folder. */
function folder(root) {
  return Object.fromEntries(files(root).map((path) => [relative(root, path), readFileSync(path, "utf8")]));
}

/** Each line of the files of a bundle; the whole of those that have none. */
function bundle(root) {
  return Object.fromEntries(
    Object.entries(folder(root)).flatMap(([name, text]) =>
      name.endsWith(".jsonl") ? lines(name, text) : [[name, text]],
    ),
  );
}

/** The documents of an archive; its memory line by line, in whatever partition; what its manifest says of the agent. */
function agent(path) {
  const all = entries(path);
  const { layers, ...manifest } = JSON.parse(all["manifest.json"]);
  const rows = layers.memory.partitions;
  const memory = rows.flatMap(({ file }) => lines("memory", all[file]).map(([, line]) => line));
  const apart = rows.map(({ file }) => file);
  const documents = Object.entries(all).filter(([name]) => !apart.includes(name) && !name.startsWith("artifacts/"));
  return {
    ...Object.fromEntries(documents),
    ...Object.fromEntries(memory.map((line, at) => [`memory:${at + 1}`, line])),
    "manifest.json, agent": JSON.stringify(manifest.agent),
    "manifest.json, runtime_hints": JSON.stringify(manifest.runtime_hints),
    "manifest.json, sync": JSON.stringify(manifest.sync),
  };
}

function oneFile(path) {
  return { document: readFileSync(path, "utf8") };
}

function lines(name, text) {
  const filled = text.split("\n").filter((line) => line.trim() !== "");
  return filled.map((line, at) => [`${name}:${at + 1}`, line]);
}
