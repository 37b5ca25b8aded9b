// Members that a reader does not know must survive every step of a trip: import, export as `.mem`, import, export as
// `.alf`, import, export as `.mem`. The test adds a member with a unique value to YAML frontmatter and to every object
// inside a list of a reader's fixture, and a column of such values to CSV tables. It also imports everything a second
// time, which must add nothing. With WHOLE_UNKNOWN it takes every case of each format instead of one.
import { copyFileSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { runAlone } from "../tools/count.mjs";
import { FIXTURES, Vault, inFolder } from "./mementory.mjs";

const MEMBER = "x_member_of_tomorrow";
/** Names of cases that exercise a whole format. The sample of a format is the first of these that the format has. */
const WHOLE_CASES = ["full", "export", "json", "page", "home", "workspace", "markdown"];
/** Folders of fixtures that belong to no reader, and interchange formats, which have tests of their own. */
const SKIPPED_FOLDERS = [
  ...["samples", "vaults", "hostile", "fuzz", "crypto", "clients", "demonstration", "kept_file"],
  ...["mem", "alf", "mif", "pam", "zaxy", "eventloom"],
];

/** Reasons that `.mem` confirms by listing the file as a loss. */
const LOSSES_OF_MEM = ["passthrough", "attachment"];
const REPEATED_PROMPT = "duplicate: the session has this prompt";
/**
 * Members that a reader leaves out on purpose, or keeps although `.mem` cannot express them. For each format: pairs of
 * a pattern that matches the place, and the reason. A reason such as `code: explanation` means that the import report
 * must contain this code for the file. `passthrough` means that the vault keeps the file, or the part of it around its
 * lists, and that `.mem` lists it as a loss; `attachment` means the same of the bytes of an attachment.
 */
const NOT_KEPT = {
  claude: [[/users\.json|memories\.json/, "passthrough"]],
  claude_code: [
    [/history\.jsonl#line 1/, REPEATED_PROMPT],
    [/history\.jsonl#line 3/, "no_content: a line without a prompt"],
    [/000001\.jsonl#line 9/, "progress: a line that reports on a running tool"],
  ],
  codex: [
    [/history\.jsonl#line 1/, REPEATED_PROMPT],
    [/history\.jsonl#line 3/, "no_content: a line without a prompt"],
    [/c0de\.jsonl#line (6|7|10|15)/, "duplicate: events that repeat the items of the log"],
    [/c0de\.jsonl#line 17/, "progress: it counts tokens"],
  ],
  gemini: [
    [/Gemini Apps\/MyActivity\.json#\/11/, "other_product: an activity of Search"],
    [/Search\/MyActivity\.json/, "not_recognised: activities of another product"],
  ],
  gemini_cli: [[/logs\.json#\/1/, "no_content: an entry without a prompt"]],
  grok: [
    [/backend\.json#\/devices/, "passthrough"],
    [/auth-mgmt-api\.json/, "not_imported: sign-ins and sessions of the account"],
  ],
  letta: [
    [/(env|_variables|secrets)$/, "secret_left_out: values of secrets"],
    [/#\/blocks\/2/, "no_content: an empty block"],
  ],
  mistral: [[/memories-0\.json#\/2/, "no_content: no text that could be a memory"]],
  notion: [[/\.csv$/, "attachment"]],
  okf: [[/index\.md/, "passthrough"]],
  openmemory: [[/#\/memory_categories/, "duplicate: the memory names its categories itself"]],
  portable_agent_memory: [[/#\/capability_tokens/, "secret: tokens that give access"]],
};

/** Tests one case of each format in a common vault, then the next case of each, and counts each case. */
export async function testUnknownFields(count) {
  const wantedCase = process.env.MEMENTORY_CASE ?? "";
  const formats = readdirSync(FIXTURES).filter((name) => !SKIPPED_FOLDERS.includes(name) && name.includes(wantedCase));
  const cases = Object.fromEntries(formats.map((format) => [format, casesOf(format)]));
  for (let round = 0; Object.values(cases).some((names) => names[round]); round += 1) {
    const chosenFormats = formats.filter((format) => cases[format][round]);
    await checkTrip(
      count,
      chosenFormats.map((format) => ({ format, name: cases[format][round] })),
    );
  }
}

/** The cases of a format that are tested: its sample or, with WHOLE_UNKNOWN, all that are not damaged on purpose. */
function casesOf(format) {
  const names = readdirSync(join(FIXTURES, format));
  if (process.env.WHOLE_UNKNOWN) return names.filter((name) => !/mangled|truncated|cut|damage/.test(name));
  return WHOLE_CASES.filter((name) => names.includes(name)).slice(0, 1);
}

/**
 * Imports one case of each of several formats, and exports the vault as .mem, then as .alf, then as .mem again. Checks
 * that each unknown member that was added is still there, or is reported as lost.
 */
async function checkTrip(count, samples) {
  await inFolder((place) => {
    const firstVault = new Vault(place, "a").create();
    const trips = samples.map((sample) => ({ ...sample, ...importWithMember(firstVault, sample) }));
    const before = exported(firstVault, "before.mem");
    const secondVault = new Vault(place, "b").create();
    secondVault.must("import", join(place, "before.mem"));
    secondVault.must("export", "--format", "alf", join(place, "trip.alf"));
    const thirdVault = new Vault(place, "c").create();
    thirdVault.must("import", join(place, "trip.alf"));
    const after = exported(thirdVault, "after.mem");
    for (const { format, name, places, problems, report, leftOut } of trips) {
      for (const [value, where] of places) {
        const reason = (NOT_KEPT[format] ?? []).find(([pattern]) => pattern.test(where))?.[1];
        if (before.has(value) && !after.has(value)) problems.push(`${where}: is lost by .mem or .alf`);
        if (before.has(value)) continue;
        if (!reason) problems.push(`${where}: is not kept`);
        else if (!isReported(where, reason, report, leftOut))
          problems.push(`${where}: is not kept (${reason}), and no report says so`);
      }
      problems.forEach((problem) => console.log(`  ${format}/${name}: ${problem}`));
      if (places.size > 0)
        count.add(`${places.size} unknown members of ${format}/${name} survive`, problems.length === 0);
    }
  });
}

/**
 * Adds members to a copy of a case and imports the copy twice. Returns the added values with their places, problems,
 * the report of the first import, and the files that `.mem` leaves out.
 */
function importWithMember(vault, { format, name }) {
  const input = join(vault.folder, `${format}-${name}`);
  mkdirSync(input);
  const adding = new AddedMembers(format);
  for (const file of readdirSync(join(FIXTURES, format, name)))
    if (file.startsWith("input")) adding.copy(join(FIXTURES, format, name, file), join(input, file), file);
  if (adding.places.size === 0) return { places: adding.places, problems: [] };
  const inputs = readdirSync(input).map((file) => join(input, file));
  const problems = [];
  const { code, answer: report } = vault.run("import", "--format", format, ...inputs);
  if (code !== 0 || report.added === 0) {
    const why = report?.error?.code ?? "nothing was imported";
    return { places: adding.places, problems: [why], report: { items: [], warnings: [] }, leftOut: [] };
  }
  const secondImport = vault.must("import", "--format", format, ...inputs);
  if (secondImport.added + secondImport.updated > 0)
    problems.push(`again: ${secondImport.added} added, ${secondImport.updated} updated`);
  const leftOut = (NOT_KEPT[format] ?? []).some(([, reason]) => LOSSES_OF_MEM.includes(reason))
    ? filesLeftOut(vault.folder, format, inputs)
    : [];
  return { places: adding.places, problems, report, leftOut };
}

/**
 * The files that `.mem` lists as left out. They are exported from a separate vault, because a long list of losses is
 * truncated.
 */
function filesLeftOut(folder, format, inputs) {
  const vault = new Vault(folder, `alone-${format}`).create();
  vault.must("import", "--format", format, ...inputs);
  const { losses } = vault.must("export", "--format", "mem", `${vault.path}.mem`);
  const { items } = vault.must("list", "--kind", "attachment", "--limit", "500");
  const names = new Map(items.map((item) => [item.id, item.title]));
  const bytes = losses.filter((loss) => loss.field === "bytes").map((loss) => names.get(loss.record));
  return [...losses.filter((loss) => loss.field === "passthrough").map((loss) => loss.record), ...bytes];
}

/** Whether the file in which a member was lost is named in the import report or in the losses of `.mem`. */
function isReported(where, reason, report, leftOut) {
  const file = where.split("#")[0];
  if (LOSSES_OF_MEM.includes(reason))
    return leftOut.some((name) => where.replace("#", "").includes(name.replace("#", "")));
  const code = reason.split(":")[0];
  const entries = [...report.items.map((item) => [item.place, item.reason.split(":")[0]])];
  entries.push(...report.warnings.map((warning) => [warning.place, warning.code]));
  return entries.some(([place, found]) => found === code && place.split("#")[0].endsWith(file));
}

/** Exports a vault as `.mem` and returns the values in it. */
function exported(vault, name) {
  const path = join(vault.folder, name);
  vault.must("export", "--format", "mem", path);
  return valuesIn(path);
}

function valuesIn(path) {
  if (statSync(path).isDirectory())
    return new Set(readdirSync(path).flatMap((name) => [...valuesIn(join(path, name))]));
  return new Set(readFileSync(path, "latin1").match(/survives-[a-z_0-9]+-\d+-/g));
}

/** Copies files and adds members to them. */
class AddedMembers {
  /** Maps each added value to its place. */
  places = new Map();

  constructor(format) {
    this.format = format;
  }

  /** Copies a file or folder, and adds members wherever they can be added. `name` is its path in messages. */
  copy(path, copy, name) {
    if (statSync(path).isDirectory()) {
      mkdirSync(copy);
      for (const file of readdirSync(path)) this.copy(join(path, file), join(copy, file), `${name}/${file}`);
      return;
    }
    const text = readFileSync(path, "utf8");
    const changed = Buffer.from(text).equals(readFileSync(path)) ? this.withMembers(text, name) : null;
    if (changed === null) copyFileSync(path, copy);
    else writeFileSync(copy, changed);
  }

  /** Returns the text with added members, or null if no member can be added. */
  withMembers(text, name) {
    if (/^\s*[[{]/.test(text)) return this.inDocument(text, name) ?? this.inLines(text, name);
    if (extname(name) === ".csv") return this.inTable(text, name);
    if (/\.mdc?$/.test(name)) return this.inFrontmatter(text, name);
    return null;
  }

  inDocument(text, name, inList = false) {
    let value;
    try {
      value = JSON.parse(text);
    } catch {
      return null;
    }
    this.addTo(value, inList, inList ? name : `${name}#`);
    return JSON.stringify(value);
  }

  inLines(text, name) {
    const lines = text.split("\n");
    return lines.map((line, i) => this.inDocument(line, `${name}#line ${i + 1}`, true) ?? line).join("\n");
  }

  inFrontmatter(text, name) {
    const [first, ...others] = text.split("\n");
    if (first.trim() !== "---") return null;
    return [first, `${MEMBER}: ${this.value(name)}`, ...others].join("\n");
  }

  inTable(text, name) {
    const [head, ...rows] = text.split(/\r?\n/);
    if (text.includes('\n"') || head === "") return null;
    return [`${head},${MEMBER}`, ...rows.map((row) => (row === "" ? row : `${row},${this.value(name)}`))].join("\n");
  }

  /** Adds a member to every object in `value` that is inside a list. */
  addTo(value, inList, place) {
    if (value === null || typeof value !== "object") return;
    const isList = Array.isArray(value);
    for (const [key, inner] of Object.entries(value)) this.addTo(inner, inList || isList, `${place}/${key}`);
    if (inList && !isList) value[MEMBER] = this.value(place);
  }

  value(place) {
    const value = `survives-${this.format}-${this.places.size}-`;
    this.places.set(value, place);
    return value;
  }
}

await runAlone(import.meta.url, testUnknownFields);
