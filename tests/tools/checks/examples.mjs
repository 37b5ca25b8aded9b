// Tests of the checks themselves: each has to find what is wrong in invented sources, and nothing in good ones.
import { readFileSync } from "node:fs";
import { affectedCrates } from "../affected.mjs";
import { write as writeLicenceTexts } from "../licence_texts.mjs";
import { withVersions } from "../package_deb.mjs";
import { formatsIn, formatsMarkdown, tableProblems } from "../formats_table.mjs";
import { developerToolsProblems, permissionProblems, policyProblems } from "./boundary.mjs";
import { bundleConfiguration } from "./bundle.mjs";
import { forbiddenDependencies } from "./crates.mjs";
import { MACHINE_PATH_PATTERN, placeholdersIn, lengthProblem } from "./files.mjs";
import { MANIFEST, flatpakPermissions } from "./flatpak.mjs";
import { declaredNames, namedInPages, namedInRust } from "./format_names.mjs";
import { cyclesOf, siblingGraph } from "./modules.mjs";
import { networkClients } from "./network.mjs";
import { promiseProblems } from "./promises.mjs";
import { moduleTree } from "./rust_modules.mjs";
import { median, shapeOf, tooLarge } from "./shape.mjs";
import { physicalSides } from "./styles.mjs";
import { bannedIn } from "./words.mjs";

const readExamples = (name) => JSON.parse(readFileSync(new URL(`examples/${name}.json`, import.meta.url), "utf8"));

/** A list with one problem if `found` is not `expected`, otherwise an empty list. */
function problemUnlessSame(what, found, expected) {
  const [a, b] = [found, expected].map((each) => JSON.stringify(each));
  return a === b ? [] : [`${what}: ${a} instead of ${b}`];
}

function moduleExamples() {
  return readExamples("modules").flatMap(({ about, files, edges, cycles }) => {
    const levels = siblingGraph(moduleTree("lib.rs", (file) => files[file]?.join("\n")));
    const found = levels.flatMap((level) => [...level.edges.keys()]).sort();
    const groups = levels.flatMap(cyclesOf).map((group) => group.join(", "));
    return [
      ...problemUnlessSame(`module cycles: ${about}: edges`, found, edges),
      ...problemUnlessSame(`module cycles: ${about}: cycles`, groups, cycles),
    ];
  });
}

const FORMATS = [
  [
    "formats/src/pam/mod.rs",
    'fn id(&self) -> &\'static str {\n    bundle::SCOPE\n}\nfn name(&self) -> &str { "PAM file" }',
  ],
  ["formats/src/alf/delta/mod.rs", 'fn id(&self) -> &str { "alf_delta" }'],
  ["formats/src/zaxy/mod.rs", 'fn id(&self) -> &str { "zaxy" }'],
  ["formats/src/mem/mod.rs", 'fn id(&self) -> &str { "mem" }'],
];

function formatNameExamples() {
  const names = declaredNames(FORMATS);
  const declared = problemUnlessSame(
    "format names: declared",
    [...names],
    ["pam", "PAM file", "alf_delta", "zaxy", "mem"],
  );
  const named = readExamples("format_names").flatMap(({ about, file, source, found }) => {
    const places = (file.endsWith(".rs") ? namedInRust : namedInPages)(source.join("\n"), names);
    return problemUnlessSame(
      `format names: ${about}`,
      places.map(({ line, text }) => `${line} ${text}`).sort(),
      found.toSorted(),
    );
  });
  return [...declared, ...named];
}

const BANNED_WORDS = [
  { word: "anew" },
  { word: "telling" },
  { word: "told", in: "names" },
  { word: "HandClock", in: "names", exact: true },
  { word: "overlay", files: "\\.rs$" },
  { word: "old", except: { "legacy/": "reads what was written before" } },
];

function wordExamples() {
  return readExamples("words").flatMap(({ about, file, source, found }) => {
    const places = bannedIn(file, source.join("\n"), BANNED_WORDS).map(({ line, text }) => `${line} ${text}`);
    return problemUnlessSame(`words: ${about}`, places.sort(), found.toSorted());
  });
}

/**
 * Tests the limits of shape.mjs with an invented crate. In it, two types with the same name have 30 methods each, one
 * type has 41 methods in two files, and half of the files are too long.
 */
function shapeExamples() {
  const methods = (n, name = "f") => Array.from({ length: n }, (_, i) => `pub fn ${name}${i}(&self) { if true {} }`);
  const files = {
    "lib.rs": ["mod a;", "mod b;", "pub struct Large<T>(T);", "impl<T: Fn() -> u8> Large<T> {", ...methods(21), "}"],
    "a.rs": ["struct Same;", "impl Same {", ...methods(30), "}", "impl Drop for Same {", ...methods(30, "g"), "}"],
    "b.rs": ["struct Same;", "impl Same {", ...methods(30), "}", "impl crate::Large<u8> {", ...methods(20, "g"), "}"],
    "c.rs": [...Array(160).fill("fn f() {}"), "#[cfg(test)]", "mod tests {", ...Array(40_000).fill("fn f() {}"), "}"],
    "d.rs": [...Array(30_000).fill("fn f() {}")],
    "e.rs": [...Array(160).fill("fn f() {}")],
    "f.rs": [...Array(200).fill("fn f() {}")],
  };
  const sources = Object.entries(files).map(([name, lines]) => [`src-tauri/crates/x/src/${name}`, lines.join("\n")]);
  const found = tooLarge(shapeOf(sources, [["x", moduleTree("lib.rs", (file) => files[file]?.join("\n"))]]));
  return [
    ...problemUnlessSame("shape: median", [median([3, 1, 2]), median([4, 1, 3, 2])], [2, 2.5]),
    ...problemUnlessSame(
      "shape: what is too large",
      found.map((problem) => problem.replace(/ ?(?:at most|, not).*/, "")),
      [
        "x::Large has 41 methods,",
        "half of the Rust files have more than 159 lines",
        "x has 30659 lines without tests,",
      ],
    ),
  ];
}

const styleExamples = () =>
  problemUnlessSame(
    "logical sides",
    physicalSides("a { margin-left: 1px; inset: 0 1px 0 2px; margin-inline: 1px; padding: 0 1px 2px 1px; }"),
    ["margin-left: 1px", "inset: 0 1px 0 2px"],
  );

function crateExamples() {
  const uses = (name, ...used) => ({ name, dependencies: used.map((each) => ({ name: each, kind: null })) });
  const found = forbiddenDependencies([
    uses("mementory-model", "mementory-vault", "serde"),
    uses("mementory-api", "argon2", "mementory-model"),
    uses("mementory-other"),
  ]);
  return problemUnlessSame("crate direction", found, [
    "mementory-model must not depend on mementory-vault",
    "mementory-api must not use argon2: that is for mementory-crypto",
    "mementory-other: not in the list of tests/tools/checks/crates.mjs",
  ]);
}

function fileExamples() {
  const lines = (n) => "x\n".repeat(n);
  const long = [
    lengthProblem("a.rs", lines(601)),
    lengthProblem("a.svelte", lines(401)),
    lengthProblem("a.rs", lines(600)),
  ];
  const sleeping = `a();\nthread::${"sleep"}(x);\nlist.${"skip"}(1);\n`;
  return [
    ...problemUnlessSame(
      "file sizes",
      long.map((problems) => problems.length),
      [1, 1, 0],
    ),
    ...problemUnlessSame(
      "placeholders",
      [placeholdersIn("a.rs", sleeping).length, placeholdersIn("a.ts", sleeping).length],
      [1, 2],
    ),
    ...problemUnlessSame(
      "machine paths",
      [`see /${"root"}/x`, "see ~/x"].map((text) => MACHINE_PATH_PATTERN.test(text)),
      [true, false],
    ),
  ];
}

function boundaryExamples() {
  const events = ["core:event:allow-listen", "core:event:allow-unlisten"];
  const found = permissionProblems("    vault::open_vault,\n    vault::lock,\n", [
    "allow-lock",
    "fs:allow-read",
    ...events,
  ]);
  const csp = { "default-src": "'self'", "img-src": "'self' https://example.org" };
  return [
    ...problemUnlessSame("window permissions", found, [
      "capabilities/main.json does not grant allow-open-vault",
      "capabilities/main.json grants fs:allow-read",
    ]),
    ...problemUnlessSame(
      "content security policy",
      policyProblems({ app: { security: { csp }, withGlobalTauri: true } }),
      ["the content security policy allows https://example.org in img-src", "withGlobalTauri is not false"],
    ),
    ...problemUnlessSame(
      "developer tools: allowed in three ways",
      developerToolsProblems(
        'tauri = { features = ["wry", "devtools"] }\nother = "devtools"',
        "window.open_devtools();",
        {
          app: { windows: [{ devtools: true }] },
        },
      ),
      [
        'Cargo.toml has the feature devtools: tauri = { features = ["wry", "devtools"] }',
        "src/window.rs opens or allows developer tools",
        "tauri.conf.json allows developer tools",
      ],
    ),
  ];
}

/** Tests which crates `npm run quick` checks after a change. */
function affectedExamples() {
  const crate = (name, folder, ...uses) => ({ name, folder, hasLibrary: true, uses });
  const crates = [
    crate("app", "src-tauri/", "api"),
    crate("api", "src-tauri/crates/api/", "vault"),
    crate("vault", "src-tauri/crates/vault/", "formats", "scan"),
    crate("formats", "src-tauri/crates/formats/"),
    crate("scan", "src-tauri/crates/scan/"),
  ];
  const has = (path) => path === "src-tauri/crates/formats/src/mem0";
  const cases = [
    ["src-tauri/crates/formats/src/mem0/read.rs", ["formats"], ["api", "app", "vault"]],
    ["fixtures/mem0/bare/input.json", ["formats"], ["api", "app", "vault"]],
    ["src-tauri/src/lib.rs", ["app"], []],
    ["src-tauri/crates/scan/README.md", [], []],
    ["src-tauri/Cargo.toml", [], ["api", "app", "formats", "scan", "vault"]],
    ["ui/src/main.ts", [], []],
  ];
  return cases.flatMap(([file, changed, dependents]) =>
    problemUnlessSame(`quick: ${file}`, affectedCrates([file], crates, has), { changed, dependents }),
  );
}

/** Tests the check of README's table of formats: a stale or missing table must be reported as a problem. */
function formatsTableExamples() {
  const line = (id, validate) =>
    `  { "id": "${id}", "name": "A ${id}", "read": true, "write": false, "validate": ${validate} },`;
  const formats = formatsIn(
    ["export const FORMATS = [", line("one", true), line("two", false), "] as const;"].join("\n"),
  );
  const current = `# Formats\n<!-- formats -->\n${formatsMarkdown(formats)}<!-- /formats -->\n`;
  const stale = ["README.md: the table of formats is stale: node tests/tools/formats_table.mjs"];
  return [
    ...problemUnlessSame(
      "formats: read",
      formats.map(({ id }) => id),
      ["one", "two"],
    ),
    ...problemUnlessSame("formats: current", tableProblems(current, formats), []),
    ...problemUnlessSame("formats: one missing", tableProblems(current, formats.slice(1)), stale),
    ...problemUnlessSame(
      "formats: another capability",
      tableProblems(current.replace("yes | – | yes", "yes | yes | yes"), formats),
      stale,
    ),
    ...problemUnlessSame("formats: no markers", tableProblems("# Formats\n", formats).length, 1),
  ];
}

/** Tests promises.mjs with a page that has every kind of reference. The references in its second half are wrong. */
function promiseExamples() {
  const files = {
    "tests/a.rs": "#[test]\nfn good() {}\nfn helper() {}",
    "src-tauri/crates/mementory-x/src/b.rs": "#[test]\n    #[cfg(unix)]\n    fn deep() {}",
  };
  const rightCells = ["`tests/a.rs::good`, `x/src/b.rs::deep`, `x/src/b.rs`", "not tested"];
  const wrongCells = ["", "`settings.json`", "`tests/a.rs::helper`, `::gone`", "`tests/none.rs`"];
  const rows = [...rightCells, ...wrongCells].map((cell, n) => `| promise ${n} | ${cell} |`);
  const page = ["`erasures/` and `vault.json`", "", "| promise | test |", "|---|---|", ...rows].join("\n");
  return problemUnlessSame(
    "promises",
    promiseProblems(page, (path) => files[path]),
    [
      "SECURITY.md:7: a promise without a test",
      "SECURITY.md:8: a promise without a test",
      "SECURITY.md:9: tests/a.rs has no test helper",
      "SECURITY.md:9: tests/a.rs has no test gone",
      "SECURITY.md:10: there is no `tests/none.rs`",
    ],
  );
}

function networkExamples() {
  const answering = (names) => ({
    cargo: (_, args) => ({ code: 0, stdout: names(args.join(" ")).join("\n"), stderr: "" }),
  });
  const clean = answering((args) => ["serde v1.0.0", ...(args.includes("mementory-cli") ? ["ureq v3.0.0"] : [])]);
  const everywhere = answering(() => ["hyper v1.0.0 (proc-macro)", "zbus v5.0.0"]);
  return [
    ...problemUnlessSame("network clients: only in the command line", networkClients(clean), []),
    ...problemUnlessSame("network clients: in every program", networkClients(everywhere), [
      "mementory-api links hyper; only `push` may have a client",
      "the window links hyper; it must have no network client",
    ]),
  ];
}

const APACHE = "Apache License\nVersion 2.0, January 2004\n...\nEND OF TERMS AND CONDITIONS";
const MIT = "Copyright (c) Ines\n\nPermission is hereby granted, free of charge, ... OTHER DEALINGS IN THE SOFTWARE.";

function licenceTextExamples() {
  const component = (name, licence, texts = [], authors = []) => ({ kind: "Crates", name, licence, texts, authors });
  const given = [component("a 1", "Apache-2.0", [APACHE]), component("b 1", "MIT", [MIT])];
  const textOf = (...more) => writeLicenceTexts([...given, ...more], { fonts: "[no text: drawn by us]" });
  const failure = (...more) => {
    try {
      return textOf(...more);
    } catch (error) {
      return error.message.split(". ")[0];
    }
  };
  const again = textOf(component("c 1", "MIT", [MIT.replaceAll(" ", "\n")]), component("d 1", "Apache-2.0 / MIT"));
  const borrowed = textOf(component("e 1", "MIT", [], ["Tarek"]), component("fonts 1", "OFL-1.1"));
  return [
    ...problemUnlessSame("licence texts: each once", again.match(/^\[\d+\]$/gm), ["[1]", "[2]"]),
    ...problemUnlessSame("licence texts: the same licence", /^d 1.*$/m.exec(again)?.[0], "d 1: Apache-2.0 / MIT [1]"),
    ...problemUnlessSame(
      "licence texts: the authors of a borrowed text",
      /\[3\]\n\n(.*)\n\nPermission is hereby/.exec(borrowed)?.[1],
      "Copyright (c) Tarek",
    ),
    ...problemUnlessSame(
      "licence texts: no text",
      failure(component("g 1", "Zlib"), component("h 1", "MIT AND Zlib")),
      "These components have no text of their licence: g 1 (Zlib), h 1 (MIT AND Zlib)",
    ),
  ];
}

function packageExamples() {
  const manifest = readFileSync(MANIFEST, "utf8");
  const more = manifest.replace("finish-args:\n", "finish-args:\n  # why\n  - --device=all\n");
  const without = (name) => manifest.replace(`  - --talk-name=${name}\n`, "");
  const config = JSON.parse(readFileSync(new URL("../../../src-tauri/tauri.conf.json", import.meta.url), "utf8"));
  const bundled = (change) => bundleConfiguration({ ...config, bundle: { ...config.bundle, ...change } });
  const versions = new Map([["libssl3", "libssl3 (>= 3.0.0)"]]);
  return [
    ...problemUnlessSame("Flatpak: another permission", flatpakPermissions(more), [
      "the Flatpak manifest grants --device=all",
    ]),
    ...problemUnlessSame("Flatpak: a missing permission", flatpakPermissions(without("org.mate.ScreenSaver")), [
      "the Flatpak manifest lacks --talk-name=org.mate.ScreenSaver (the vault locks with the screen)",
    ]),
    ...problemUnlessSame("packages: an ending of others", bundled({ fileAssociations: [{ ext: ["json"] }] }), [
      ...["mem", "alf", "alf-delta"].map((ending) => `no file association for .${ending}`),
      ".json is not ours",
    ]),
    ...problemUnlessSame("packages: a web view from the network", bundled({ windows: {} }).length, 1),
    ...problemUnlessSame("packages: no entitlements", bundled({ macOS: { hardenedRuntime: true } }).length, 1),
    ...problemUnlessSame("packages: a misspelt setting", bundled({ publishers: "A" }), [
      "tauri.conf.json.bundle should NOT have additional properties",
    ]),
    ...problemUnlessSame(
      "packages: versions",
      withVersions("libc6, libssl3 | libssl3t64", versions),
      "libc6, libssl3 (>= 3.0.0) | libssl3t64",
    ),
  ];
}

export function checkExamples() {
  return [
    packageExamples,
    licenceTextExamples,
    affectedExamples,
    crateExamples,
    fileExamples,
    boundaryExamples,
    moduleExamples,
    formatNameExamples,
    formatsTableExamples,
    wordExamples,
    shapeExamples,
    styleExamples,
    promiseExamples,
    networkExamples,
  ].flatMap((check) => check());
}
