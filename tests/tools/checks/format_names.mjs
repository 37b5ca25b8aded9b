// Checks that no format is named outside the format crates. Other code must ask a format for its capabilities instead,
// so that a new format can be added in one folder. `node tests/tools/checks/format_names.mjs` prints the problems.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../places.mjs";
import { crateRoots, readOurs } from "./modules.mjs";
import { allModules, moduleTree } from "./rust_modules.mjs";
import { lineAt, scan, testRanges, blankRanges } from "./rust_source.mjs";

const makeExceptions = (file, names, reason) => names.map((name) => ({ file, name, reason }));

/**
 * Places where a format may be named, as {file, name, reason}. A `file` that ends in `/` is a folder. The name `*`
 * represents any format.
 */
const EXCEPTIONS = [
  {
    file: "src-tauri/crates/mementory-store/src/record_columns.rs",
    name: "pam",
    reason:
      "stored origin of a record: only there does the field `access` say whether it is exportable; the store knows no formats",
  },
  ...makeExceptions(
    "src-tauri/crates/mementory-clients/src/",
    ["*"],
    "programs whose configuration is edited; some formats have the same names",
  ),
  ...makeExceptions(
    "ui/src/lib/logic/assistants.ts",
    ["*"],
    "labels, colours and icons of assistants and brands, also of those that no reader exists for",
  ),
  ...makeExceptions(
    "ui/src/features/home/ExportWays.svelte",
    ["chatgpt", "claude", "gemini"],
    "instructions for single assistants, each with its own text",
  ),
];

const FORMAT_CRATE_PATTERN = /^src-tauri\/crates\/mementory-formats?(?:-[a-z]+)?\//;
const TEST_FILE_PATTERN =
  /(?:^|\/)tests?(?:\/|\.rs$)|_tests\.rs$|^src-tauri\/crates\/[^/]*testkit\/|^src-tauri\/fuzz\//;
const UNCHECKED_PAGE_PATTERN = /\/ipc\/(?:bindings|formats)\.ts$|\/mock\/|\/text\/[^/]*\.json$/;

/**
 * The ids and names of formats that these sources declare; each source is given as [file, source]. The id or name is
 * the string that `fn id` or `fn name` returns. If `fn id` returns a constant, the id is the name of the format's
 * folder.
 */
export function declaredNames(sources) {
  const DECLARATION_PATTERN = /fn (id|name)\(&self\)[^{;]*\{\s*(?:"([^"]+)"|([\w:.]+))\s*\}/g;
  const names = sources.flatMap(([file, source]) =>
    [...source.matchAll(DECLARATION_PATTERN)].map(
      ([, what, text]) => text ?? (what === "id" ? file.split("/").at(-2) : undefined),
    ),
  );
  return new Set(names.filter(Boolean));
}

/** Matches functions of Rust's module `std::mem`, because `mem` is also the id of a format. */
const STD_MEM_PATTERN =
  /^mem::(?:take|replace|swap|drop|forget|size_of|size_of_val|align_of|discriminant|ManuallyDrop)\b/;

/**
 * Places in Rust source that name one of `names`: as a whole string, a segment of a path, or a part of an identifier.
 */
export function namedInRust(source, names) {
  const { code, strings } = scan(source);
  const ranges = testRanges(code);
  const isOutsideTests = ({ start }) => !ranges.some(([from, to]) => from <= start && start < to);
  const foundStrings = strings.filter(isOutsideTests).filter(({ text }) => names.has(text));
  const codeWithoutTests = blankRanges(code, ranges);
  // `mem` is left out, because as part of an identifier it is short for memory.
  const longNames = [...names].filter((name) => /^\w+$/.test(name) && name !== "mem");
  const namePattern = new RegExp(`^(?:.*_)?(?:${longNames.join("|")})(?:_.*)?$`);
  for (const match of codeWithoutTests.matchAll(/[A-Za-z_]\w*/g)) {
    const [text] = match;
    const start = match.index;
    const before = codeWithoutTests.slice(Math.max(0, start - 24), start);
    const after = codeWithoutTests.slice(start, start + 24);
    const imported = USE_PATTERN.exec(codeWithoutTests.slice(codeWithoutTests.lastIndexOf(";", start) + 1, start))?.[1];
    if (names.has(text)) {
      const isInPath = /::\s*$/.test(before) || /^\w+\s*::/.test(after) || imported !== undefined;
      const isStandard =
        /^(?:std|core)$/.test(imported) || /\b(?:std|core)::$/.test(before) || STD_MEM_PATTERN.test(after);
      // `mem` counts only in a path, and not if the path is that of a module in Rust's standard library.
      if (text !== "mem" || (isInPath && !isStandard)) foundStrings.push({ start, text });
    } else if (namePattern.test(toSnakeCase(text))) foundStrings.push({ start, text });
  }
  return foundStrings
    .sort((a, b) => a.start - b.start)
    .map(({ start, text }) => ({ line: lineAt(source, start), text }));
}

/** The beginning of a `use` declaration; captures its crate. */
const USE_PATTERN = /^(?:[^;]*[\s}])?use\s+(\w+)[^;]*$/;
const toSnakeCase = (name) => name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toLowerCase();

/** Places in a page's source with a string that equals one of `names`. */
export function namedInPages(source, names) {
  const blanked = source.replaceAll(/\/\*[\s\S]*?\*\/|<!--[\s\S]*?-->|(?<=^|\s)\/\/[^\n]*/g, (text) =>
    text.replaceAll(/[^\n]/g, " "),
  );
  return [...blanked.matchAll(/(["'`])([^"'`\n]{1,40})\1/g)]
    .filter(([, , text]) => names.has(text))
    .map((match) => ({ line: lineAt(source, match.index), text: match[2] }));
}

const filesBelow = (folder, ending) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((name) => ending.test(name))
    .sort();

/** Problems: each place that no exception allows, and each exception that is not needed. */
function problemsOf(places, exceptions, about) {
  const usedExceptions = new Set();
  const isAllowed = ({ file, text }) => {
    const found = exceptions.filter(
      (each) => ["*", text].includes(each.name) && (each.file === file || isBelow(file, each.file)),
    );
    found.forEach((each) => usedExceptions.add(each));
    return found.length > 0;
  };
  const unexplainedPlaces = places.filter((place) => !isAllowed(place));
  return [
    ...unexplainedPlaces.map(({ file, line, text }) => `${file}:${line}: ${about} names a format: ${text}`),
    ...exceptions
      .filter((each) => !usedExceptions.has(each))
      .map(({ file, name }) => `${file}: ${name} needs no exception`),
  ];
}

const isBelow = (file, folder) => folder.endsWith("/") && file.startsWith(folder);
const isInUi = ({ file }) => file.startsWith("ui/");

function declaredInCrates(rust) {
  const files = rust.filter((file) => FORMAT_CRATE_PATTERN.test(file) && !TEST_FILE_PATTERN.test(file));
  return declaredNames(files.map((file) => [file, readOurs(file)]));
}

/** Problems: places in Rust, outside the format crates, that name a format. */
export function formatsNamedInRust() {
  const trees = crateRoots().map(([, file]) => moduleTree(file, readOurs));
  // The module trees do not contain files that are compiled only for tests.
  const rust = [...new Set(trees.flatMap(allModules).map(({ file }) => file))];
  const names = declaredInCrates(rust);
  if (names.size < 10) return [`only ${names.size} names of formats were found in the format crates`];
  const places = rust
    .filter((file) => !FORMAT_CRATE_PATTERN.test(file) && !TEST_FILE_PATTERN.test(file))
    .flatMap((file) => namedInRust(readOurs(file), names).map((place) => ({ file, ...place })));
  return problemsOf(
    places,
    EXCEPTIONS.filter((each) => !isInUi(each)),
    "the code",
  );
}

/** Problems: places in the pages that name a format. */
export function formatsNamedInPages() {
  const names = declaredInCrates(filesBelow("src-tauri/crates", /\.rs$/));
  const places = filesBelow("ui/src", /\.(?:ts|svelte)$/)
    .filter((file) => !UNCHECKED_PAGE_PATTERN.test(file))
    .flatMap((file) => namedInPages(readOurs(file), names).map((place) => ({ file, ...place })));
  return problemsOf(places, EXCEPTIONS.filter(isInUi), "the page");
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const problems = [...formatsNamedInRust(), ...formatsNamedInPages()];
  problems.forEach((problem) => console.log(problem));
  console.log(`${problems.length} places`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
