// `npm run quick [-- --base REV]`: checks only what a change affects: format, our checks, clippy of the crates that
// changed and of those that depend on them, unit tests of the crates that changed, and tests of the pages that changed.
// It installs nothing and opens no browser and no window. `npm test` checks everything.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { affectedCrates, baseOf, changedFiles, ourCrates } from "./affected.mjs";
import { runChecks } from "./checks/index.mjs";
import { tally } from "./count.mjs";
import { parseOptions } from "./options.mjs";
import { ROOT, WORKSPACE } from "./places.mjs";
import { Stop, has, main, quiet, show, showAndKeep } from "./sh.mjs";

const USAGE_TEXT = `npm run quick [-- --base REV]

Checks what differs from REV. Without it: what differs from the commit where this branch left origin/main, or from the
last commit if there is no origin/main.`;
const WINDOW_CRATE = "mementory-app";
const inWorkspace = { cwd: WORKSPACE };
const toolCommand = (program, ...args) => [process.execPath, [join(ROOT, "node_modules", program), ...args]];
const PRETTIER_COMMAND = [
  "prettier/bin/prettier.cjs",
  "--config",
  "ui/.prettierrc",
  "--ignore-path",
  "ui/.prettierignore",
];

await main(async () => {
  const parsed = parseOptions(USAGE_TEXT, { options: { base: { type: "string" } } });
  if (parsed === undefined) return 0;
  if (!existsSync(join(ROOT, "node_modules"))) throw new Stop("The npm packages are missing. Run: npm ci");
  const base = baseOf(parsed.values.base);
  const changedPaths = changedFiles(base);
  const files = changedPaths.filter(([, exists]) => exists).map(([name]) => name);
  console.log(`· ${changedPaths.length} files differ from ${base === "HEAD" ? "the last commit" : base.slice(0, 12)}`);

  const count = tally();
  const runTimed = async (name, run) => {
    const started = Date.now();
    await run();
    console.log(`· ${name}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
  };
  await runTimed("our checks", () => runChecks(count));
  await runTimed("pages and tools", () => checkScripts(count, files));
  await runTimed("Rust", () =>
    checkRust(
      count,
      changedPaths.map(([name]) => name),
    ),
  );
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
  console.log(`\n${count.passed} passed, ${count.failed} failed${skipped}`);
  return count.failed === 0 ? 0 : 1;
});

/** Runs Prettier and ESLint on the files that changed, and the page tests that import them. */
async function checkScripts(count, files) {
  const formatted = files.filter((name) => /^ui\/|^tests\/.*\.(?:mjs|js|json)$/.test(name));
  const linted = (folder) =>
    formatted.filter((name) => name.startsWith(folder) && /\.(?:mjs|js|ts|svelte)$/.test(name));
  const [pages, tools] = [linted("ui/"), linted("tests/")];
  const run = async (name, args) => count.add(name, (await show(...toolCommand(...args))) === 0);
  if (formatted.length > 0)
    await run("prettier of what changed", [
      ...PRETTIER_COMMAND,
      "--check",
      "--ignore-unknown",
      "--log-level",
      "warn",
      ...formatted,
    ]);
  if (pages.length > 0)
    await run("eslint of the pages", ["eslint/bin/eslint.js", "--config", "ui/eslint.config.js", ...pages]);
  if (tools.length > 0)
    await run("eslint of the tools", ["eslint/bin/eslint.js", "--config", "tests/eslint.config.js", ...tools]);
  const tested = files.filter((name) => /^ui\/(?:src|tests)\/.*\.(?:ts|svelte|json)$/.test(name));
  if (tested.length > 0) await runPageTests(count, tested);
}

async function runPageTests(count, files) {
  const folder = mkdtempSync(join(tmpdir(), "mementory-quick-"));
  const result = join(folder, "result.json");
  const report = ["--reporter=dot", "--reporter=json", `--outputFile.json=${result}`, "--passWithNoTests"];
  const paths = files.map((name) => join(ROOT, name));
  const args = ["related", "--run", "--config", "ui/vite.config.ts", ...report, ...paths];
  const code = await show(...toolCommand("vitest/vitest.mjs", ...args));
  const { numPassedTests, numFailedTests, numPendingTests } = existsSync(result)
    ? JSON.parse(readFileSync(result, "utf8"))
    : { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0 };
  rmSync(folder, { recursive: true });
  count.passed += numPassedTests;
  count.failed += numFailedTests;
  count.skipped += numPendingTests;
  if (code !== 0 && numFailedTests === 0) count.add("vitest", false);
}

/** Checks the formatting of the Rust files; runs clippy for the affected crates and unit tests for the changed ones. */
async function checkRust(count, files) {
  if (!files.some((name) => name.startsWith("src-tauri/") || name.startsWith("fixtures/"))) return;
  if (!has("cargo")) throw new Stop("Rust is missing. `npm start` installs it, or see https://rustup.rs");
  const cargo = async (name, args) => count.add(name, (await show("cargo", args, inWorkspace)) === 0);
  if (files.some((name) => name.endsWith(".rs"))) {
    await cargo("rustfmt", ["fmt", "--all", "--check"]);
    if (files.some((name) => name.startsWith("src-tauri/fuzz/")))
      await cargo("rustfmt of the fuzz targets", ["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]);
  }
  const crates = ourCrates();
  const { changed, dependents } = affectedCrates(files, crates, (path) => existsSync(join(ROOT, path)));
  const missing = findMissingNeed();
  if (missing && [...changed, ...dependents].includes(WINDOW_CRATE)) count.leaveOut(`${WINDOW_CRATE}: ${missing}`);
  const packageArgs = (names) =>
    names.filter((name) => !(missing && name === WINDOW_CRATE)).flatMap((name) => ["-p", name]);
  const linted = packageArgs([...changed, ...dependents]);
  if (linted.length > 0) {
    const clippy = ["clippy", "--locked", "--quiet", ...linted, "--", "-D", "warnings"];
    await cargo(`clippy of ${[...changed, ...dependents].join(", ")}`, clippy);
  }
  for (const [kind, wanted] of [
    ["--lib", true],
    ["--bins", false],
  ]) {
    const tested = changed.filter((name) => crates.find((each) => each.name === name).hasLibrary === wanted);
    if (packageArgs(tested).length > 0) await cargoTest(count, [...packageArgs(tested), kind]);
  }
}

async function cargoTest(count, args) {
  const { code, text } = await showAndKeep("cargo", ["test", "--locked", "--no-fail-fast", ...args], inWorkspace);
  let failed = 0;
  for (const [, good, bad, ignored] of text.matchAll(/^test result: .*? (\d+) passed; (\d+) failed; (\d+) ignored/gm)) {
    count.passed += Number(good);
    failed += Number(bad);
    count.skipped += Number(ignored);
  }
  count.failed += failed;
  // If a crate does not compile, it prints no result line, so count the failure here.
  if (code !== 0 && failed === 0) count.add(`cargo test ${args.join(" ")}`, false);
}

/** Returns the reason why the window's crate cannot be compiled here, or undefined if it can. */
function findMissingNeed() {
  if (!existsSync(join(ROOT, "ui", "dist", "index.html"))) return "the pages are not built: npm run ui:build";
  const isLinux = process.platform === "linux";
  if (isLinux && quiet("pkg-config", ["--exists", "webkit2gtk-4.1"]).code !== 0) return "WebKitGTK is not installed";
  return undefined;
}
