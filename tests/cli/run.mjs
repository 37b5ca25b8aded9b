// Command line cases as data: each `*.case.json` in this folder is a sequence of commands with the expected answers.
//
//   {"about": "…", "vault": true, "files": {"note.txt": "…"},
//    "steps": [{"run": ["add", "--text-file", "note.txt"], "exit": 0,
//               "json": {"id": "<string>"}, "save": {"ID": "/id"}}]}
//
// Variables in a step: `$T` is the temporary folder of the case, which is also its working directory. `$FIXTURES` is
// `fixtures/`, and `$SHARED` is the folder `shared` next to the clone. `$NAME` is a value that an earlier step saved by
// JSON pointer.
//
// Members of a case: `files` are files to write before the first step. `vault` creates a vault at `$T/v` and sets the
// environment variables for the vault and its passphrase file. `needs` lists requirements: "unix", "flock", "mount",
// "full_device".
//
// A step has one of three forms:
// - `run` has the arguments of a command. `stdin` is its input, `env` changes its environment (null removes a
//   variable), and `plain` runs it without `--json`.
// - `do` names an action (see actions.mjs).
// - `dump` stores the visible state of the vault under a name, and `dump_is` compares the current state with a stored
//   one.
//
// `json` is the expected part of the answer. Objects may have more members, but arrays must match element by element.
// "<string>", "<number>", "<boolean>", "<time>" and "<any>" match any value of that type. {"$length": n}, {"$has":
// […]}, {"$not": value}, {"$least": n} and {"$match": "regex"} match values with that property. `stdout` and `stderr`
// are regexes. `without` lists words that no output may contain. The counts of every import report have to add up.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { built } from "../tools/places.mjs";
import { quiet } from "../tools/sh.mjs";
import { CLEAN_ENV, FIXTURES, SHARED, Vault, inFolder, hasShared, sumProblems } from "./mementory.mjs";
import { differences } from "./match.mjs";
import { ACTIONS, missingRequirement, release } from "./actions.mjs";

const CASES_FOLDER = fileURLToPath(new URL(".", import.meta.url));

/** Runs all cases and counts them. MEMENTORY_CASE selects those whose name contains it. */
export async function testCliCases(count) {
  const names = readdirSync(CASES_FOLDER)
    .filter((entry) => entry.endsWith(".case.json") && entry.includes(process.env.MEMENTORY_CASE ?? ""))
    .map((entry) => entry.replace(".case.json", ""))
    .sort();
  for (const name of names) {
    const definition = JSON.parse(readFileSync(join(CASES_FOLDER, `${name}.case.json`), "utf8"));
    const missing = (definition.needs ?? []).map(missingRequirement).find(Boolean);
    if (missing) {
      count.leaveOut(`${name}: ${missing}`);
      continue;
    }
    if (JSON.stringify(definition).includes("$SHARED") && !hasShared(count, "exports")) continue;
    const problems = await inFolder((folder) => runCase(folder, definition));
    problems.forEach((problem) => console.log(`  ${problem}`));
    count.add(name, problems.length === 0);
  }
}

async function runCase(folder, { vault = false, files = {}, steps }) {
  const known = { T: folder, FIXTURES, SHARED };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content, { mode: 0o600 });
  }
  const stage = { folder, known, env: { ...CLEAN_ENV, MEMENTORY_DATA_DIR: join(folder, "data") }, dumps: {}, undo: [] };
  if (vault) {
    stage.vault = new Vault(folder).create();
    stage.env = stage.vault.env;
  }
  try {
    for (const [i, step] of steps.entries()) {
      const problems = await runStep(stage, substitute(step, known)).catch((error) => [error.message.trim()]);
      // Stop here, because later steps depend on this one.
      if (problems.length > 0) return problems.map((problem) => `step ${i + 1} (${stepTitle(step)}): ${problem}`);
    }
    return [];
  } finally {
    await release(stage);
  }
}

const stepTitle = (step) => step.about ?? (step.run ?? Object.values(step)).flat().join(" ");

function substitute(step, known) {
  return JSON.parse(
    JSON.stringify(step).replace(/\$([A-Z][A-Z_0-9]*)/g, (whole, name) =>
      name in known ? JSON.stringify(String(known[name])).slice(1, -1) : whole,
    ),
  );
}

async function runStep(stage, step) {
  if (step.run) return runCommand(stage, step);
  if (step.do) return (await ACTIONS[step.do](stage, step)) ?? [];
  const now = JSON.stringify(stage.vault.dump());
  if (step.dump) stage.dumps[step.dump] = now;
  return step.dump_is && stage.dumps[step.dump_is] !== now ? [`the vault is not as it was at ${step.dump_is}`] : [];
}

function runCommand({ folder, known, env }, step) {
  const stepEnv = Object.fromEntries(Object.entries({ ...env, ...step.env }).filter(([, value]) => value !== null));
  const args = step.plain ? step.run : ["--json", ...step.run];
  const input = step.stdin === undefined ? { stdio: ["ignore", "pipe", "pipe"] } : { input: step.stdin };
  const { code, stdout, stderr } = quiet(built("mementory"), args, { cwd: folder, env: stepEnv, ...input });
  const problems = [];
  if (code !== (step.exit ?? 0)) problems.push(`exit code ${code}, not ${step.exit ?? 0}: ${stdout}${stderr}`);
  for (const word of step.without ?? [])
    if (`${stdout}${stderr}`.includes(word)) problems.push(`contains ${word}: ${stdout}${stderr}`);
  for (const [name, text] of Object.entries({ stdout, stderr }))
    if (step[name] && !new RegExp(step[name]).test(text))
      problems.push(`${name} does not match ${step[name]}: ${text}`);
  if (step.plain) return problems;

  let answer;
  try {
    answer = JSON.parse(stdout);
  } catch {
    return [...problems, `standard output is not one JSON object: ${stdout.slice(0, 200)}`];
  }
  // An exit code above 1 comes with an error answer. The exception is a check that finds damage, which answers with a
  // report.
  if ((step.exit ?? 0) > 1 && answer.ok === undefined) problems.push(...differences(ERROR_SHAPE, answer, ""));
  if (step.run.includes("import") && answer.by_kind) problems.push(...sumProblems(answer));
  if (step.json !== undefined) problems.push(...differences(step.json, answer, ""));
  for (const [name, pointer] of Object.entries(step.save ?? {})) {
    known[name] = valueAt(answer, pointer);
    if (!["string", "number"].includes(typeof known[name])) problems.push(`nothing to save at ${pointer}`);
  }
  return problems;
}

/**
 * Returns the value at a JSON pointer. `pointer` may also be `["/list", {members}, "/pointer inside"]`: the first
 * element of the list that has these members is chosen, and the last pointer is applied to it.
 */
function valueAt(answer, pointer) {
  if (Array.isArray(pointer)) {
    const [list, wanted, inside] = pointer;
    return valueAt(
      valueAt(answer, list)?.find((element) => differences(wanted, element, "").length === 0),
      inside,
    );
  }
  const keys = pointer.split("/").slice(1);
  return keys.reduce((value, key) => value?.[key], answer);
}

/** The shape of every error answer. */
const ERROR_SHAPE = { error: { code: { $match: "^[a-z][a-z0-9_]*$" }, message: "<string>", details: {} } };
