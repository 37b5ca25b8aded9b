// The files of a new format, made from the templates in this folder. Nothing is written here.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../places.mjs";
import { Stop } from "../sh.mjs";

const TEMPLATE_FOLDER = new URL("./", import.meta.url);
/** Families of formats besides `vendor`. Each has an option of `npm run new-format`. */
export const FAMILIES = ["files", "engines", "agents", "interchange", "archives"];
/** Families whose formats are also written and validated. */
export const FAMILIES_WITH_WRITER = ["interchange", "archives"];
const WRITER_FILES = ["write.rs", "validate.rs"];
/** The fixture cases that a new format gets. */
const FIXTURES = ["full", "truncated", "mangled", "unknown_version"];

/** The folder of the crate of a family. */
export const crateOf = (family) => `src-tauri/crates/mementory-formats-${family}`;

/** Texts of the files to create and to change. */
export function filesToWrite(id, name, family) {
  const crate = crateOf(family);
  const hasWriter = FAMILIES_WITH_WRITER.includes(family);
  const type = id.replaceAll(/(?:^|_)([a-z0-9])/g, (_, letter) => letter.toUpperCase());
  // In Rust templates, a line that begins with `+` is only for formats with a writer, and a line that begins with `-`
  // only for formats that can only be read.
  const [wanted, other] = hasWriter ? ["+", "-"] : ["-", "+"];
  const chosenLine = (line) => (line.startsWith(wanted) ? line.slice(1) : line);
  const fill = (template) => {
    const source = readFileSync(new URL(`${template}.template`, TEMPLATE_FOLDER), "utf8");
    const lines = source.split("\n").filter((line) => !line.startsWith(other));
    return (template.endsWith(".rs") ? lines.map(chosenLine) : source.split("\n"))
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
  for (const name of FIXTURES)
    for (const file of ["case.json", "input.json"])
      created[`fixtures/${id}/${name}/${file}`] = fill(`fixtures/${name}/${file}`);
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
