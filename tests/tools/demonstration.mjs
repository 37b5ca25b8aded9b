// The main tasks on the command line: create a vault, import exports, search, scan, list, export, validate.
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { built } from "./places.mjs";
import { Stop, quiet } from "./sh.mjs";

const OUTCOME_NAMES = ["added", "updated", "unchanged", "blocked", "skipped", "failed"];

/** Runs every task in a new folder and prints each command with its result. */
export function demonstrate(root) {
  const samples = join(root, "fixtures", "samples");
  if (!existsSync(samples)) throw new Stop(`The sample exports are missing: ${samples}`);
  const results = mkdtempSync(join(tmpdir(), "mementory-start-"));
  const vault = join(results, "Sample.mementory");
  const passphraseFile = join(results, "passphrase.txt");
  writeFileSync(passphraseFile, "correct horse battery staple\n", { mode: 0o600 });

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

  mementory("create", vault);
  print("Created an encrypted vault.");
  for (const name of readdirSync(samples)
    .filter((entry) => entry !== "README.md")
    .sort()) {
    const report = mementory("import", join(samples, name));
    const outcomes = OUTCOME_NAMES.filter((each) => report[each] > 0).map((each) => `${report[each]} ${each}`);
    print(`Found ${countText(report.found, "record")}: ${outcomes.join(", ")}.`);
  }
  const found = mementory("search", "tortoise", "--limit", "5");
  print(`${countText(found.total, "result")} in ${Math.ceil(found.took_ms)} ms.`);
  const values = Object.entries(mementory("scan").by_class).map(([name, n]) => `${n} × ${name.replaceAll("_", " ")}`);
  print(`Sensitive values: ${values.join(", ") || "none"}.`);
  const page = mementory("list", "--kind", "memory", "--limit", "5");
  print(`${page.total} memories. The newest:${page.items.map((item) => `\n    ${firstWords(item.text)}`).join("")}`);
  for (const format of ["mem", "alf"]) {
    const out = join(results, `Sample.${format}`);
    const exported = mementory("export", "--format", format, out);
    print(
      `Exported ${countText(exported.records, "record")}, ${exported.bytes} bytes. ${lossSentence(exported.losses.length)}`,
    );
    const checked = mementory("validate", out);
    print(`Valid ${checked.format} ${checked.version} with ${countText(checked.records, "record")}.`);
  }
  console.log(`The vault and both exports are in ${results}`);
  return 0;
}

const countText = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const lossSentence = (n) =>
  n === 0 ? "Nothing was lost." : `${countText(n, "detail")} did not fit the format; --json lists them.`;
const firstWords = (text) =>
  text
    .replaceAll(/[\s*]+/g, " ")
    .trim()
    .slice(0, 70);
