// `npm run package`: builds a .deb and an .rpm, offline once everything that building needs is installed. `--debug`
// packs the programs of the dev profile, to try the packages themselves without an hour of compiling.
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { LICENCE_LIST } from "./licences.mjs";
import { packRpm } from "./package_rpm.mjs";
import { ROOT, TARGET, WORKSPACE } from "./places.mjs";
import { sbom } from "./sbom.mjs";
import { buildUi, installForPackaging } from "./setup.mjs";
import { ENV, Stop, has, main, must, quiet } from "./sh.mjs";
import { WEIGHTS_PACKAGE, weights } from "./weights.mjs";

/** Maximum size of a package that we publish, in bytes. The weights of the sentence encoder take up 33 MB of this. */
const MAX_BYTES = 55e6;
/**
 * Matches libraries that our programs must not link. The web view does link libsoup, but the pages' content security
 * policy prevents requests.
 */
const CLIENT_LIBRARIES = /^lib(?:ssl|curl|gnutls|nghttp2)[.-]/;
const DOC = "/usr/share/doc/mementory";
const WEIGHTS = "/usr/share/mementory/weights";
/** Name and address as package managers expect them. `.invalid` is reserved (RFC 2606): there is no mailbox. */
const MAINTAINER = "The Mementory contributors <contributors@mementory.invalid>";
const STAGING = join(TARGET, "package");

/** The programs that write packages, and the names of the packages in which Debian and Fedora have them. */
const PACKERS = { "dpkg-deb": "dpkg", rpmbuild: "rpm (Debian) or rpm-build (Fedora)" };

/** gzip without a name and a time, so that the same text produces the same bytes. */
const gzip = (content) => gzipSync(content, { level: 9 });

await main(async () => {
  if (process.platform !== "linux")
    throw new Stop("Packages for Linux are built on Linux. See tauri.conf.json for others.");
  const debug = process.argv.includes("--debug");
  const folder = join(TARGET, debug ? "debug" : "release");
  const seconds = Number(process.env.SOURCE_DATE_EPOCH ?? quiet("git", ["log", "-1", "--format=%ct"]).stdout.trim());
  if (!Number.isInteger(seconds)) throw new Stop("There is no commit whose time could be used. Set SOURCE_DATE_EPOCH.");
  const env = { ...ENV, SOURCE_DATE_EPOCH: String(seconds), RUSTFLAGS: debug ? "" : pathFlags() };
  await installForPackaging();
  for (const [program, where] of Object.entries(PACKERS))
    if (!has(program)) throw new Stop(`${program} is needed. It is in the package ${where}.`);
  await buildUi();
  const profile = debug ? [] : ["--release"];
  await must("cargo", ["build", "--locked", ...profile, "-p", "mementory-app", "-p", "mementory-cli"], {
    cwd: WORKSPACE,
    env: debug ? ENV : env,
  });
  refuseNetworkClients(join(folder, "mementory-app"));
  const files = { ...stage(folder, seconds), ...(await weightFiles()) };
  const config = { bundle: { linux: { deb: { files } } } };
  const configFile = join(STAGING, "bundle.json");
  writeFileSync(configFile, JSON.stringify(config));
  const args = ["bundle", "--bundles", "deb", "--no-sign", "--ci", "--config", configFile];
  await must("npx", ["--no-install", "tauri", ...args, ...(debug ? ["--debug"] : [])], { env });
  const content = await repack(join(folder, "bundle", "deb"), seconds, debug, env);
  await packRpm(content, join(folder, "bundle", "rpm"), {
    staging: STAGING,
    seconds,
    packager: MAINTAINER,
    debug,
    env,
  });
  const mcpb = join(folder, "bundle", "mcpb");
  mkdirSync(mcpb, { recursive: true });
  for (const file of ["mementory.mcpb", "server.json"].filter((each) => existsSync(join(STAGING, each))))
    copyFileSync(join(STAGING, file), join(mcpb, file));
  report(join(folder, "bundle"), debug);
});

/** Compiler flags that keep the folders of this machine out of the programs, so that two machines build the same. */
function pathFlags() {
  const cargo = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  const flags = [`--remap-path-prefix=${cargo}=/cargo`, `--remap-path-prefix=${ROOT.replace(/\/$/, "")}=/mementory`];
  return [process.env.RUSTFLAGS, ...flags].filter(Boolean).join(" ");
}

/** Fails if a program links the library of a network client. */
function refuseNetworkClients(program) {
  const { code, stdout } = quiet("readelf", ["-d", program]);
  if (code !== 0) throw new Stop(`readelf cannot read ${program}. Install binutils.`);
  const linked = [...stdout.matchAll(/\(NEEDED\).*\[(.*?)\]/g)].map(([, name]) => name);
  const found = linked.filter((name) => CLIENT_LIBRARIES.test(name));
  if (found.length > 0) throw new Stop(`${program} links ${found.join(", ")}. The window must have no network client.`);
}

/** Lays out everything besides the window. Returns a map from the path in the package to the file. */
function stage(folder, seconds) {
  const root = STAGING;
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  const files = {};
  const add = (path, name, content) => {
    const file = join(root, name);
    writeFileSync(file, content, { mode: 0o644 });
    files[path] = file;
  };
  const program = join(root, "mementory");
  copyFileSync(join(folder, "mementory"), program);
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
  files["/usr/share/metainfo/app.mementory.desktop.metainfo.xml"] = join(
    packaging,
    "app.mementory.desktop.metainfo.xml",
  );
  files["/usr/share/mime/packages/app.mementory.desktop.xml"] = join(packaging, "app.mementory.desktop.mime.xml");
  add(`${DOC}/copyright`, "copyright", copyright());
  add(`${DOC}/changelog.gz`, "changelog.gz", gzip(changelog(seconds)));
  add(`${DOC}/licences.txt.gz`, "licences.txt.gz", gzip(licenceText()));
  const host = /^host: (.*)$/m.exec(quiet("rustc", ["-vV"]).stdout)?.[1];
  add(`${DOC}/sbom.cdx.json.gz`, "sbom.cdx.json.gz", gzip(JSON.stringify(sbom([host], seconds), null, 1)));
  return files;
}

/** The weights of the sentence encoder with their licence. Both programs look for them next to their own folder. */
async function weightFiles() {
  const folder = await weights();
  return Object.fromEntries(readdirSync(folder).map((name) => [`${WEIGHTS}/${name}`, join(folder, name)]));
}

/** Debian's changelog, which has its own format. */
function changelog(seconds) {
  const date = new Date(seconds * 1000).toUTCString().replace("GMT", "+0000");
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  return `mementory (${version}) unstable; urgency=medium\n\n  * The changes are listed in CHANGELOG.md of the source.\n\n -- ${MAINTAINER}  ${date}\n`;
}

/**
 * Repacks the .deb with the time of the commit (the bundler writes the time of the build), the address of the
 * maintainer, and xz compression. Returns the folder with the content.
 */
async function repack(folder, seconds, debug, env) {
  const [name] = readdirSync(folder).filter((each) => each.endsWith(".deb"));
  const [content, deb] = [join(STAGING, "deb"), join(folder, name)];
  await must("dpkg-deb", ["--raw-extract", deb, content]);
  const control = join(content, "DEBIAN", "control");
  writeFileSync(control, readFileSync(control, "utf8").replace(/^Maintainer: .*$/m, `Maintainer: ${MAINTAINER}`));
  for (const path of [".", ...readdirSync(content, { recursive: true, encoding: "utf8" })])
    utimesSync(join(content, path), seconds, seconds);
  // Use one thread. Several threads would divide the data into blocks, and the bytes would depend on the machine.
  const compression = debug ? ["-Zgzip", "-z1"] : ["-Zxz", "-z9", "--threads-max=1"];
  await must("dpkg-deb", ["--root-owner-group", ...compression, "--build", content, deb], { env });
  return content;
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

/** The software inside with its licences, as text. */
function licenceText() {
  const { own, crates, packages } = JSON.parse(readFileSync(LICENCE_LIST, "utf8"));
  const lines = (list) => list.map(({ name, version, licence }) => `${name} ${version}: ${licence}`).join("\n");
  return `${own}\n\nRust crates\n\n${lines(crates)}\n\nPackages of the pages\n\n${lines(packages)}\n`;
}

/** Prints sizes and writes checksums. Fails if a package is too large. */
function report(folder, debug) {
  const built = ["deb", "rpm"].flatMap((kind) => {
    const kindFolder = join(folder, kind);
    if (!existsSync(kindFolder)) return [];
    return readdirSync(kindFolder)
      .filter((name) => name.endsWith(`.${kind}`))
      .map((name) => join(kindFolder, name));
  });
  if (built.length < 2) throw new Stop(`A package is missing in ${folder}.`);
  const sums = built.map(
    (file) => `${createHash("sha256").update(readFileSync(file)).digest("hex")}  ${file.split("/").at(-1)}\n`,
  );
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
  for (const file of built) console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
  const large = built.filter((file) => !debug && statSync(file).size > MAX_BYTES);
  if (large.length > 0) throw new Stop(`Larger than ${MAX_BYTES / 1e6} MB: ${large.join(", ")}`);
  if (has("lintian")) {
    const deb = built.find((file) => file.endsWith(".deb"));
    const { stdout } = quiet("lintian", ["--allow-root", "--fail-on", "none", deb]);
    console.log(stdout.trim());
  }
}
