// Running other programs.
import { spawn, spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { ROOT, TARGET, TOOLS } from "./places.mjs";

/** The environment of everything we start: our tools and rustup's folder are on the path. */
export const ENV = {
  ...process.env,
  CARGO_TARGET_DIR: TARGET,
  PATH: [join(TOOLS, "bin"), join(homedir(), ".cargo", "bin"), process.env.PATH].join(delimiter),
};

/** Is there such a program? */
export function has(program) {
  return (
    spawnSync(process.platform === "win32" ? "where" : "which", [program], { env: ENV, stdio: "ignore" }).status === 0
  );
}

/** Run and show what it prints. Answers the exit code. */
export function show(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: ROOT, env: ENV, stdio: "inherit", ...options });
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(signal ? 128 : code));
  });
}

/** Run, show what it prints, and keep it as well. Answers {code, text}. */
export function showAndKeep(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: ROOT, env: ENV, stdio: ["ignore", "pipe", "pipe"], ...options });
    let text = "";
    const keep = (to) => (bytes) => {
      text += bytes;
      to.write(bytes);
    };
    child.stdout.on("data", keep(process.stdout));
    child.stderr.on("data", keep(process.stderr));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, text }));
  });
}

/** Run in silence. Answers {code, stdout, stderr}. */
export function quiet(program, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: ROOT,
    env: ENV,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    ...options,
  });
  if (error && error.code !== "ENOENT") throw error;
  return { code: status ?? 127, stdout: stdout ?? "", stderr: stderr ?? "" };
}

/** Run and show; stop everything when it fails. */
export async function must(program, args, options = {}) {
  const code = await show(program, args, options);
  if (code !== 0) throw new Stop(`\`${[program, ...args].join(" ")}\` ended with ${code}.`);
}

/** A reason to stop that a person can act on: printed without a stack. */
export class Stop extends Error {}

/** Run a script's main function with readable failures. */
export async function main(run) {
  try {
    process.exitCode = (await run()) ?? 0;
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    console.error(`\n${error.message}`);
    process.exitCode = 1;
  }
}
