// `npm run new-format -- <id> [--name "Name for people"] [--files | --engines | --agents | --interchange | --archives]`:
// makes the folder of a new format with a small reader that works, its fixture and its fuzz target, and adds it to the
// list of its crate. The crate is mementory-formats-vendor, or the one that the option names, for example
// mementory-formats-engines. With --interchange and --archives it also makes a writer and a validator. The reader reads
// an invented JSON shape, which has to be replaced by the real one.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT, WORKSPACE } from "./places.mjs";
import { Stop, main, quiet } from "./sh.mjs";

const TEMPLATE_FOLDER = new URL("new_format/", import.meta.url);
const USAGE_TEXT =
  'npm run new-format -- <id> [--name "Name for people"] [--files | --engines | --agents | --interchange | --archives]\n\nThe id: a-z, 0-9 and _.';
/** The crates of formats besides that of the vendors, each chosen with an option. */
const FAMILIES = ["files", "engines", "agents", "interchange", "archives"];
/** Those whose formats are also written and validated. */
const FAMILIES_WITH_WRITER = ["interchange", "archives"];
const WRITER_FILES = ["write.rs", "validate.rs"];

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      name: { type: "string" },
      ...Object.fromEntries(FAMILIES.map((family) => [family, { type: "boolean", default: false }])),
    },
  });
  const [id] = positionals;
  const families = FAMILIES.filter((family) => values[family]);
  const isWrong = positionals.length !== 1 || families.length > 1;
  if (isWrong || !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(id)) throw new Stop(USAGE_TEXT);
  const crate = `src-tauri/crates/mementory-formats-${families[0] ?? "vendor"}`;
  const hasWriter = FAMILIES_WITH_WRITER.includes(families[0]);
  const plan = filesToWrite(id, values.name ?? titleOf(id), crate, hasWriter);
  const present = Object.keys(plan.created).find((file) => existsSync(join(ROOT, file)));
  if (present) throw new Stop(`${present} exists already: nothing was changed.`);

  for (const [file, text] of Object.entries({ ...plan.created, ...plan.changed })) {
    mkdirSync(dirname(join(ROOT, file)), { recursive: true });
    writeFileSync(join(ROOT, file), file.endsWith(".rs") ? formatRust(text) : text);
    console.log(`${file in plan.changed ? "changed" : "created"} ${file}`);
  }
  console.log(nextStepsText(id, crate, hasWriter));
  return 0;
});

/** Texts of the files to create and to change. */
function filesToWrite(id, name, crate, hasWriter) {
  const type = id.replaceAll(/(?:^|_)([a-z0-9])/g, (_, letter) => letter.toUpperCase());
  // In Rust templates, a line that begins with `+` is only for formats with a writer, and a line that begins with `-`
  // only for formats that can only be read.
  const [wanted, other] = hasWriter ? ["+", "-"] : ["-", "+"];
  const chosen = (line) => (line.startsWith(wanted) ? line.slice(1) : line);
  const fill = (template) => {
    const source = readFileSync(new URL(`${template}.template`, TEMPLATE_FOLDER), "utf8");
    const lines = source.split("\n").filter((line) => !line.startsWith(other));
    return (template.endsWith(".rs") ? lines.map(chosen) : source.split("\n"))
      .join("\n")
      .replaceAll("{{id}}", id)
      .replaceAll("{{Type}}", type)
      .replaceAll("{{name}}", name);
  };
  const sources = readdirSync(TEMPLATE_FOLDER)
    .filter((file) => file.endsWith(".rs.template"))
    .map((file) => file.replace(".template", ""))
    .filter((file) => hasWriter || !WRITER_FILES.includes(file));
  const folder = `${crate}/src/${id}`;
  const created = Object.fromEntries([...sources, "README.md"].map((file) => [`${folder}/${file}`, fill(file)]));
  for (const file of ["case.json", "input.json"]) created[`fixtures/${id}/minimal/${file}`] = fill(`fixture_${file}`);
  created[`src-tauri/fuzz/fuzz_targets/${id}.rs`] =
    `#![no_main]\nlibfuzzer_sys::fuzz_target!(|data: &[u8]| mementory_fuzz::run("${id}", data));\n`;
  const list = `${crate}/src/lib.rs`;
  const targets = "src-tauri/fuzz/Cargo.toml";
  return {
    created,
    changed: {
      [list]: addFormat(readOrStop(list), id, type, list),
      [targets]: `${readOrStop(targets).trimEnd()}\n\n[[bin]]\nname = "${id}"\npath = "fuzz_targets/${id}.rs"\ntest = false\ndoc = false\nbench = false\n`,
    },
  };
}

function readOrStop(file) {
  if (!existsSync(join(ROOT, file))) throw new Stop(`${file} is missing: has the crate moved? Nothing was changed.`);
  return readFileSync(join(ROOT, file), "utf8");
}

/** `lib.rs` with the module in its list of modules, and the format in `FORMATS`. */
function addFormat(source, id, type, file) {
  const modules = [...source.matchAll(/^pub mod (\w+);\n/gm)];
  const last = modules.findLast(([, name]) => name < id);
  const list = /^pub (?:const|static) FORMATS: [^=]*=\s*&\[([^\]]*)\];/m.exec(source);
  if (modules.length === 0 || !list)
    throw new Stop(`${file} has no list FORMATS to add a line to. Nothing was changed.`);
  const modulesAt = last ? last.index + last[0].length : modules[0].index;
  // Insert the new format before the last one of the list, because the last one may accept any text.
  const formats = list[1].split(",").filter((format) => format.trim() !== "");
  formats.splice(-1, 0, `\n    &${id}::${type}`);
  const withFormat = source.replace(list[1], () => `${formats.join(",")},\n`);
  return `${withFormat.slice(0, modulesAt)}pub mod ${id};\n${withFormat.slice(modulesAt)}`;
}

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
    `add cases to fixtures/${id}: truncated, wrong types, hostile names, too deep, too large`,
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
