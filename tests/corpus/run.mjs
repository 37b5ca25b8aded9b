// Runs validate, verify and import on a corpus of damaged and forged files. The three must agree: verify reports every
// error that validate reports. If a file is invalid, import either refuses it with an error that validate reports too,
// or imports it and reports everything that validate reports. The answers are compared with a table next to this file;
// UPDATE_CORPUS=1 overwrites that table.
//
// Opening a vault takes a quarter of a second, because of Argon2. Therefore `npm test` runs only the first file for
// each different answer in the table. `npm run campaign -- corpus`, WHOLE_CORPUS=1 and UPDATE_CORPUS=1 run all files.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Vault, inFolder } from "../cli/mementory.mjs";
import { runAlone } from "../tools/count.mjs";
import { alf } from "./alf.mjs";
import { mem } from "./mem.mjs";
import { mif } from "./mif.mjs";
import { pam } from "./pam.mjs";
import { zaxy } from "./zaxy.mjs";

/**
 * The corpora. The members of a corpus:
 * - `format`: the id of the format
 * - `about`: a sentence for the head of its table
 * - `bases()`: files that are imported into the vault before any other
 * - `vaultCodes`: codes of import errors that depend on the content of the vault
 * - `trust`: the keys that `verify` trusts
 * - `files(vault)`: yields the files
 *
 * The members of a file:
 * - `name`: what is wrong with it
 * - `outcome`: what `import` must answer: "taken", "refused", the code of the error, or "anything"
 * - `ending`: the file extension
 * - `bytes()`: the content
 * - `format`: its format, if it is not that of the corpus
 * - `chosen`: true if the format must be passed to the commands, because it is not detected in this file
 * - `passphrase`: opens the file
 * - `signed`: true if it has a valid signature
 * - `finds`: the code of an error that `validate` must report, or "" if it must report none
 */
const CORPORA = [alf, mem, mif, pam, zaxy];

const tableFile = ({ format }) => fileURLToPath(new URL(`${format}.md`, import.meta.url));
const tableHead = ({ format, about }) => `# Damaged and forged \`.${format}\` files

Made by \`${format}.mjs\` from the fixtures; written by \`UPDATE_CORPUS=1 node tests/corpus/run.mjs\`. Codes are those of the
command's answer. ${about}

| what is wrong | validate | verify | import | import --salvage |
|---|---|---|---|---|
`;

const ROW = /^\| (.*?) (\| \d.*)$/;
/** Rows of the stored table: `{name: line}`, in the order of the table. */
function storedRows(corpus) {
  const file = tableFile(corpus);
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return new Map(lines.filter((line) => ROW.test(line)).map((line) => [ROW.exec(line)[1], line]));
}

/** Names of the files that `npm test` runs: the first file of each different answer. */
function chosenNames(rows) {
  const firstNames = new Map([...rows].toReversed().map(([name, line]) => [ROW.exec(line)[2], name]));
  return new Set(firstNames.values());
}

const codesOf = (list) => [...new Set((list ?? []).map((found) => found.code))].sort();

/** Outcome of one command: exit code, whole answer, and codes of its errors. */
function commandOutcome({ code, answer }) {
  const errors = answer?.error ? [answer.error.code] : codesOf(answer?.errors);
  return { code, answer, errors };
}

const outcomeText = ({ code, errors }) => `${code}${errors.length > 0 ? ` ${errors.join(", ")}` : ""}`;

/** The codes in an import report: those of its warnings, and the reasons given for its items. */
function reportedCodes(report) {
  const reasons = report.items.map((item) => item.reason.split(":")[0]);
  return new Set([...report.warnings.map((warning) => warning.code), ...reasons]);
}

/** Problems with the answers: the commands contradict each other, or an answer is not the one expected for the file. */
function disagreements(expected, { validate, verify, imported }, { chosen, signed, finds, vaultCodes }) {
  const problems = [];
  const valid = validate.code === 0;
  if (finds === "" && !valid) problems.push(`validate says ${outcomeText(validate)}`);
  if (finds && !validate.errors.includes(finds))
    problems.push(`validate does not say ${finds}: ${outcomeText(validate)}`);
  for (const code of validate.errors) if (!verify.errors.includes(code)) problems.push(`verify does not say ${code}`);
  if (!chosen && verify.code === 0 && !(signed && valid))
    problems.push("verify accepts a file without a valid signature");
  if (verify.code !== 0 && signed && valid) problems.push("verify refuses a file with a valid signature");
  const isImported = imported.code === 0;
  if (expected === "anything") expected = isImported ? "taken" : "refused";
  if (expected === "taken" && !isImported) problems.push(`import refuses it: ${outcomeText(imported)}`);
  if (expected !== "taken" && isImported) problems.push("import takes it");
  if (expected !== "taken" && expected !== "refused" && !imported.errors.includes(expected))
    problems.push(`import says ${outcomeText(imported)}, not ${expected}`);
  if (!isImported && ![1, 3, 6].includes(imported.code)) problems.push(`import ends with ${imported.code}`);
  // Import may refuse a valid file because of the state of the vault, such as a delta without its base.
  if (!isImported && valid && !vaultCodes.includes(expected)) problems.push("import refuses what validate accepts");
  if (!isImported && !valid && !imported.errors.some((code) => validate.errors.includes(code)))
    problems.push(`import says ${imported.errors}, validate ${validate.errors}`);
  if (isImported) {
    const importCodes = reportedCodes(imported.answer);
    for (const code of [...validate.errors, ...codesOf(validate.answer.warnings)])
      if (!importCodes.has(code)) problems.push(`import does not say ${code}, which validate says`);
  }
  return problems;
}

/** Runs the four commands on a file. `trust`: the options for the trusted keys. */
function outcomesOf(vault, { ending, bytes, format, chosen, passphrase }, trust) {
  const opens =
    passphrase === undefined ? [] : ["--import-passphrase-file", vault.write("opens.txt", `${passphrase}\n`)];
  const formatArgs = [...(chosen ? ["--format", format] : []), ...opens];
  const path = vault.write(`file.${ending}`, bytes());
  const outcomes = {
    validate: commandOutcome(vault.run("validate", ...formatArgs, path)),
    verify: commandOutcome(vault.run("verify", ...trust, ...opens, path)),
    imported: commandOutcome(vault.run("import", "--dry-run", ...formatArgs, path)),
    salvaged: commandOutcome(vault.run("import", "--dry-run", "--salvage", ...formatArgs, path)),
  };
  rmSync(path);
  // `verify` has no option for the format, so the answer of `validate` is used instead.
  return chosen ? { ...outcomes, verify: outcomes.validate } : outcomes;
}

/** Problems with a salvage: it is not what `import` offers, or it does not list what is missing. */
function salvageProblems({ imported, salvaged }) {
  const problems = [];
  const isOffered = imported.answer?.error?.details?.salvage === "true";
  if (imported.code !== 0 && isOffered !== (salvaged.code === 0))
    problems.push(isOffered ? "the salvage that import offers is refused" : "import does not offer a salvage");
  const { salvaged: isSalvage, missing } = salvaged.answer ?? {};
  if (isSalvage && !(missing?.length > 0)) problems.push("a salvage without a list of what is missing");
  return problems;
}

/** The row of a file in the table of its corpus. */
function rowOf(name, { validate, verify, imported, salvaged }) {
  const { salvaged: isSalvage, missing } = salvaged.answer ?? {};
  const salvageText = isSalvage ? `${salvaged.code}, ${missing.length} missing` : outcomeText(salvaged);
  const cells = [name, ...[validate, verify, imported].map(outcomeText), salvageText];
  return `| ${cells.join(" | ")} |\n`;
}

/** Runs the commands on the files of a corpus and compares the table of their answers with the stored one. */
async function testFormat(count, corpus) {
  const storedLines = storedRows(corpus);
  const runsWholeCorpus = Boolean(process.env.UPDATE_CORPUS || process.env.WHOLE_CORPUS);
  const chosenForTest = chosenNames(storedLines);
  const rows = [];
  await inFolder((folder) => {
    const vault = new Vault(folder).create();
    for (const [i, bytes] of corpus.bases().entries())
      vault.must("import", vault.write(`base${i}.${corpus.format}`, bytes));
    const dumpBefore = JSON.stringify(vault.dump());
    const trust = (corpus.trust ?? []).flatMap((key) => ["--trust", key]);
    for (const each of corpus.files(vault)) {
      const file = { format: corpus.format, ...each };
      const { name } = file;
      if (!runsWholeCorpus && storedLines.has(name) && !chosenForTest.has(name)) {
        rows.push(`${storedLines.get(name)}\n`);
        continue;
      }
      const outcomes = outcomesOf(vault, file, trust);
      const problems = [
        ...disagreements(file.outcome, outcomes, { ...file, vaultCodes: corpus.vaultCodes }),
        ...Object.values(outcomes)
          .filter(({ answer }) => answer?.format && answer.format !== file.format)
          .map(({ answer }) => `taken for ${answer.format}`),
        ...salvageProblems(outcomes),
      ];
      problems.forEach((problem) => console.log(`  ${corpus.format}: ${name}: ${problem}`));
      count.add(`corpus of ${corpus.format}: ${name}`, problems.length === 0);
      rows.push(rowOf(name, outcomes));
    }
    count.add(`corpus of ${corpus.format}: no preview changed the vault`, JSON.stringify(vault.dump()) === dumpBefore);
    return Promise.resolve();
  });
  const table = tableHead(corpus) + rows.join("");
  const path = tableFile(corpus);
  if (process.env.UPDATE_CORPUS) writeFileSync(path, table);
  count.add(
    `corpus of ${corpus.format}: the table is as it was`,
    existsSync(path) && readFileSync(path, "utf8") === table,
  );
}

/** Runs all corpora, or only the corpus of the format in ONLY_CORPUS. */
export async function testCorpus(count) {
  const chosenFormat = process.env.ONLY_CORPUS;
  for (const corpus of CORPORA) if (!chosenFormat || corpus.format === chosenFormat) await testFormat(count, corpus);
}

await runAlone(import.meta.url, testCorpus);
