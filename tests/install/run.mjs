// `npm run campaign -- install` takes the package that the last `npm run package` made, and installs it in bare systems
// made by debootstrap. There it uses the package as a person does: from the command line, by a double click and as an
// upgrade, and at the end purges it. It also checks the packages with lintian and rpmlint, and compares the Flatpak
// manifest with the package. With `--debug` it uses the package of `npm run package -- --debug`. It needs root,
// debootstrap, Xvfb and openbox. The systems stay in the cache for the next run.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tally } from "../tools/count.mjs";
import { CACHE, TARGET } from "../tools/places.mjs";
import { cargoTool, installForInstallTests } from "../tools/setup.mjs";
import { Stop, has, main, must, quiet } from "../tools/sh.mjs";
import { Chroot, SYSTEMS } from "./chroot.mjs";
import { checkFlatpak } from "./flatpak.mjs";
import { Installation, OLDER_VERSION } from "./installation.mjs";
import { lintPackages } from "./package_lint.mjs";

await main(async () => {
  await installForInstallTests();
  for (const program of ["debootstrap", "chroot", "Xvfb", "openbox", "dpkg-deb", "lintian", "rpmlint"])
    if (!has(program)) throw new Stop(`${program} is needed.`);
  if (process.getuid() !== 0) throw new Stop("Only root can make a system and mount into it.");
  await cargoTool("tauri-driver", "^2");
  const count = tally();
  const work = mkdtempSync(join(tmpdir(), "mementory-install-"));
  const deb = packageFile();
  const older = olderPackage(deb, work);
  try {
    lintPackages(deb, count);
    checkFlatpak(deb, join(work, "flatpak"), count);
    for (const [name, system] of Object.entries(SYSTEMS)) {
      const chroot = await Chroot.make(system, join(CACHE, "systems", system.suite), await ubuntuKeys(system));
      try {
        await new Installation(name, chroot, count).runAll(deb, older);
      } catch (error) {
        console.log(`  ${error.message}`);
        count.add(`${name}: the test runs to its end`, false);
      } finally {
        chroot.unmountAll();
      }
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  console.log(`${count.passed} passed, ${count.failed} failed`);
  return count.failed > 0 ? 1 : 0;
});

/** The package of the last build. */
function packageFile() {
  const folder = join(TARGET, process.argv.includes("--debug") ? "debug" : "release", "bundle", "deb");
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".deb")) : [];
  if (names.length !== 1) throw new Stop("There is no package, or more than one. Run `npm run package` first.");
  return join(folder, names[0]);
}

/** Makes the same package with a lower version number. */
function olderPackage(deb, work) {
  const [content, older] = [join(work, "older"), join(work, "older.deb")];
  const packed = quiet("dpkg-deb", ["--raw-extract", deb, content]);
  if (packed.code !== 0) throw new Stop(packed.stderr);
  const control = join(content, "DEBIAN", "control");
  writeFileSync(control, readFileSync(control, "utf8").replace(/^Version: .*$/m, `Version: ${OLDER_VERSION}`));
  quiet("dpkg-deb", ["--root-owner-group", "-Zgzip", "--build", content, older]);
  rmSync(content, { recursive: true });
  return older;
}

/** Folder with the archive keys of Ubuntu, which the host may not have. They are downloaded from Ubuntu. */
async function ubuntuKeys({ keyring, mirror }) {
  const folder = join(CACHE, "systems", "keys");
  if (!keyring || existsSync(join(folder, keyring))) return folder;
  mkdirSync(folder, { recursive: true });
  const list = join(folder, "Packages.xz");
  await must("curl", ["-sSf", "-o", list, `${mirror}/dists/resolute/main/binary-amd64/Packages.xz`]);
  const { stdout } = quiet("xzcat", [list], { maxBuffer: 1 << 30 });
  const path = /^Filename: (pool\/main\/u\/ubuntu-keyring\/ubuntu-keyring_.*)$/m.exec(stdout)?.[1];
  if (!path) throw new Stop("Ubuntu's list of packages names no ubuntu-keyring.");
  await must("curl", ["-sSf", "-o", join(folder, "keyring.deb"), `${mirror}/${path}`]);
  await must("dpkg-deb", ["-x", join(folder, "keyring.deb"), folder]);
  copyFileSync(join(folder, "usr", "share", "keyrings", keyring), join(folder, keyring));
  return folder;
}
