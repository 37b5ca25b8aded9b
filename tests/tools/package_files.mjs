// The files of a package besides the window: the command line, manuals, completions, desktop files, icons of file types,
// licences, list of components, weights.
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { SIZES, TYPE_ICONS, png } from "../../src-tauri/icons/drawing.mjs";
import { licenceTexts } from "./licence_texts.mjs";
import { metainfo } from "./metainfo.mjs";
import { ROOT, WORKSPACE } from "./places.mjs";
import { sbom } from "./sbom.mjs";
import { Stop, quiet } from "./sh.mjs";
import { WEIGHTS_PACKAGE, weights } from "./weights.mjs";

const DOC = "/usr/share/doc/mementory";
const WEIGHTS = "/usr/share/mementory/weights";
const ICONS = "/usr/share/icons/hicolor";
/** The list of components, in the folder of the other files. */
export const SBOM = "mementory.cdx.json";
/** Name and address as package managers expect them. `.invalid` is reserved (RFC 2606): there is no mailbox. */
export const MAINTAINER = "The Mementory contributors <contributors@mementory.invalid>";

/** gzip without a name and a time, so that the same text produces the same bytes. */
const gzip = (content) => gzipSync(content, { level: 9 });

/**
 * Lays out everything besides the window in the folder `root`, which is emptied. `programs` is the folder with the
 * command line that was built. Returns a map from the path in the package to the file.
 */
export async function stage(root, programs, seconds) {
  const weightsFolder = await weights();
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  const files = {};
  const add = (path, name, content) => {
    const file = join(root, name);
    writeFileSync(file, content, { mode: 0o644 });
    files[path] = file;
  };
  const program = join(root, "mementory");
  copyFileSync(join(programs, "mementory"), program);
  files["/usr/bin/mementory"] = program;
  // The address of the published bundle is only known to the person who publishes it.
  const { MEMENTORY_REGISTRY_NAME: name, MEMENTORY_BUNDLE_URL: url } = process.env;
  const release = name && url ? ["--registry-name", name, "--bundle-url", url] : [];
  const result = quiet(program, ["packaging", root, ...release]);
  if (result.code !== 0) throw new Stop(result.stdout || result.stderr);
  for (const page of readdirSync(join(root, "man")))
    add(`/usr/share/man/man1/${page}.gz`, `${page}.gz`, gzip(readFileSync(join(root, "man", page))));
  const windowPage = readFileSync(join(WORKSPACE, "packaging", "mementory-app.1"));
  add("/usr/share/man/man1/mementory-app.1.gz", "mementory-app.1.gz", gzip(windowPage));
  const completions = {
    "mementory.bash": "/usr/share/bash-completion/completions/mementory",
    "mementory.fish": "/usr/share/fish/vendor_completions.d/mementory.fish",
    _mementory: "/usr/share/zsh/vendor-completions/_mementory",
  };
  for (const [name, path] of Object.entries(completions)) files[path] = join(root, "completions", name);
  const packaging = join(WORKSPACE, "packaging");
  const { MEMENTORY_HOMEPAGE: homepage, MEMENTORY_BUGTRACKER: bugtracker } = process.env;
  add("/usr/share/metainfo/app.mementory.desktop.metainfo.xml", "metainfo.xml", metainfo(homepage, bugtracker));
  files["/usr/share/mime/packages/app.mementory.desktop.xml"] = join(packaging, "app.mementory.desktop.mime.xml");
  for (const size of SIZES)
    for (const [name, shapes] of Object.entries(TYPE_ICONS))
      add(`${ICONS}/${size}x${size}/mimetypes/${name}.png`, `${name}-${size}.png`, png(size, shapes));
  add(`${DOC}/copyright`, "copyright", copyright());
  add(`${DOC}/changelog.gz`, "changelog.gz", gzip(changelog(seconds)));
  const host = /^host: (.*)$/m.exec(quiet("rustc", ["-vV"]).stdout)?.[1];
  add(`${DOC}/licences.txt.gz`, "licences.txt.gz", gzip(licenceTexts([host], weightsFolder)));
  const components = JSON.stringify(sbom([host], seconds), null, 1);
  writeFileSync(join(root, SBOM), components);
  add(`${DOC}/sbom.cdx.json.gz`, "sbom.cdx.json.gz", gzip(components));
  // Both programs look for the weights of the sentence encoder next to their own folder.
  for (const name of readdirSync(weightsFolder)) files[`${WEIGHTS}/${name}`] = join(weightsFolder, name);
  return files;
}

/** Debian's changelog, which has its own format. */
function changelog(seconds) {
  const date = new Date(seconds * 1000).toUTCString().replace("GMT", "+0000");
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  return `mementory (${version}) unstable; urgency=medium\n\n  * The changes are listed in CHANGELOG.md of the source.\n\n -- ${MAINTAINER}  ${date}\n`;
}

/** The copyright file of Debian. */
function copyright() {
  const [, holder] = /^Copyright (?:\(c\) )?(.*)$/m.exec(readFileSync(join(ROOT, "LICENSE"), "utf8")) ?? [
    null,
    MAINTAINER.replace(/ <.*/, ""),
  ];
  const text = readFileSync(join(ROOT, "LICENSE"), "utf8").trim().split("\n").slice(2);
  const body = text.map((line) => (line.trim() === "" ? " ." : ` ${line}`)).join("\n");
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Mementory
Comment: The software inside and its licences are listed in ${DOC}/licences.txt.gz and, for
 programs, in sbom.cdx.json.gz beside it.

Files: *
Copyright: ${holder}
License: MIT

Files: ${WEIGHTS.slice(1)}/*
Copyright: The Universal Sentence Encoder's authors (Google); packaged as ${WEIGHTS_PACKAGE.name} ${WEIGHTS_PACKAGE.version}
License: ${WEIGHTS_PACKAGE.licence}
Comment: The text of the licence is in ${WEIGHTS}/LICENSE.

License: MIT
${body}

License: Apache-2.0
 On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.
`;
}
