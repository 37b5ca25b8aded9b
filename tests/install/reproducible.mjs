// `npm run campaign -- reproducible` clones the last commit into two folders with names of different length, builds the
// packages in each with its own folder for built files, and compares the bytes. It takes two whole builds. With
// `--debug` it uses the dev profile, whose programs contain the folder they were built in; that shows whether everything
// else is equal. The folders are deleted if the packages are equal; otherwise they stay, to look at.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { tally } from "../tools/count.mjs";
import { CACHE, ROOT } from "../tools/places.mjs";
import { ENV, Stop, main, must, quiet } from "../tools/sh.mjs";

const debug = process.argv.includes("--debug");
/** Kinds of packages, and the command that unpacks one into the working folder. */
const UNPACK = {
  deb: (file) => ["dpkg-deb", ["--raw-extract", file, "."]],
  rpm: (file) => ["sh", ["-c", 'rpm2cpio "$1" | cpio -idm --quiet', "sh", file]],
};
/** Largest number of differing files whose paths are printed for one package. */
const MAX_PRINTED_PATHS = 40;

await main(async () => {
  if (quiet("git", ["status", "--porcelain", "--untracked-files=no"]).stdout.trim() !== "")
    console.log("Changes that are not committed are not in the clones.");
  mkdirSync(CACHE, { recursive: true });
  // The folder is in the cache, because a build takes more room than a folder for temporary files may have.
  const work = mkdtempSync(join(CACHE, "reproducible-"));
  const builds = [];
  for (const name of ["a", "another-folder"]) builds.push(await build(join(work, name)));
  const count = tally();
  for (const kind of Object.keys(UNPACK)) compare(kind, builds, count);
  const [first, second] = builds.map((folder) => readFileSync(join(folder, "SHA256SUMS"), "utf8"));
  count.add("the checksums of both builds are equal", first === second);
  console.log(`${count.passed} passed, ${count.failed} failed`);
  if (count.failed === 0) rmSync(work, { recursive: true });
  else console.log(`The builds are in ${work}.`);
  return count.failed > 0 ? 1 : 0;
});

/** Clones the last commit into `folder`, builds the packages, and returns the folder that contains them. */
async function build(folder) {
  const [clone, target] = [join(folder, "clone"), join(folder, "built")];
  await must("git", ["clone", "--quiet", "--no-hardlinks", ROOT, clone]);
  const args = ["tests/tools/package.mjs", ...(debug ? ["--debug"] : [])];
  await must(process.execPath, args, { cwd: clone, env: { ...ENV, CARGO_TARGET_DIR: target, CARGO_INCREMENTAL: "0" } });
  return join(target, debug ? "debug" : "release", "bundle");
}

/** Compares the packages of one kind. If they differ, names the files inside that differ. */
function compare(kind, builds, count) {
  const files = builds.map((folder) => {
    const names = readdirSync(join(folder, kind)).filter((name) => name.endsWith(`.${kind}`));
    if (names.length !== 1) throw new Stop(`${join(folder, kind)} has ${names.length} packages.`);
    return join(folder, kind, names[0]);
  });
  const [first, second] = files.map((file) => readFileSync(file));
  const isEqual = first.equals(second) && basename(files[0]) === basename(files[1]);
  if (!isEqual) {
    const [a, b] = files.map((file) => contentOf(kind, file));
    const differing = [...new Set([...a.keys(), ...b.keys()])].filter((path) => a.get(path) !== b.get(path)).sort();
    differing.slice(0, MAX_PRINTED_PATHS).forEach((path) => console.log(`  differs: ${path}`));
    if (differing.length === 0) console.log("  only the archive itself differs: times, order or compression");
  }
  count.add(`the .${kind} of both builds has the same bytes`, isEqual);
}

/** A digest of each file in a package, by its path. */
function contentOf(kind, file) {
  const folder = mkdtempSync(join(tmpdir(), "mementory-content-"));
  try {
    const [program, args] = UNPACK[kind](file);
    const { code, stderr } = quiet(program, args, { cwd: folder });
    if (code !== 0) throw new Stop(`${program}: ${stderr}`);
    const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
    const isFile = (path) => existsSync(join(folder, path)) && statSync(join(folder, path)).isFile();
    return new Map(
      paths.filter(isFile).map((path) => [
        path,
        createHash("sha256")
          .update(readFileSync(join(folder, path)))
          .digest("hex"),
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
