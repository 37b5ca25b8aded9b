// Runs validate, verify and import on a corpus of damaged and forged files. The three have to agree: what is not valid is
// refused with a code that validate names, or taken in with everything that validate says in the report. What each does is
// in a table beside this file; UPDATE_CORPUS=1 writes it.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Vault, inFolder } from "../cli/mementory.mjs";
import { byItself } from "../tools/count.mjs";
import { bases, files } from "./alf.mjs";

const TABLE = fileURLToPath(new URL("alf.md", import.meta.url));
const HEAD = `# Damaged and forged \`.alf\` files

Made by \`alf.mjs\` from the fixtures; written by \`UPDATE_CORPUS=1 node tests/corpus/run.mjs\`. Codes are those of the
command's answer. \`verify\` also wants a signature, which this format does not have. Before each import the vault has the
base of the deltas, at sequence 41.

| what is wrong | validate | verify | import | import --salvage |
|---|---|---|---|---|
`;

const codesOf = (list) => [...new Set((list ?? []).map((found) => found.code))].sort();

/** Outcome of one command: exit code, and codes of errors. */
function outcome({ code, answer }) {
  const errors = answer?.error ? [answer.error.code] : codesOf(answer?.errors);
  return { code, answer, errors };
}

const shown = ({ code, errors }) => `${code}${errors.length > 0 ? ` ${errors.join(", ")}` : ""}`;

/** What an import says: its warnings and the reasons of its items, by code. */
function reported(report) {
  const reasons = report.items.map((item) => item.reason.split(":")[0]);
  return new Set([...report.warnings.map((warning) => warning.code), ...reasons]);
}

function disagreements(expected, { validate, verify, imported }) {
  const problems = [];
  const valid = validate.code === 0;
  for (const code of validate.errors) if (!verify.errors.includes(code)) problems.push(`verify does not say ${code}`);
  if (verify.code === 0) problems.push("verify accepts a file without a signature");
  const taken = imported.code === 0;
  if (expected === "taken" && !taken) problems.push(`import refuses it: ${shown(imported)}`);
  if (expected !== "taken" && taken) problems.push("import takes it");
  if (expected !== "taken" && expected !== "refused" && !imported.errors.includes(expected))
    problems.push(`import says ${shown(imported)}, not ${expected}`);
  if (!taken && ![1, 6].includes(imported.code)) problems.push(`import ends with ${imported.code}`);
  // A delta may be valid and still not continue what the vault has.
  if (!taken && valid && !SEQUENCE.has(expected)) problems.push("import refuses what validate accepts");
  if (!taken && !valid && !imported.errors.some((code) => validate.errors.includes(code)))
    problems.push(`import says ${imported.errors}, validate ${validate.errors}`);
  if (taken) {
    const known = reported(imported.answer);
    for (const code of [...validate.errors, ...codesOf(validate.answer.warnings)])
      if (!known.has(code)) problems.push(`import does not say ${code}, which validate says`);
  }
  return problems;
}

/** Codes that only the vault can know. */
const SEQUENCE = new Set(["wrong_agent", "wrong_base", "sequence_gap", "already_applied"]);

export async function corpus(count) {
  const rows = [];
  await inFolder((folder) => {
    const vault = new Vault(folder).create();
    for (const [i, bytes] of bases().entries()) vault.must("import", vault.write(`base${i}.alf`, bytes));
    const before = JSON.stringify(vault.dump());
    for (const { name, outcome: expected, ending, bytes } of files()) {
      const path = vault.write(`file.${ending}`, bytes());
      const ran = {
        validate: outcome(vault.run("validate", path)),
        verify: outcome(vault.run("verify", path)),
        imported: outcome(vault.run("import", "--dry-run", path)),
        salvaged: outcome(vault.run("import", "--dry-run", "--salvage", path)),
      };
      rmSync(path);
      const problems = disagreements(expected, ran);
      const format = ending.replace("-", "_");
      for (const { answer } of Object.values(ran))
        if (answer?.format && answer.format !== format) problems.push(`taken for ${answer.format}`);
      const { salvaged, missing } = ran.salvaged.answer ?? {};
      if (salvaged && !(missing?.length > 0)) problems.push("a salvage without a list of what is missing");
      problems.forEach((problem) => console.log(`  ${name}: ${problem}`));
      count.add(`corpus: ${name}`, problems.length === 0);
      const rest = salvaged ? `${ran.salvaged.code}, ${missing.length} missing` : shown(ran.salvaged);
      rows.push(`| ${name} | ${shown(ran.validate)} | ${shown(ran.verify)} | ${shown(ran.imported)} | ${rest} |\n`);
    }
    count.add("corpus: no preview changed the vault", JSON.stringify(vault.dump()) === before);
    return Promise.resolve();
  });
  const table = HEAD + rows.join("");
  if (process.env.UPDATE_CORPUS) writeFileSync(TABLE, table);
  count.add("corpus: the table is as it was", existsSync(TABLE) && readFileSync(TABLE, "utf8") === table);
}

await byItself(import.meta.url, corpus);
