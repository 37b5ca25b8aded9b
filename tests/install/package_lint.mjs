// Checks the built packages with the tools of Debian and Fedora: whether they follow the rules for packages, and
// whether they declare their dependencies.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Stop, quiet } from "../tools/sh.mjs";

/** Configuration of rpmlint: the findings that we accept, each with the reason. */
const RPMLINT_CONFIG = fileURLToPath(new URL("rpmlint.toml", import.meta.url));
/**
 * Libraries that the .rpm must declare as dependencies. Without one of them, the package could be installed, but the
 * programs would not start.
 */
const NEEDED = ["libwebkit2gtk-4.1.so.0()(64bit)", "libgtk-3.so.0()(64bit)", "libc.so.6()(64bit)"];

const indented = (text) => text.trim().replaceAll(/^/gm, "  ");

/** Checks the .deb, and the .rpm of the same build. */
export function lintPackages(deb, count) {
  const lintian = quiet("lintian", ["--allow-root", "--fail-on", "error", deb]);
  if (lintian.stdout) console.log(indented(lintian.stdout));
  count.add("lintian finds no error in the .deb", lintian.code === 0);
  const rpm = rpmOf(deb);
  const rpmlint = quiet("rpmlint", ["--config", RPMLINT_CONFIG, rpm]);
  console.log(indented(rpmlint.stdout));
  count.add("rpmlint finds no error in the .rpm", rpmlint.code === 0);
  const requires = quiet("rpm", ["-qp", "--requires", rpm]);
  const lines = requires.stdout.split("\n");
  const missingLibraries = NEEDED.filter((name) => !lines.some((line) => line.startsWith(name)));
  missingLibraries.forEach((name) => console.log(`  the .rpm does not require ${name}`));
  count.add("the .rpm requires the libraries of its programs", requires.code === 0 && missingLibraries.length === 0);
  const { stdout: licences } = quiet("rpm", ["-qp", "--licensefiles", rpm]);
  count.add("the .rpm marks its licences", licences.includes("licences.txt.gz") && licences.includes("/LICENSE"));
  const { stdout: scripts } = quiet("rpm", ["-qp", "--scripts", rpm]);
  count.add("the .rpm says after a removal what stays", scripts.includes("~/.local/share/app.mementory.desktop"));
}

/** The .rpm that was built with this .deb. */
function rpmOf(deb) {
  const folder = join(dirname(dirname(deb)), "rpm");
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".rpm")) : [];
  if (names.length !== 1) throw new Stop("There is no .rpm, or more than one. Run `npm run package` first.");
  return join(folder, names[0]);
}
