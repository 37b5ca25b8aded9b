// Finds what a change affects: changed files, the crates that contain them, and the crates that depend on those crates.
import { quiet, Stop } from "./sh.mjs";
import { ROOT, WORKSPACE } from "./places.mjs";

/**
 * The commit to compare with. It is `base` if that is given, otherwise the commit at which the branch left
 * `origin/main`, or the last commit if there is no `origin/main`.
 */
export function baseOf(base) {
  if (base !== undefined) {
    const { code } = quiet("git", ["rev-parse", "--verify", "--quiet", `${base}^{commit}`]);
    if (code !== 0) throw new Stop(`git knows no commit "${base}".`);
    return base;
  }
  const { code, stdout } = quiet("git", ["merge-base", "HEAD", "origin/main"]);
  return code === 0 ? stdout.trim() : "HEAD";
}

/** Files that differ from `base`, new and deleted ones included: [name, exists]. */
export function changedFiles(base) {
  const statusAndNames = quiet("git", ["diff", "--name-status", "--no-renames", "-z", base])
    .stdout.split("\0")
    .filter(Boolean);
  const untracked = quiet("git", ["ls-files", "--others", "--exclude-standard", "-z"])
    .stdout.split("\0")
    .filter(Boolean);
  const pairs = statusAndNames.flatMap((each, i) => (i % 2 === 0 ? [[statusAndNames[i + 1], each !== "D"]] : []));
  return [...pairs, ...untracked.map((name) => [name, true])];
}

/**
 * Our crates: {name, folder, hasLibrary, uses}. `folder` is relative to the clone, `uses` are our crates that it
 * depends on, without those that only tests need.
 */
export function ourCrates() {
  const args = ["metadata", "--no-deps", "--format-version", "1", "--locked", "--offline"];
  const { code, stdout, stderr } = quiet("cargo", args, { cwd: WORKSPACE });
  if (code !== 0) throw new Stop(stderr.trim());
  const { packages } = JSON.parse(stdout);
  const names = new Set(packages.map(({ name }) => name));
  return packages.map(({ name, manifest_path, targets, dependencies }) => ({
    name,
    folder: manifest_path
      .slice(ROOT.length)
      .replaceAll("\\", "/")
      .replace(/Cargo\.toml$/, ""),
    hasLibrary: targets.some(({ kind }) => kind.includes("lib")),
    uses: dependencies.filter((each) => each.kind !== "dev" && names.has(each.name)).map((each) => each.name),
  }));
}

/**
 * The names of the crates to which these files belong (`changed`), and of the other crates that depend on them
 * (`dependents`). A fixture belongs to the crate of its format, and all crates depend on the workspace's own files.
 * `has(path)` returns whether the clone has this folder.
 */
export function affectedCrates(files, crates, has) {
  const changed = new Set();
  const dependents = new Set();
  // The longest folder first, because the folder of the window's crate contains the others.
  const byFolder = crates.toSorted((a, b) => b.folder.length - a.folder.length);
  for (const file of files) {
    const [, fixture] = /^fixtures\/([^/]+)\//.exec(file) ?? [];
    if (fixture) {
      crates.filter(({ folder }) => has(`${folder}src/${fixture}`)).forEach(({ name }) => changed.add(name));
    } else if (/^src-tauri\/(?:Cargo\.(?:toml|lock)|rustfmt\.toml)$/.test(file)) {
      crates.forEach(({ name }) => dependents.add(name));
    } else if (!file.startsWith("src-tauri/fuzz/") && !file.endsWith(".md")) {
      const owner = byFolder.find(({ folder }) => file.startsWith(folder));
      if (owner) changed.add(owner.name);
    }
  }
  const addDependents = (name) =>
    crates
      .filter(({ uses }) => uses.includes(name))
      .filter((each) => !dependents.has(each.name))
      .forEach((each) => {
        dependents.add(each.name);
        addDependents(each.name);
      });
  changed.forEach(addDependents);
  changed.forEach((name) => dependents.delete(name));
  return { changed: [...changed].sort(), dependents: [...dependents].sort() };
}
