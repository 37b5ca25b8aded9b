// Finds the modules of a crate, and what they use of each other, in the text of its source. It reads `use` trees and
// the paths in the code, and follows re-exports to the module that defines the name. Method calls are not followed,
// because that would need types.
import { offsetAfterBracket, lineAt, scan, testRanges, blankRanges } from "./rust_source.mjs";

/** A module: its definitions and imports, its code and the paths in that code. Inner modules are not included. */
class Module {
  constructor(path, parent, file) {
    Object.assign(this, {
      path,
      parent,
      file,
      children: new Map(),
      items: new Set(),
      imports: [],
      paths: [],
      code: "",
    });
  }
}

/**
 * Reads the module tree that begins at the file `rootFile`. `read(file)` returns a file's text or undefined. Modules
 * that are compiled for tests only are left out.
 */
export function moduleTree(rootFile, read) {
  const top = new Module("crate", undefined, rootFile);
  readModuleFile(top, rootFile, rootFile.replace(/[^/]*$/, ""), read);
  return top;
}

/** Every module of the tree, parents first. */
export function allModules(top) {
  return [top, ...[...top.children.values()].flatMap(allModules)];
}

function readModuleFile(module, file, folder, read) {
  const { code, strings } = scan(read(file) ?? "");
  const ranges = testRanges(code);
  const outerStrings = strings.filter(({ start }) => !ranges.some(([from, to]) => from <= start && start < to));
  readModuleCode(module, blankRanges(code, ranges), outerStrings, folder, read);
}

const MOD_PATTERN = /(?:^|[\s;{}])mod\s+(\w+)\s*([;{])/g;

/**
 * Splits `code` into inner modules and the remaining code. Outside of this module, `code` consists of spaces, so it is
 * as long as the file, and its offsets are those of the file.
 */
function readModuleCode(module, code, strings, folder, read) {
  const inner = [];
  for (const match of code.matchAll(MOD_PATTERN)) {
    const at = match.index + match[0].length;
    if (inner.some(([, from, to]) => from <= at && at <= to)) continue;
    const [, name, opener] = match;
    const child = new Module(`${module.path}::${name}`, module, module.file);
    module.children.set(name, child);
    if (opener === "{") {
      inner.push([child, at, offsetAfterBracket(code, at - 1) - 1]);
      continue;
    }
    const candidates = [`${folder}${name}.rs`, `${folder}${name}/mod.rs`];
    child.file = candidates.find((file) => read(file) !== undefined) ?? candidates[0];
    readModuleFile(child, child.file, `${folder}${name}/`, read);
  }
  const ownCode = blankRanges(
    code,
    inner.map(([, from, to]) => [from, to]),
  );
  for (const [child, from, to] of inner) {
    const outerRanges = [
      [0, from],
      [to, code.length],
    ];
    const childStrings = strings.filter(({ start }) => from <= start && start < to);
    const childFolder = `${folder}${child.path.split("::").at(-1)}/`;
    readModuleCode(child, blankRanges(code, outerRanges), childStrings, childFolder, read);
  }
  const ownStrings = strings.filter(({ start }) => !inner.some(([, from, to]) => from <= start && start < to));
  collectUses(module, ownCode, ownStrings);
}

const ITEM_PATTERN = /(?:^|[\s;{}(])(?:fn|struct|enum|union|trait|type|const|static|macro_rules!)\s+(?:mut\s+)?(\w+)/g;
/** Matches the part of a serde attribute that precedes the path of a function in quotes. */
const PATH_ATTRIBUTE_PATTERN = /\b(?:with|default|serialize_with|deserialize_with|skip_serializing_if)\s*=\s*"$/;

function collectUses(module, code, strings) {
  const depths = braceDepths(code);
  for (const match of code.matchAll(ITEM_PATTERN))
    if (depths[match.index + match[0].length - 1] === 0) module.items.add(match[1]);
  const uses = [];
  for (const match of code.matchAll(/(?:^|[\s;{}\])])use\s+([^;]+);/g)) {
    const start = match.index + match[0].length - match[1].length - 1;
    uses.push([match.index, match.index + match[0].length]);
    for (const leaf of useTree(match[1]))
      module.imports.push({ ...leaf, line: lineAt(code, start), topLevel: depths[start] === 0 });
  }
  module.code = blankRanges(code, uses);
  module.paths = [...pathsIn(module.code), ...strings.filter((each) => isPath(code, each)).map(asPath)].map(
    ({ start, segments }) => ({ segments, line: lineAt(code, start) }),
  );
}

const isPath = (code, { start }) => PATH_ATTRIBUTE_PATTERN.test(code.slice(Math.max(0, start - 40), start));
const asPath = ({ start, text }) => ({ start, segments: text.split("::") });

/** Depth in braces at every offset. */
function braceDepths(code) {
  const depths = new Uint16Array(code.length + 1);
  let current = 0;
  for (let at = 0; at < code.length; at += 1) {
    if (code[at] === "}") current = Math.max(0, current - 1);
    depths[at] = current;
    if (code[at] === "{") current += 1;
  }
  depths[code.length] = current;
  return depths;
}

/**
 * The leaves of a `use` tree as {path, name}. `name` is the name under which this module imports the leaf; it is `*`
 * for a glob import, and may be `_`.
 */
function useTree(text, prefix = []) {
  text = text.trim();
  const brace = text.indexOf("{");
  if (brace < 0) {
    const [path, renamed] = text.split(/\s+as\s+/);
    const segments = [...prefix, ...path.split("::").map(withoutRawPrefix).filter(Boolean)];
    const fullPath = segments.at(-1) === "self" && segments.length > 1 ? segments.slice(0, -1) : segments;
    return [{ path: fullPath, name: renamed ? withoutRawPrefix(renamed) : fullPath.at(-1) }];
  }
  const head = text.slice(0, brace).split("::").map(withoutRawPrefix).filter(Boolean);
  return splitAtCommas(text.slice(brace + 1, text.lastIndexOf("}"))).flatMap((part) =>
    useTree(part, [...prefix, ...head]),
  );
}

const withoutRawPrefix = (name) => name.trim().replace(/^r#/, "");

/** Splits at commas outside braces. */
function splitAtCommas(text) {
  const parts = [""];
  let depth = 0;
  for (const char of text) {
    if (char === "{") depth += 1;
    if (char === "}") depth -= 1;
    if (char === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts.filter((part) => part.trim() !== "");
}

/**
 * All paths in the code as {start, segments}. A single name is a path too, because a glob import may have imported it.
 */
function pathsIn(code) {
  const paths = [];
  const PATH = /(?<![\w.:'])(?:r#)?[A-Za-z_]\w*(?:\s*::\s*(?:r#)?[A-Za-z_]\w*)*/g;
  for (const match of code.matchAll(PATH))
    paths.push({ start: match.index, segments: match[0].split("::").map(withoutRawPrefix) });
  return paths;
}

/** Returns the modules that define what the path `segments` names in `module`. Names of other crates have none. */
export function definingModules(module, segments, visited = new Set()) {
  const [first, ...rest] = segments;
  if (first === "crate" || first === "$crate") return definingModulesWithin(crateRoot(module), rest, visited);
  if (first === "self") return definingModulesWithin(module, rest, visited);
  if (first === "super") return module.parent ? definingModules(module.parent, ["self", ...rest], visited) : [];
  return findDefiningModules(module, first, rest, visited, true);
}

const crateRoot = (module) => (module.parent ? crateRoot(module.parent) : module);

/** Like `definingModules`, for a path relative to `module`. */
function definingModulesWithin(module, segments, visited) {
  if (segments.length === 0) return [module];
  const [first, ...rest] = segments;
  if (first === "super") return module.parent ? definingModulesWithin(module.parent, rest, visited) : [];
  const definitions = findDefiningModules(module, first, rest, visited, false);
  // If no definition is found, a macro made this name, so it belongs to the module in which it was looked up.
  return definitions.length > 0 ? definitions : [module];
}

/**
 * The modules that define what `name` means in `module`. The name may be an item, a child module or an import, or be
 * part of a glob import. `here` is true if the name is used in this module's own code, where imports of inner blocks
 * count too.
 */
function findDefiningModules(module, name, rest, visited, here) {
  const key = `${module.path}|${name}|${rest.join("::")}`;
  if (visited.has(key)) return [];
  visited.add(key);
  const definitions = new Set();
  const add = (modules) => modules.forEach((each) => definitions.add(each));
  if (module.items.has(name)) definitions.add(module);
  if (module.children.has(name)) add(definingModulesWithin(module.children.get(name), rest, visited));
  for (const each of module.imports) {
    if (each.name !== name || !(here || each.topLevel)) continue;
    // `use name;` imports another crate under its own name. Following it would look up the same name without end.
    if (each.path.length === 1 && each.path[0] === name) continue;
    const path = each.path[0];
    add(modulesDefiningImport(module, path === name ? each.path : [...each.path, ...rest], visited));
  }
  if (definitions.size === 0)
    for (const each of module.imports) {
      if (each.name !== "*" || !(here || each.topLevel)) continue;
      for (const target of modulesDefiningImport(module, each.path.slice(0, -1), visited))
        if (target !== module) add(findDefiningModules(target, name, rest, visited, false));
    }
  return [...definitions];
}

/**
 * Modules that an import's path leads to. The path begins with `crate`, `self` or `super`, a module or item of this
 * module, a name that another import brought in, or another crate.
 */
function modulesDefiningImport(module, path, visited) {
  if (["crate", "self", "super", "$crate"].includes(path[0])) return definingModules(module, path, visited);
  if (!module.children.has(path[0]) && !module.items.has(path[0])) return lookupImported(module, path, visited);
  return definingModulesWithin(module, path, visited);
}

/** Resolves a path that begins with a name that another import brought in: `use super::a; use a::b;`. */
function lookupImported(module, [first, ...rest], visited) {
  const imported = module.imports.find((each) => each.name === first && each.path.length > 1 && each.path[0] !== first);
  return imported ? modulesDefiningImport(module, [...imported.path, ...rest], visited) : [];
}

/**
 * Everything that modules of the tree use of each other: {from, to, file, line, path}, `from` and `to` being modules.
 * A glob import counts as a use of the imported module, and each name that it brings in as a use of the module that
 * defines it.
 */
export function usesIn(top) {
  const uses = [];
  for (const module of allModules(top)) {
    const note = (segments, line) => {
      const isGlob = segments.at(-1) === "*";
      for (const target of definingModules(module, isGlob ? segments.slice(0, -1) : segments))
        if (target !== module)
          uses.push({ from: module, to: target, file: module.file, line, path: segments.join("::") });
    };
    for (const { path, line } of module.imports) if (path.length > 1) note(path, line);
    const globs = module.imports.some(({ name }) => name === "*");
    for (const { segments, line } of module.paths)
      if (segments.length > 1 || (globs && !module.items.has(segments[0]))) note(segments, line);
  }
  return uses;
}
