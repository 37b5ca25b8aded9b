// Checks the boundary between the window's pages and Rust: the granted permissions and the content security policy. A
// Rust test checks that the generated bindings are up to date, because they are generated there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { WORKSPACE } from "../places.mjs";

const read = (...path) => readFileSync(join(WORKSPACE, ...path), "utf8");

/**
 * Problems if the pages are granted any permission other than to call each command by its name and to listen to events.
 */
export function checkPermissions() {
  return permissionProblems(read("src", "ipc.rs"), JSON.parse(read("capabilities", "main.json")).permissions);
}

/** Differences between the commands that `source` lists and these permissions, one line each. */
export function permissionProblems(source, permissions) {
  const commands = [...source.matchAll(/^\s+\w+::(\w+),$/gm)].map(([, name]) => `allow-${name.replaceAll("_", "-")}`);
  const wanted = new Set(["core:event:allow-listen", "core:event:allow-unlisten", ...commands]);
  const granted = new Set(permissions);
  return [
    ...[...wanted].filter((name) => !granted.has(name)).map((name) => `capabilities/main.json does not grant ${name}`),
    ...[...granted].filter((name) => !wanted.has(name)).map((name) => `capabilities/main.json grants ${name}`),
  ];
}

/** Problems if a release build has the web view's developer tools, which debug builds always have. */
export function checkDeveloperTools() {
  return developerToolsProblems(read("Cargo.toml"), read("src", "window.rs"), JSON.parse(read("tauri.conf.json")));
}

/** Places in the manifest, in the source of the window and in Tauri's configuration that ask for developer tools. */
export function developerToolsProblems(manifest, source, { app }) {
  const requestingLines = manifest
    .split("\n")
    .filter((line) => /^tauri(-\w+)* *=/.test(line) && line.includes("devtools"));
  return [
    ...requestingLines.map((line) => `Cargo.toml has the feature devtools: ${line}`),
    ...(/devtools/.test(source) ? ["src/window.rs opens or allows developer tools"] : []),
    ...((app.windows ?? []).some(({ devtools }) => devtools) ? ["tauri.conf.json allows developer tools"] : []),
  ];
}

/** Problems if the content security policy allows more than our own origin, or the page gets a global Tauri object. */
export function checkPolicy() {
  return policyProblems(JSON.parse(read("tauri.conf.json")));
}

/**
 * Returns one line for each thing that this Tauri configuration allows beyond our own origin, data and blob addresses
 * and Tauri's calls.
 */
export function policyProblems({ app }) {
  const allowedSources = new Set(["'self'", "'none'", "blob:", "data:", "ipc:", "http://ipc.localhost"]);
  const problems = Object.entries(app.security.csp)
    .flatMap(([name, value]) => value.split(" ").map((source) => ({ name, source })))
    .filter(({ source }) => !allowedSources.has(source))
    .map(({ name, source }) => `the content security policy allows ${source} in ${name}`);
  if (app.security.csp["default-src"] !== "'self'") problems.push("default-src is not 'self'");
  if (app.withGlobalTauri !== false) problems.push("withGlobalTauri is not false");
  return problems;
}
