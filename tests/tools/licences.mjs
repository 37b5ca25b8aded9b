// Writes the list of open source software and licences that the window shows: `node tests/tools/licences.mjs`. The file
// is committed. Software that is only used to build or to test is not listed.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT, WORKSPACE } from "./places.mjs";
import { quiet } from "./sh.mjs";

export const LICENCE_LIST = join(ROOT, "ui", "src", "lib", "licences.json");
/** The programs that users get. */
const PROGRAM_CRATES = ["mementory-app", "mementory-cli"];
/** The systems for which the programs are released, as in deny.toml. */
const TARGET_SYSTEMS = ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin", "x86_64-pc-windows-msvc"];
/**
 * The only dependencies of these packages that ship with the pages. The other dependencies of Svelte are part of its
 * compiler.
 */
const RUNTIME_DEPENDENCIES = { svelte: ["clsx", "esm-env"] };

const normaliseLicence = (licence) =>
  licence
    .replaceAll("/", " OR ")
    .replaceAll(/ +/g, " ")
    .replace(/^\(([^()]*)\)$/, "$1");
const compareByName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1);

/**
 * Crates that are linked into the programs on these systems, as `cargo metadata` describes them. Crates of build
 * scripts, tests and macros are left out, except those that bring C code which is compiled into the programs; they have
 * names such as `sqlcipher-src`.
 */
export function linkedCrates(systems = TARGET_SYSTEMS) {
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
  const packageById = new Map(packages.map((each) => [each.id, each]));
  const uses = new Map(resolve.nodes.map((node) => [node.id, node.deps]));
  const isProcMacro = (id) => packageById.get(id).targets.some(({ kind }) => kind.includes("proc-macro"));
  const bringsSource = (id) => packageById.get(id).name.endsWith("-src");
  const seenIds = new Set();
  const visit = (id) => {
    if (seenIds.has(id) || isProcMacro(id)) return;
    seenIds.add(id);
    for (const { pkg, dep_kinds } of uses.get(id)) {
      if (dep_kinds.some(({ kind }) => kind === null)) visit(pkg);
      // The crate contains C source code. Its dependencies are only needed to compile that code.
      else if (bringsSource(pkg)) seenIds.add(pkg);
    }
  };
  packages
    .filter(({ name, source }) => source === null && PROGRAM_CRATES.includes(name))
    .forEach(({ id }) => visit(id));
  return [...seenIds].map((id) => packageById.get(id)).filter(({ source }) => source !== null);
}

/** Name, version and licence of each crate that is linked into the programs on these systems. */
export function crates(systems) {
  return linkedCrates(systems)
    .map(({ name, version, license }) => ({ name, version, licence: normaliseLicence(license ?? "see its own file") }))
    .sort(compareByName);
}

/** Packages that the pages import, with their dependencies. */
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
  const seenNames = new Set();
  const visit = (name) => {
    if (seenNames.has(name) || !lock[`node_modules/${name}`]) return;
    seenNames.add(name);
    (RUNTIME_DEPENDENCIES[name] ?? Object.keys(lock[`node_modules/${name}`].dependencies ?? {})).forEach(visit);
  };
  imported.forEach(visit);
  return [...seenNames]
    .map((name) => {
      const { version, license } = lock[`node_modules/${name}`];
      return { name, version, licence: normaliseLicence(license ?? readLicenceFile(name)) };
    })
    .sort(compareByName);
}

/** Reads the licence from the LICENSE file of a package whose metadata names none. */
function readLicenceFile(name) {
  const folder = join(ROOT, "node_modules", name);
  const file = ["LICENSE", "LICENSE.md"].map((each) => join(folder, each)).find(existsSync);
  return /^\W*(?:The )?(MIT|ISC)\b/.exec(file ? readFileSync(file, "utf8") : "")?.[1] ?? "see its own file";
}

/** Mementory's own licence. */
export const ownLicence = () => readFileSync(join(ROOT, "LICENSE"), "utf8");

/** Collects what the committed file must contain. */
const collectLicences = () => ({
  own: ownLicence(),
  crates: crates(),
  packages: packages(),
});

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  writeFileSync(LICENCE_LIST, `${JSON.stringify(collectLicences(), null, 2)}\n`);
