// The command line as data: each `*.case.json` in this folder is a story of commands with what they have to answer.
//
//   {"about": "…", "steps": [{"run": ["create", "$T/v", "--kdf-floor"], "exit": 0, "json": {…}, "save": {"ID": "/id"}}]}
//
// `$T` is a folder of the case's own, `$FIXTURES` is `fixtures/`, `$NAME` is what an earlier step saved by JSON pointer.
// `json` is a subset: objects may hold more, arrays must match one by one, and `"<string>"`, `"<number>"`, `"<any>"`
// stand for any value of that type. `files` writes files into `$T` first.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT, built } from "../tools/places.mjs";
import { quiet } from "../tools/sh.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** Run all cases and count them. */
export async function cliCases(count) {
  for (const name of readdirSync(HERE)
    .filter((entry) => entry.endsWith(".case.json"))
    .sort()) {
    const problems = play(JSON.parse(readFileSync(join(HERE, name), "utf8")));
    problems.forEach((problem) => console.log(`  ${problem}`));
    count.add(name.replace(".case.json", ""), problems.length === 0);
  }
}

function play({ files = {}, steps }) {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-cli-"));
  const known = { T: folder, FIXTURES: join(ROOT, "fixtures") };
  const filled = (text) => text.replace(/\$([A-Z_]+)/g, (whole, name) => known[name] ?? whole);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content, { mode: 0o600 });
  }
  try {
    for (const [i, step] of steps.entries()) {
      const problems = check(step, known, filled);
      // What follows builds on this step.
      if (problems.length > 0) return problems.map((problem) => `step ${i + 1} (${step.run.join(" ")}): ${problem}`);
    }
    return [];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function check(step, known, filled) {
  const { code, stdout, stderr } = quiet(built("keepsake"), ["--json", ...step.run.map(filled)], { cwd: known.T });
  const problems = [];
  if (code !== (step.exit ?? 0)) problems.push(`exit code ${code}, not ${step.exit ?? 0}: ${stdout}${stderr}`);
  let answer;
  try {
    answer = JSON.parse(stdout);
  } catch {
    return [...problems, `standard output is not one JSON object: ${stdout.slice(0, 200)}`];
  }
  if (step.json) problems.push(...differences(JSON.parse(filled(JSON.stringify(step.json))), answer, ""));
  for (const [name, pointer] of Object.entries(step.save ?? {})) {
    known[name] = pointer
      .split("/")
      .slice(1)
      .reduce((value, key) => value?.[key], answer);
    if (typeof known[name] !== "string") problems.push(`nothing to save at ${pointer}`);
  }
  return problems;
}

function differences(wanted, got, place) {
  if (typeof wanted === "string" && /^<(any|string|number|boolean)>$/.test(wanted)) {
    const type = wanted.slice(1, -1);
    return got !== undefined && (type === "any" || typeof got === type)
      ? []
      : [`${place}: ${JSON.stringify(got)} is no ${type}`];
  }
  if (Array.isArray(wanted)) {
    if (!Array.isArray(got) || got.length !== wanted.length)
      return [`${place}: ${JSON.stringify(got)} is not ${JSON.stringify(wanted)}`];
    return wanted.flatMap((value, i) => differences(value, got[i], `${place}/${i}`));
  }
  if (wanted && typeof wanted === "object") {
    if (!got || typeof got !== "object") return [`${place}: ${JSON.stringify(got)} is no object`];
    return Object.entries(wanted).flatMap(([key, value]) => differences(value, got[key], `${place}/${key}`));
  }
  return wanted === got ? [] : [`${place}: ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`];
}
