// Limits the size of the types, files and crates in Rust. `node tests/tools/checks/shape.mjs` prints the largest.
import { pathToFileURL } from "node:url";
import { filesOfClone } from "./files.mjs";
import { crateRoots, readOurs } from "./modules.mjs";
import { allModules, definingModules, moduleTree } from "./rust_modules.mjs";
import { offsetAfterBracket, scan, testRanges } from "./rust_source.mjs";

/**
 * Maximum number of methods of a type, maximum median of lines per file, maximum number of lines of a crate without
 * tests.
 */
const LIMITS = { methods: 40, median: 150, lines: 30_000 };

/** Methods of each type over all its `impl Type` blocks in a crate: a map from the type with its module to a count. */
function methodsOf(top) {
  const counts = new Map();
  for (const module of allModules(top))
    for (const [path, count] of implsIn(module.code)) {
      const [definingModule] = definingModules(module, path);
      const type = `${(definingModule ?? module).path}::${path.at(-1)}`;
      counts.set(type, (counts.get(type) ?? 0) + count);
    }
  return counts;
}

/** [path of the type, number of methods] of each inherent `impl` block. */
function implsIn(compiled) {
  const impls = [];
  for (const match of compiled.matchAll(/(?:^|[\n;{}])\s*(?:unsafe\s+)?impl\b/g)) {
    const head = compiled.slice(match.index + match[0].length).match(/^[^{;]*/)[0];
    const at = match.index + match[0].length + head.length;
    if (compiled[at] !== "{" || / for\s/.test(head.replaceAll(/for\s*</g, ""))) continue;
    const body = compiled.slice(at + 1, offsetAfterBracket(compiled, at) - 1);
    impls.push([typeOf(head), functionsAtTop(body)]);
  }
  return impls;
}

/** The path of the type in an `impl` head: `<'a, T: Into<X>> a::Reader<'a, T> where …` gives `["a", "Reader"]`. */
function typeOf(head) {
  let text = head.trim();
  if (text.startsWith("<")) {
    let [at, depth] = [0, 0];
    do {
      if (text[at] === "<") depth += 1;
      if (text[at] === ">" && text[at - 1] !== "-") depth -= 1;
      at += 1;
    } while (depth > 0 && at < text.length);
    text = text.slice(at);
  }
  return (/^\s*(?:\w+::)*\w+/.exec(text)?.[0] ?? text).trim().split("::");
}

function functionsAtTop(body) {
  let [count, at] = [0, 0];
  while (at < body.length) {
    const braceAt = body.indexOf("{", at);
    count += (body.slice(at, braceAt < 0 ? undefined : braceAt).match(/\bfn\s+\w+/g) ?? []).length;
    if (braceAt < 0) break;
    at = offsetAfterBracket(body, braceAt);
  }
  return count;
}

/** The median; for an even number of values, the mean of the two in the middle. */
export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half] : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
}

/** The number of lines of a source (`lines`), and the number without those that only tests use (`shipped`). */
export function linesOf(source) {
  const { code } = scan(source);
  const lines = source.split("\n").length - 1;
  const tests = testRanges(code).reduce((sum, [a, b]) => sum + source.slice(a, b).split("\n").length, 0);
  return { lines, shipped: lines - tests };
}

const TEST_FILE_PATTERN = /\/tests?(?:\/|\.rs$)|_tests\.rs$|\/testing\.rs$/;
const CRATE_PATTERN = /^src-tauri\/(?:crates\/([^/]+)|src)\/(?:src\/)?/;

/** [file, source] of every Rust file of ours. */
function readRustFiles() {
  return filesOfClone()
    .filter((file) => file.endsWith(".rs"))
    .map((file) => [file, readOurs(file)]);
}

const crates = () => crateRoots().map(([name, file]) => [name, moduleTree(file, readOurs)]);

const crateOf = (file) => (CRATE_PATTERN.test(file) ? (CRATE_PATTERN.exec(file)[1] ?? "mementory-app") : undefined);

/**
 * Measures these sources, given as [file, source], and crates, given as [name, module tree]. Returns `methods` as a
 * list of [type, count], `median` as a number, and `lines` as a list of [crate, count]. Both lists begin with the
 * largest.
 */
export function shapeOf(sources, crates) {
  const lines = new Map();
  for (const [file, source] of sources) {
    const crate = crateOf(file);
    if (crate && !TEST_FILE_PATTERN.test(file)) lines.set(crate, (lines.get(crate) ?? 0) + linesOf(source).shipped);
  }
  const methods = crates.flatMap(([name, top]) =>
    [...methodsOf(top)].map(([type, count]) => [type.replace(/^crate/, name), count]),
  );
  const sorted = (counts) => [...counts].sort((a, b) => b[1] - a[1]);
  return {
    methods: sorted(methods),
    median: median(sources.map(([, source]) => linesOf(source).lines)),
    lines: sorted(lines),
  };
}

/** Problems for the counts of `shapeOf` that are over their limit. */
export function tooLarge({ methods, median: middle, lines }) {
  return [
    ...methods
      .filter(([, count]) => count > LIMITS.methods)
      .map(([type, count]) => `${type} has ${count} methods, at most ${LIMITS.methods} are allowed`),
    ...(middle > LIMITS.median ? [`half of the Rust files have more than ${middle} lines, not ${LIMITS.median}`] : []),
    ...lines
      .filter(([, count]) => count > LIMITS.lines)
      .map(([crate, count]) => `${crate} has ${count} lines without tests, at most ${LIMITS.lines} are allowed`),
  ];
}

/** Problems for types, files and crates of ours that are too large. */
export function shape() {
  return tooLarge(shapeOf(readRustFiles(), crates()));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const measured = shapeOf(readRustFiles(), crates());
  for (const [type, count] of measured.methods.slice(0, 10)) console.log(`${count} methods: ${type}`);
  console.log(`median of the Rust files: ${measured.median} lines`);
  for (const [crate, count] of measured.lines) console.log(`${crate}: ${count} lines without tests`);
  tooLarge(measured).forEach((problem) => console.log(problem));
}
