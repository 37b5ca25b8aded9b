// Compares the Flatpak manifest with the package. A Flatpak is only built where its runtime can be downloaded; here the
// manifest's commands run in a folder that represents `/app`, and the installed files are compared with the package.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { MANIFEST, listAt } from "../tools/checks/flatpak.mjs";
import { quiet } from "../tools/sh.mjs";

/**
 * Files of the package that the Flatpak does not install, because shells and manual readers run outside its sandbox.
 */
const LEFT_OUT = /^usr\/share\/(?:man|bash-completion|fish|zsh)\//;
/**
 * Runs the commands of the manifest on the package `deb` in the empty folder `work`, and checks that the result contains
 * the files of the package and the program that the manifest starts.
 */
export function checkFlatpak(deb, work, count) {
  const manifest = readFileSync(MANIFEST, "utf8");
  const app = join(work, "app");
  mkdirSync(app, { recursive: true });
  copyFileSync(deb, join(work, "mementory.deb"));
  const failed = listAt(manifest, "build-commands").find((command) => {
    const { code, stderr } = quiet("sh", ["-c", command.replaceAll("/app/", `${app}/`)], { cwd: work });
    if (code !== 0) console.log(`  ${command}: ${stderr}`);
    return code !== 0;
  });
  count.add("Flatpak: the commands of the manifest succeed", failed === undefined);
  const installed = new Set(filesIn(app).map((path) => digestOf(join(app, path))));
  const packedPaths = filesIn(join(work, "usr")).map((path) => join("usr", path));
  const missingPaths = packedPaths.filter((path) => !LEFT_OUT.test(path) && !installed.has(digestOf(join(work, path))));
  missingPaths.forEach((path) => console.log(`  missing: ${path}`));
  count.add("Flatpak: every file of the package is installed", packedPaths.length > 0 && missingPaths.length === 0);
  const command = /^command: (.*)$/m.exec(manifest)?.[1] ?? "";
  count.add("Flatpak: the command is a program of the package", existsSync(join(app, "bin", command)));
}

/** Paths of all files below a folder, relative to it. */
function filesIn(folder) {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return paths.filter((path) => !statSync(join(folder, path)).isDirectory());
}

/** A digest of a file's content. */
function digestOf(file) {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
