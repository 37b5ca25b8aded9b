// Checks that the modules of a crate do not use each other in cycles. It is then clear which modules a change may
// break. `node tests/tools/checks/modules.mjs --graph <crate>` prints which module uses which.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT, WORKSPACE } from "../places.mjs";
import { allModules, moduleTree, usesIn } from "./rust_modules.mjs";

/**
 * The uses between sibling modules, at every depth of the module tree. Returns a list of {parent, children, edges},
 * where `edges` is a map from `a -> b` to {from, to, count, example}. Uses between a parent and its children are
 * allowed, because that is how Rust hides details.
 */
export function siblingGraph(top) {
  const graph = new Map(
    allModules(top)
      .filter(({ children }) => children.size > 0)
      .map((module) => [module, { parent: module.path, children: [...module.children.keys()], edges: new Map() }]),
  );
  for (const { from, to, file, line, path } of usesIn(top)) {
    const [above, below] = [lineage(from), lineage(to)];
    let depth = 0;
    while (above[depth] && above[depth] === below[depth]) depth += 1;
    if (!above[depth] || !below[depth]) continue;
    const [a, b] = [above[depth], below[depth]].map((module) => module.path.split("::").at(-1));
    const { edges } = graph.get(above[depth - 1]);
    const edge = edges.get(`${a} -> ${b}`) ?? { from: a, to: b, count: 0, example: `${file}:${line}: ${path}` };
    edge.count += 1;
    edges.set(`${a} -> ${b}`, edge);
  }
  return [...graph.values()];
}

/** The module and its ancestors, the crate first. */
const lineage = (module) => (module ? [...lineage(module.parent), module] : []);

/** Groups of modules that all reach each other (Tarjan's strongly connected components of two or more). */
export function cyclesOf({ children, edges }) {
  const next = new Map(children.map((name) => [name, []]));
  for (const { from, to } of edges.values()) next.get(from).push(to);
  const [index, low, stack, found] = [new Map(), new Map(), [], []];
  const visit = (name) => {
    index.set(name, index.size);
    low.set(name, index.get(name));
    stack.push(name);
    for (const other of next.get(name)) {
      if (!index.has(other)) visit(other);
      if (stack.includes(other)) low.set(name, Math.min(low.get(name), low.get(other)));
    }
    if (low.get(name) !== index.get(name)) return;
    const group = stack.splice(stack.indexOf(name));
    if (group.length > 1) found.push(group.sort());
  };
  for (const name of children) if (!index.has(name)) visit(name);
  return found;
}

/** Describes the cycles below one crate root as problems: the modules, then one use as an example for each edge. */
function cyclesBelow(name, top) {
  return siblingGraph(top).flatMap((level) =>
    cyclesOf(level).map((group) => {
      const edges = [...level.edges.values()].filter(({ from, to }) => group.includes(from) && group.includes(to));
      // The edges with the fewest uses first: they are the cheapest to remove.
      edges.sort((a, b) => a.count - b.count);
      const lines = edges.map(({ from, to, count, example }) => `    ${from} -> ${to} (${count}): ${example}`);
      const where = level.parent.replace(/^crate/, name);
      return [`${where}: ${group.length} modules use each other in a cycle: ${group.join(", ")}`, ...lines].join("\n");
    }),
  );
}

/** Root files of every crate of ours, relative to the clone: [name, file]. */
export function crateRoots() {
  const crates = readdirSync(join(WORKSPACE, "crates")).map((name) => [name, `src-tauri/crates/${name}/src/`]);
  return [...crates, ["mementory-app", "src-tauri/src/"]].flatMap(([name, folder]) => {
    const programs = existsSync(join(ROOT, folder, "bin")) ? readdirSync(join(ROOT, folder, "bin")) : [];
    return ["lib.rs", "main.rs", ...programs.filter((file) => file.endsWith(".rs")).map((file) => `bin/${file}`)]
      .map((file) => [name, `${folder}${file}`])
      .filter(([, file]) => existsSync(join(ROOT, file)));
  });
}

const textCache = new Map();

/** Text of a file of the clone, read once; undefined if there is none. */
export function readOurs(file) {
  if (!textCache.has(file)) {
    const path = join(ROOT, file);
    textCache.set(file, existsSync(path) ? readFileSync(path, "utf8") : undefined);
  }
  return textCache.get(file);
}

/** Problems for the module cycles of all our crates. */
export function moduleCycles() {
  return crateRoots().flatMap(([name, file]) => cyclesBelow(name, moduleTree(file, readOurs)));
}

function printGraph(wanted) {
  for (const [name, file] of crateRoots().filter(([each]) => each === wanted)) {
    for (const level of siblingGraph(moduleTree(file, readOurs))) {
      console.log(`${level.parent.replace(/^crate/, name)}  (${level.children.length} modules, ${file})`);
      for (const { from, to, count, example } of [...level.edges.values()].sort((a, b) => (a.from < b.from ? -1 : 1)))
        console.log(`  ${from} -> ${to} (${count}): ${example}`);
    }
    for (const problem of cyclesBelow(name, moduleTree(file, readOurs))) console.log(problem);
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const at = process.argv.indexOf("--graph");
  const problems = at < 0 ? moduleCycles() : printGraph(process.argv[at + 1]);
  problems?.forEach((problem) => console.log(problem));
  if (problems) console.log(`${problems.length} cycles`);
  process.exitCode = problems?.length > 0 ? 1 : 0;
}
