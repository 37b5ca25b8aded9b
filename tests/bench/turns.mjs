// `npm run bench -- turns PROGRAM`: compares the released command line with another one, usually that of an earlier
// version. The two run each task by turns on the same data, because the speed of a machine varies more between two runs
// than between two versions. The table is printed and written to RESULTS-turns.md next to this file.
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ENV, Stop } from "../tools/sh.mjs";
import { weightsVariable } from "../tools/weights.mjs";
import { chatgptExport, hasGenerator } from "./data.mjs";
import { Mementory, median } from "./measure.mjs";
import { variedText, writeMemories } from "./memories.mjs";
import { publish, setup } from "./report.mjs";

const ROUND_COUNT = 6;
const EXPORT_SIZE = { conversations: 1200, mb: 60 };
const MEMORY_COUNT = 20_000;
const ERASED_MESSAGE_COUNT = 1000;
const FORMATS = ["mem", "alf", "pam", "mif", "zaxy"];

/** Compares the released program with `otherProgram`, prints the table and writes it to a file. Returns the exit code. */
export async function compareByTurns(otherProgram) {
  if (!hasGenerator()) throw new Stop("../shared/exports/gen_exports.py is missing; without it there is no data.");
  Object.assign(ENV, await weightsVariable());
  const run = { ...setup(), rows: [], wrong: [] };
  const { folder, mementory } = run;
  const copy = join(folder, "other");
  copyFileSync(otherProgram, copy);
  const other = new Mementory({ program: copy, folder, secret: mementory.secret });
  const contestants = [
    { name: "other", cli: other, times: new Map() },
    { name: "released", cli: mementory, times: new Map() },
  ];
  const data = await makeData(folder, other);
  for (let round = 0; round < ROUND_COUNT; round++) {
    // The one that runs first may find cold file caches, so they take turns at it.
    const order = round % 2 === 0 ? contestants : contestants.toReversed();
    runRound(order, folder, data);
    console.log(`  round ${round + 1} of ${ROUND_COUNT}`);
  }
  for (const task of contestants[0].times.keys()) run.rows.push(rowOf(task, contestants));
  return publish(run, {
    file: "RESULTS-turns.md",
    title: "Two versions by turns",
    facts: [`Version of the other program: ${versionOf(other)}`, `Rounds: ${ROUND_COUNT}`],
    columns: ["Task", "Other: wall, CPU", "Released: wall, CPU", "Released / other: wall, CPU"],
    notes: [
      "Seconds, the median of all rounds; each command is a process of its own and unlocks its vault (KDF at its floor).",
      `Conversations: a ChatGPT export of ${EXPORT_SIZE.conversations} conversations, ${EXPORT_SIZE.mb} MB of JSON. Memories: ${MEMORY_COUNT}.`,
      "Both validate and import the same files, which the other program wrote. An export reads back and validates what it wrote.",
    ].join("\n"),
  });
}

/** Creates what both programs read: an export, its questions, and a file of each open format. */
async function makeData(folder, other) {
  const { path, truth } = await chatgptExport(EXPORT_SIZE.conversations, EXPORT_SIZE.mb);
  const questions = join(folder, "questions.txt");
  writeFileSync(questions, truth.needles.map((needle) => needle.query).join("\n"));
  const bundle = writeMemories(join(folder, "memories.mem"), MEMORY_COUNT, variedText).path;
  const vault = join(folder, "source");
  other.run(vault, "create", vault, "--kdf-floor");
  other.run(vault, "import", bundle);
  const files = new Map(FORMATS.map((format) => [format, join(folder, `source.${format}`)]));
  for (const [format, file] of files) other.run(vault, "export", "--format", format, file);
  rmSync(vault, { recursive: true });
  return { conversations: path, questions, bundle, files };
}

/** Runs each task once with each program, in the given order. */
function runRound(contestants, folder, data) {
  const each = (task, work) => {
    for (const { name, cli, times } of contestants) {
      const { wall, user, sys } = work(cli, (vault) => join(folder, `${name}-${vault}`));
      times.set(task, [...(times.get(task) ?? []), { wall, cpu: user + sys }]);
    }
  };
  const importNew = (cli, vault, file) => {
    cli.run(vault, "create", vault, "--kdf-floor");
    return cli.run(vault, "import", file);
  };
  each("import conversations", (cli, at) => importNew(cli, at("chats"), data.conversations));
  each("import them again", (cli, at) => cli.run(at("chats"), "import", data.conversations));
  each("first page of messages", (cli, at) => cli.run(at("chats"), "list", "--kind", "message", "--limit", "50"));
  each("search", (cli, at) => cli.run(at("chats"), "search", "--queries", data.questions, "--limit", "10"));
  each(`erase ${ERASED_MESSAGE_COUNT} messages`, (cli, at) => {
    const page = cli.run(at("chats"), "list", "--kind", "message", "--limit", `${ERASED_MESSAGE_COUNT}`);
    return cli.run(at("chats"), "erase", ...page.value.items.map((item) => item.id));
  });
  each("import memories", (cli, at) => importNew(cli, at("memories"), data.bundle));
  for (const format of FORMATS)
    each(`export .${format}`, (cli, at) => {
      const written = at(`written.${format}`);
      const usage = cli.run(at("memories"), "export", "--format", format, written);
      rmSync(written, { recursive: true });
      return usage;
    });
  for (const [format, file] of data.files) {
    each(`validate .${format}`, (cli) => cli.run("none", "validate", file));
    each(`import .${format}`, (cli, at) => {
      const usage = importNew(cli, at(format), file);
      rmSync(at(format), { recursive: true });
      return usage;
    });
  }
  for (const { name } of contestants)
    for (const vault of ["chats", "memories"]) rmSync(join(folder, `${name}-${vault}`), { recursive: true });
}

function rowOf(task, contestants) {
  const [other, released] = contestants.map(({ times }) => {
    const runs = times.get(task);
    return { wall: median(runs.map((r) => r.wall)), cpu: median(runs.map((r) => r.cpu)) };
  });
  const both = ({ wall, cpu }) => `${wall.toFixed(2)}, ${cpu.toFixed(2)}`;
  return [task, both(other), both(released), both({ wall: released.wall / other.wall, cpu: released.cpu / other.cpu })];
}

/** The version that a program prints after its name. */
function versionOf(cli) {
  return cli.meter.measure([cli.program, "--version"]).stdout.trim().split(" ").at(-1);
}
