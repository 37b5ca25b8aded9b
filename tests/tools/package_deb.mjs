// Completes the .deb that Tauri's bundler made.
import { mkdirSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WORKSPACE } from "./places.mjs";
import { Stop, must, quiet } from "./sh.mjs";

/** The text that is shown after a removal. It says which files stay, and where they are. */
export const removalText = () => readFileSync(join(WORKSPACE, "packaging", "removal.txt"), "utf8");

/**
 * Repacks the .deb in `folder` with the time of the commit (the bundler writes the time of the build), the address of
 * the maintainer, the versions of the libraries that the programs need, the text that is shown after a removal, and xz
 * compression. Returns the folder with the content.
 */
export async function repackDeb(folder, { staging, seconds, maintainer, debug, env }) {
  const [name] = readdirSync(folder).filter((each) => each.endsWith(".deb"));
  const [content, deb] = [join(staging, "deb"), join(folder, name)];
  await must("dpkg-deb", ["--raw-extract", deb, content]);
  const control = join(content, "DEBIAN", "control");
  const versions = neededVersions(content, staging);
  writeFileSync(
    control,
    readFileSync(control, "utf8")
      .replace(/^Maintainer: .*$/m, `Maintainer: ${maintainer}`)
      .replace(/^Depends: (.*)$/m, (_, list) => `Depends: ${withVersions(list, versions)}`),
  );
  writeFileSync(join(content, "DEBIAN", "postrm"), afterRemoval(), { mode: 0o755 });
  for (const path of [".", ...readdirSync(content, { recursive: true, encoding: "utf8" })])
    utimesSync(join(content, path), seconds, seconds);
  // Use one thread. Several threads would divide the data into blocks, and the bytes would depend on the machine.
  const compression = debug ? ["-Zgzip", "-z1"] : ["-Zxz", "-z9", "--threads-max=1"];
  await must("dpkg-deb", ["--root-owner-group", ...compression, "--build", content, deb], { env });
  return content;
}

/** The script that dpkg runs after a removal. It deletes nothing. A purge runs it a second time, with `purge`. */
function afterRemoval() {
  const folders = [...removalText().matchAll(/~\/\.\S+/g)].map(([folder]) => folder);
  return `#!/bin/sh
set -e
case "$1" in
  remove)
    cat <<'TEXT'
${removalText().trimEnd()}
TEXT
    ;;
  purge)
    cat <<'TEXT'
Mementory: purging deletes nothing of yours either. Vaults stay, and in each person's home
${folders.join(" and ")}.
TEXT
    ;;
esac
`;
}

/**
 * The lowest versions of libraries with which the programs work, by the name of the package, such as
 * `libc6` → `libc6 (>= 2.34)`. Debian's own tool looks them up on the system where the programs were built.
 */
function neededVersions(content, staging) {
  const work = join(staging, "needed");
  rmSync(work, { recursive: true, force: true });
  mkdirSync(join(work, "debian"), { recursive: true });
  writeFileSync(join(work, "debian", "control"), "Source: mementory\n\nPackage: mementory\nArchitecture: any\n");
  const programs = readdirSync(join(content, "usr", "bin")).map((name) => `-e${join(content, "usr", "bin", name)}`);
  const { code, stdout, stderr } = quiet("dpkg-shlibdeps", ["-O", ...programs], { cwd: work });
  if (code !== 0) throw new Stop(`dpkg-shlibdeps, which is in the package dpkg-dev: ${stderr}`);
  const list = /^shlibs:Depends=(.*)$/m.exec(stdout)?.[1] ?? "";
  return new Map(list.split(", ").map((each) => [each.split(" ")[0], each]));
}

/** Adds these versions to the packages in a Depends list. Alternatives without a version stay as they are. */
export function withVersions(list, versions) {
  const nameOf = (alternative) => alternative.trim().split(" ")[0];
  return list
    .split(",")
    .map((each) =>
      each
        .split("|")
        .map((alternative) => versions.get(nameOf(alternative)) ?? alternative.trim())
        .join(" | "),
    )
    .join(", ");
}
