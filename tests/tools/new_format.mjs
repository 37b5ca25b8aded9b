// `npm run new-format -- <id> [--name "Name for people"] [--files | --engines | --agents | --interchange | --archives]`:
// makes the folder of a new format with a small reader that works, its fixtures and its fuzz target, and adds it to the
// list of its crate. The crate is mementory-formats-vendor, or the one that the option names, for example
// mementory-formats-engines. With --interchange and --archives it also makes a writer and a validator. The reader reads
// an invented JSON shape, which has to be replaced by the real one.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { FAMILIES, FAMILIES_WITH_WRITER, crateOf, filesToWrite } from "./new_format/plan.mjs";
import { parseOptions } from "./options.mjs";
import { ROOT, WORKSPACE } from "./places.mjs";
import { Stop, main, quiet } from "./sh.mjs";

const USAGE_TEXT =
  'npm run new-format -- <id> [--name "Name for people"] [--files | --engines | --agents | --interchange | --archives]\n\nThe id: a-z, 0-9 and _.';

await main(async () => {
  const parsed = parseOptions(USAGE_TEXT, {
    allowPositionals: true,
    options: {
      name: { type: "string" },
      ...Object.fromEntries(FAMILIES.map((family) => [family, { type: "boolean", default: false }])),
    },
  });
  if (parsed === undefined) return 0;
  const { values, positionals } = parsed;
  const [id] = positionals;
  const families = FAMILIES.filter((family) => values[family]);
  const isWrong = positionals.length !== 1 || families.length > 1;
  if (isWrong || !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(id)) throw new Stop(USAGE_TEXT);
  const [family = "vendor"] = families;
  const crate = crateOf(family);
  const hasWriter = FAMILIES_WITH_WRITER.includes(family);
  const plan = filesToWrite(id, values.name ?? titleOf(id), family);
  const existingFile = Object.keys(plan.created).find((file) => existsSync(join(ROOT, file)));
  if (existingFile) throw new Stop(`${existingFile} exists already: nothing was changed.`);

  for (const [file, text] of Object.entries({ ...plan.created, ...plan.changed })) {
    mkdirSync(dirname(join(ROOT, file)), { recursive: true });
    writeFileSync(join(ROOT, file), file.endsWith(".rs") ? formatRust(text) : text);
    console.log(`${file in plan.changed ? "changed" : "created"} ${file}`);
  }
  console.log(nextStepsText(id, crate, hasWriter));
  return 0;
});

/** Applies rustfmt, because where lines have to break depends on the length of the format's name. */
function formatRust(source) {
  const args = ["--edition", "2024", "--config-path", WORKSPACE];
  const { code, stdout, stderr } = quiet("rustfmt", args, { input: source });
  if (code !== 0) throw new Stop(`rustfmt failed: ${stderr}`);
  return stdout;
}

function titleOf(id) {
  return id.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase());
}

function nextStepsText(id, crate, hasWriter) {
  const steps = [
    `replace the invented shape in ${crate}/src/${id}: wire.rs (delete it if the source has no fixed types), detect.rs, read.rs${hasWriter ? ", write.rs, validate.rs" : ""}`,
    "declare in mod.rs what the format can do: tests and the window follow it",
    `change the cases in fixtures/${id}, and add others: hostile names, too deep, too large`,
    `write ${crate}/src/${id}/README.md: source, mapping, decisions, gaps`,
    "add the format to a source in ui/src/lib/text/guides/sources.json, or add a source with its text in every language",
    "npm run bindings, which writes the window's list of formats and README's table",
    `npm run fuzz -- ${id}`,
    "add a line to CHANGELOG.md",
    "npm run quick while you work, npm test at the end",
  ];
  if (hasWriter) steps.splice(4, 0, `if its JSON Schema may be copied, put it into schemas/${id} with its licence`);
  return `\nStill to do:\n${steps.map((step, i) => `${i + 1}. ${step}`).join("\n")}`;
}
