// Checks what `npm run new-format` would make in each family of formats, without compiling it: every crate that the code
// uses is a dependency of the family's crate, every module that it uses is in that crate, and every case has the shape
// that the tests read. Also checks that the command prints its usage.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FAMILIES, crateOf, filesToWrite } from "../new_format/plan.mjs";
import { ROOT } from "../places.mjs";
import { quiet } from "../sh.mjs";

const ID = "an_example";
/** First segments of paths that do not name a crate in Cargo.toml. */
const BUILT_IN = ["std", "core", "alloc", "crate", "super", "self", "str", "u8", "u32", "u64", "usize", "i64", "f64"];

export const newFormats = () => [...commandProblems(), ...["vendor", ...FAMILIES].flatMap(familyProblems)];

function familyProblems(family) {
  const { created } = filesToWrite(ID, "An example", family);
  const files = Object.entries(created);
  return [
    ...files
      .filter(([file]) => file.startsWith(`${crateOf(family)}/`) && file.endsWith(".rs"))
      .flatMap(codeProblems(family)),
    ...files.filter(([file]) => file.endsWith("case.json")).flatMap(([file, text]) => caseProblems(family, file, text)),
  ];
}

/** `--help` prints the usage and succeeds; an unknown option prints it after the reason and fails. */
function commandProblems() {
  const run = (option) => quiet(process.execPath, [join(ROOT, "tests/tools/new_format.mjs"), option]);
  const [help, unknown] = [run("--help"), run("--unknown")];
  return [
    ...(help.code === 0 && help.stdout.startsWith("npm run new-format") ? [] : ["new-format --help prints no usage"]),
    ...(unknown.code === 1 && /--unknown[^]*npm run new-format/.test(unknown.stderr) && !/^ +at /m.test(unknown.stderr)
      ? []
      : ["new-format does not answer an unknown option with its usage"]),
  ];
}

function codeProblems(family) {
  const manifest = readFileSync(join(ROOT, crateOf(family), "Cargo.toml"), "utf8");
  const crates = dependencies(manifest, "dependencies");
  const cratesOfTests = [...crates, ...dependencies(manifest, "dev-dependencies")];
  const lib = readFileSync(join(ROOT, crateOf(family), "src/lib.rs"), "utf8");
  return ([file, text]) => {
    const code = text.replaceAll(/\/\/.*$|^\s*#!?\[.*\]$/gm, "");
    const knownCrates = file.endsWith("/tests.rs") ? cratesOfTests : crates;
    const foreignCrates = usedCrates(code).filter((name) => !knownCrates.includes(name));
    const modules = [...code.matchAll(/\bcrate::([a-z]\w*)/g)].map(([, name]) => name);
    const absentModules = modules.filter((name) => !new RegExp(`\\bmod ${name};`).test(lib));
    return [
      ...foreignCrates.map(
        (name) => `new-format, family ${family}: ${file} uses ${name}, which its Cargo.toml does not have`,
      ),
      ...absentModules.map((name) => `new-format, family ${family}: ${file} uses crate::${name}, which does not exist`),
    ];
  };
}

/** Names in a section of a Cargo.toml, as they are written in Rust. */
function dependencies(manifest, section) {
  const text = manifest.split(/^\[/m).find((part) => part.startsWith(`${section}]`)) ?? "";
  return [...text.matchAll(/^([\w-]+)\s*=/gm)].map(([, name]) => name.replaceAll("-", "_"));
}

/** The first segments of all paths that are neither modules nor imported names. */
function usedCrates(code) {
  const uses = [...code.matchAll(/^\s*(?:pub )?use ([^;]+);/gm)].map(([, path]) => path);
  const imported = uses.flatMap((path) => path.slice(path.indexOf("::")).match(/\w+/g) ?? []);
  const modules = [...code.matchAll(/\bmod (\w+);/g)].map(([, name]) => name);
  const roots = uses.map((path) => path.split("::")[0].trim());
  const inlineRoots = [...code.matchAll(/(?<![\w:.])([a-z]\w*)::(?!<)/g)]
    .map(([, name]) => name)
    .filter((name) => !imported.includes(name) && !modules.includes(name));
  return [...new Set([...roots, ...inlineRoots])].filter((name) => !BUILT_IN.includes(name));
}

/** A case says either with which code its input is refused, or how many records of each kind it has. */
function caseProblems(family, file, text) {
  const { refused, kinds, about } = JSON.parse(text);
  const isRead = refused === undefined && typeof kinds === "object";
  const isRefused = typeof refused === "string" && kinds === undefined;
  if (about && (isRead || isRefused)) return [];
  return [`new-format, family ${family}: ${file} needs "about", and either "kinds" or "refused"`];
}
