// The main tasks on the command line: make the demonstration, search, scan, list, export, validate.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { built } from "./places.mjs";
import { Stop, quiet } from "./sh.mjs";

/** Words that the invented person of the demonstration wrote about. */
const QUERIES = ["hazelnut", "8:20 Cacilhas", "half marathon"];
/** Explains each kind of loss to a person. The keys are the kinds that `export` reports. */
const LOSS_MEANINGS = {
  left_out: (fields) => `not in the file: ${fields}`,
  narrowed: (fields) => `written in a simpler form: ${fields}`,
  moved_to_extension: (fields) => `that other programs will not show, kept inside the file: ${fields}`,
};

/**
 * Runs every task in a new folder and prints each command with its result. Returns the exit code.
 *
 * @throws {Stop} if a command fails, or a search finds nothing
 */
export function demonstrate() {
  const results = mkdtempSync(join(tmpdir(), "mementory-start-"));
  const vault = join(results, "Demonstration.mementory");
  const passphraseFile = join(results, "passphrase.txt");

  /** Runs one command, prints it as a person would type it, and returns its result. */
  const mementory = (...args) => {
    const printed = args.map((arg) => (arg.includes(" ") ? `"${arg}"` : arg)).join(" ");
    const options = ["--vault", vault, "--passphrase-file", passphraseFile, "--json"];
    const { code, stdout, stderr } = quiet(built("mementory"), [...options, ...args]);
    if (code !== 0) throw new Stop(`mementory ${printed}\nfailed with exit code ${code}: ${stdout || stderr}`);
    console.log(`$ mementory ${printed}`);
    return JSON.parse(stdout);
  };
  const print = (text) => console.log(`  ${text}\n`);

  const demonstration = mementory("demo", vault);
  writeFileSync(passphraseFile, `${demonstration.passphrase}\n`, { mode: 0o600 });
  const { memory = 0, conversation = 0, message = 0 } = demonstration.counts;
  print(
    `An encrypted vault with a year of an invented person: ${countText(memory, "memory", "memories")}, ` +
      `${countText(conversation, "conversation")}, ${countText(message, "message")}.`,
  );
  for (const query of QUERIES) {
    const searchResult = mementory("search", query, "--limit", "3");
    if (searchResult.total === 0) throw new Stop(`mementory search "${query}"\nfound nothing in the demonstration`);
    print(
      `${countText(searchResult.total, "result")} in ${Math.ceil(searchResult.took_ms)} ms.` +
        searchResult.hits.map((hit) => `\n    ${firstWords(hit.snippet)}`).join(""),
    );
  }
  const values = Object.entries(mementory("scan").by_class).map(([name, n]) => `${n} × ${name.replaceAll("_", " ")}`);
  print(`Sensitive values: ${values.join(", ") || "none"}.`);
  const page = mementory("list", "--kind", "memory", "--limit", "5");
  print(
    `${countText(page.total, "memory", "memories")}. The newest:` +
      page.items.map((item) => `\n    ${firstWords(item.text)}`).join(""),
  );
  for (const format of ["mem", "alf"]) {
    const out = join(results, `Demonstration.${format}`);
    const exported = mementory("export", "--format", format, out);
    print(
      `Exported ${countText(exported.records, "record")}, ${exported.bytes} bytes. ${lossText(exported.loss_counts)}`,
    );
    const checked = mementory("validate", out);
    print(`No errors were found in it: ${checked.format} ${checked.version}, ${countText(checked.records, "record")}.`);
  }
  console.log(`The vault and both exports are in ${results}`);
  return 0;
}

const countText = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/** Describes the losses of an export, grouped by their meaning for a person. Each field is named once per group. */
export function lossText(counts) {
  if (counts.length === 0) return "The format has a place for everything.";
  const kinds = new Set([...Object.keys(LOSS_MEANINGS), ...counts.map((each) => each.kind)]);
  return [...kinds]
    .map((kind) => [kind, [...new Set(counts.filter((each) => each.kind === kind).map((each) => each.field))]])
    .filter(([, fields]) => fields.length > 0)
    .map(([kind, fields]) => {
      // A kind of loss that `LOSS_MEANINGS` lacks is shown by its code.
      const meaning = LOSS_MEANINGS[kind] ?? ((names) => `${kind.replaceAll("_", " ")}: ${names}`);
      return `\n    ${countText(fields.length, "field")} ${meaning(fields.sort().join(", "))}`;
    })
    .join("");
}

const firstWords = (text) =>
  text
    .replaceAll(/[\s*]+/g, " ")
    .trim()
    .slice(0, 70);
