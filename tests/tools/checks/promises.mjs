// Checks SECURITY.md, which names the tests of each promise. Every test that it names must exist. In a table with the
// column "test", every row must name a test, say "not tested", or say why the construction of the program keeps the
// promise.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../places.mjs";

/**
 * Matches a reference in backticks: a path with a folder and a file extension, a name after `::`, or both. A name
 * without a path belongs to the last path before it.
 */
const REFERENCE_PATTERN = /`(?=[^`]*(?:\/|::))([\w.-]+\/[\w./-]+\.\w+)?(?:::(\w+))?`/g;
/** A path that does not start at the root starts at a crate, whose name is given without this prefix. */
const CRATE_PREFIX = "src-tauri/crates/mementory-";

const readText = (path) => (existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), "utf8") : undefined);

/** Whether this source has a test (Rust) or a function or method (JavaScript) of this name. */
function hasTest(path, source, name) {
  const pattern = path.endsWith(".rs") ? `#\\[test\\]\\s+(?:#\\[[^\\n]*\\n\\s*)*fn ${name}\\(` : `\\b${name}\\(`;
  return new RegExp(pattern).test(source);
}

/** Problems of the document `text`, one line each; `read` returns the text of a file, or undefined. */
export function promiseProblems(text, read) {
  const problems = [];
  let [path, source, inTable] = [undefined, undefined, false];
  for (const [i, line] of text.split("\n").entries()) {
    const problem = (what) => problems.push(`SECURITY.md:${i + 1}: ${what}`);
    const cells = line.startsWith("|") ? line.split("|").map((cell) => cell.trim()) : undefined;
    const isHead = cells?.at(-2) === "test";
    inTable = isHead || (inTable && cells !== undefined);
    for (const [reference, file, name] of line.matchAll(REFERENCE_PATTERN)) {
      if (file) {
        path = [file, CRATE_PREFIX + file].find((each) => read(each) !== undefined);
        source = path && read(path);
      }
      if (!path) problem(`there is no ${reference}`);
      else if (name && !hasTest(path, source, name)) problem(`${path} has no test ${name}`);
    }
    const last = cells?.at(-2) ?? "";
    const isAnswered =
      isHead || /^-+$/.test(last) || /not tested|by construction/i.test(last) || last.search(REFERENCE_PATTERN) >= 0;
    if (inTable && !isAnswered) problem("a promise without a test");
  }
  return problems;
}

/** Problems of SECURITY.md. */
export function promisesOfSecurity() {
  return promiseProblems(readText("SECURITY.md"), readText);
}
