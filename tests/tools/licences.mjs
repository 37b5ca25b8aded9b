// The open software in Mementory and its licences, in one committed file that the window shows: `node tests/tools/licences.mjs`
// writes it. What is only used to build or to test is not in it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT, WORKSPACE } from "./places.mjs";
import { quiet } from "./sh.mjs";

export const KEPT = join(ROOT, "ui", "src", "lib", "licences.json");
/** The programs that are handed out. */
const PROGRAMS = ["mementory-app", "mementory-cli"];
/** The systems that they are made for, as in deny.toml. */
const SYSTEMS = ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin", "x86_64-pc-windows-msvc"];
/** Of Svelte only what its own run time imports: its other dependencies are its compiler's. */
const AT_RUN_TIME = { svelte: ["clsx", "esm-env"] };

const tidy = (licence) =>
  licence
    .replaceAll("/", " OR ")
    .replaceAll(/ +/g, " ")
    .replace(/^\(([^()]*)\)$/, "$1");
const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1);

/** Crates that end up in the programs on these systems: no build scripts, no tests, nothing that runs in the compiler. */
export function crates(systems = SYSTEMS) {
  const { code, stdout, stderr } = quiet(
    "cargo",
    [
      ...["metadata", "--format-version", "1", "--locked"],
      ...systems.flatMap((system) => ["--filter-platform", system]),
    ],
    { cwd: WORKSPACE, maxBuffer: 1 << 28 },
  );
  if (code !== 0) throw new Error(stderr.trim());
  const { packages, resolve } = JSON.parse(stdout);
  const known = new Map(packages.map((each) => [each.id, each]));
  const uses = new Map(resolve.nodes.map((node) => [node.id, node.deps]));
  const inCompiler = (id) => known.get(id).targets.some(({ kind }) => kind.includes("proc-macro"));
  const seen = new Set();
  const visit = (id) => {
    if (seen.has(id) || inCompiler(id)) return;
    seen.add(id);
    for (const { pkg, dep_kinds } of uses.get(id)) if (dep_kinds.some(({ kind }) => kind === null)) visit(pkg);
  };
  packages.filter(({ name, source }) => source === null && PROGRAMS.includes(name)).forEach(({ id }) => visit(id));
  return [...seen]
    .map((id) => known.get(id))
    .filter(({ source }) => source !== null)
    .map(({ name, version, license }) => ({ name, version, licence: tidy(license ?? "see its own file") }))
    .sort(byName);
}

/** Packages that the pages import, and what those need. */
export function packages() {
  const source = join(ROOT, "ui", "src");
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")).packages;
  const imported = new Set();
  for (const file of readdirSync(source, { recursive: true, encoding: "utf8" }))
    if (/\.(?:ts|svelte)$/.test(file))
      for (const [, name] of readFileSync(join(source, file), "utf8").matchAll(
        /(?:from|import)\s*\(?\s*"((?:@[\w.-]+\/)?[\w.-]+)(?:\/[^"]*)?"/g,
      ))
        if (lock[`node_modules/${name}`]) imported.add(name);
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name) || !lock[`node_modules/${name}`]) return;
    seen.add(name);
    (AT_RUN_TIME[name] ?? Object.keys(lock[`node_modules/${name}`].dependencies ?? {})).forEach(visit);
  };
  imported.forEach(visit);
  return [...seen]
    .map((name) => {
      const { version, license } = lock[`node_modules/${name}`];
      return { name, version, licence: tidy(license ?? ownFile(name)) };
    })
    .sort(byName);
}

/** Where the registry names no licence: what the package's own file says it is. */
function ownFile(name) {
  const folder = join(ROOT, "node_modules", name);
  const file = ["LICENSE", "LICENSE.md"].map((each) => join(folder, each)).find(existsSync);
  return /^\W*(?:The )?(MIT|ISC)\b/.exec(file ? readFileSync(file, "utf8") : "")?.[1] ?? "see its own file";
}

/** Mementory's own. */
export const own = () => readFileSync(join(ROOT, "LICENSE"), "utf8");

/** What stands in the committed file, or would have to. */
export const made = () => ({
  own: own(),
  crates: crates(),
  packages: packages(),
});

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  writeFileSync(KEPT, `${JSON.stringify(made(), null, 2)}\n`);
