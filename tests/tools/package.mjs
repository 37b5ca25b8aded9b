// `npm run package`: builds a .deb and an .rpm, offline once everything that building needs is installed. `--debug`
// packs the programs of the dev profile, to try the packages themselves without an hour of compiling.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { repackDeb } from "./package_deb.mjs";
import { MAINTAINER, SBOM, stage } from "./package_files.mjs";
import { packRpm } from "./package_rpm.mjs";
import { ROOT, TARGET, WORKSPACE } from "./places.mjs";
import { buildUi, installForPackaging } from "./setup.mjs";
import { ENV, Stop, has, main, must, quiet } from "./sh.mjs";

/** Maximum size of a package that we publish, in bytes. The weights of the sentence encoder take up 33 MB of this. */
const MAX_BYTES = 55e6;
/**
 * Matches libraries that our programs must not link. The web view does link libsoup, but the pages' content security
 * policy prevents requests.
 */
const NETWORK_LIBRARIES = /^lib(?:ssl|curl|gnutls|nghttp2)[.-]/;
const STAGING = join(TARGET, "package");

/** The programs that write packages, and the names of the packages in which Debian and Fedora have them. */
const PACKERS = {
  "dpkg-deb": "dpkg",
  "dpkg-shlibdeps": "dpkg-dev",
  rpmbuild: "rpm (Debian) or rpm-build (Fedora)",
};

await main(async () => {
  if (process.platform !== "linux")
    throw new Stop("Packages for Linux are built on Linux. See tauri.conf.json for others.");
  const debug = process.argv.includes("--debug");
  const folder = join(TARGET, debug ? "debug" : "release");
  const seconds = Number(process.env.SOURCE_DATE_EPOCH ?? quiet("git", ["log", "-1", "--format=%ct"]).stdout.trim());
  if (!Number.isInteger(seconds)) throw new Stop("There is no commit whose time could be used. Set SOURCE_DATE_EPOCH.");
  const env = { ...ENV, SOURCE_DATE_EPOCH: String(seconds), ...(debug ? {} : pathFlags()) };
  // `rust-embed`, which `age` uses, stores this time in the program. With the time of the commit, a target folder that
  // was used before would have the time of an earlier commit.
  const compilerEnv = debug ? ENV : { ...env, SOURCE_DATE_EPOCH: "0" };
  await installForPackaging();
  for (const [program, where] of Object.entries(PACKERS))
    if (!has(program)) throw new Stop(`${program} is needed. It is in the package ${where}.`);
  await buildUi();
  const profile = debug ? [] : ["--release"];
  await must("cargo", ["build", "--locked", ...profile, "-p", "mementory-app", "-p", "mementory-cli"], {
    cwd: WORKSPACE,
    env: compilerEnv,
  });
  refuseNetworkClients(join(folder, "mementory-app"));
  const files = await stage(STAGING, folder, seconds);
  const config = { bundle: { linux: { deb: { files } } } };
  const configFile = join(STAGING, "bundle.json");
  writeFileSync(configFile, JSON.stringify(config));
  const args = ["bundle", "--bundles", "deb", "--no-sign", "--ci", "--config", configFile];
  await must("npx", ["--no-install", "tauri", ...args, ...(debug ? ["--debug"] : [])], { env });
  const options = { staging: STAGING, seconds, maintainer: MAINTAINER, debug, env };
  const content = await repackDeb(join(folder, "bundle", "deb"), options);
  await packRpm(content, join(folder, "bundle", "rpm"), options);
  for (const [kind, names] of Object.entries({ mcpb: ["mementory.mcpb", "server.json"], sbom: [SBOM] })) {
    mkdirSync(join(folder, "bundle", kind), { recursive: true });
    for (const name of names.filter((each) => existsSync(join(STAGING, each))))
      copyFileSync(join(STAGING, name), join(folder, "bundle", kind, name));
  }
  report(join(folder, "bundle"), debug);
});

/**
 * Compiler flags, as environment variables, that keep the folders of this machine out of the programs, so that two
 * machines build the same. If one folder is inside another, the last flag that matches a path applies, for Rust and for
 * C.
 */
function pathFlags() {
  const folders = [
    [process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "/cargo"],
    [ROOT.replace(/\/$/, ""), "/mementory"],
    [TARGET, "/target"],
  ];
  const flags = (option) => folders.map(([from, to]) => `${option}=${from}=${to}`);
  const withOwn = (name, option) => [process.env[name], ...flags(option)].filter(Boolean).join(" ");
  return {
    RUSTFLAGS: withOwn("RUSTFLAGS", "--remap-path-prefix"),
    CFLAGS: withOwn("CFLAGS", "-ffile-prefix-map"),
    CXXFLAGS: withOwn("CXXFLAGS", "-ffile-prefix-map"),
  };
}

/** Fails if a program links the library of a network client. */
function refuseNetworkClients(program) {
  const { code, stdout } = quiet("readelf", ["-d", program]);
  if (code !== 0) throw new Stop(`readelf cannot read ${program}. Install binutils.`);
  const linked = [...stdout.matchAll(/\(NEEDED\).*\[(.*?)\]/g)].map(([, name]) => name);
  const found = linked.filter((name) => NETWORK_LIBRARIES.test(name));
  if (found.length > 0) throw new Stop(`${program} links ${found.join(", ")}. The window must have no network client.`);
}

/** Prints sizes and writes checksums. Fails if a package is missing or too large. */
function report(folder, debug) {
  const filesOf = (kind) => {
    const kindFolder = join(folder, kind);
    return existsSync(kindFolder) ? readdirSync(kindFolder).map((name) => join(kindFolder, name)) : [];
  };
  const built = ["deb", "rpm"].flatMap((kind) => filesOf(kind).filter((file) => file.endsWith(`.${kind}`)));
  if (built.length < 2) throw new Stop(`A package is missing in ${folder}.`);
  const sums = [...built, ...["mcpb", "sbom"].flatMap(filesOf)].map(
    (file) => `${createHash("sha256").update(readFileSync(file)).digest("hex")}  ${basename(file)}\n`,
  );
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
  for (const file of built) console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
  const large = built.filter((file) => !debug && statSync(file).size > MAX_BYTES);
  if (large.length > 0) throw new Stop(`Larger than ${MAX_BYTES / 1e6} MB: ${large.join(", ")}`);
}
