// Runs other programs.
import { spawn, spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { ROOT, TARGET, TOOLS } from "./places.mjs";

/** The environment of every program that we start. The folders of our tools and of rustup are on its path. */
export const ENV = {
  ...process.env,
  CARGO_TARGET_DIR: TARGET,
  PATH: [join(TOOLS, "bin"), join(homedir(), ".cargo", "bin"), process.env.PATH].join(delimiter),
};

/** Whether this program is on the path. */
export function has(program) {
  return (
    spawnSync(process.platform === "win32" ? "where" : "which", [program], { env: ENV, stdio: "ignore" }).status === 0
  );
}

/** Runs a program with its output on the terminal. Returns the exit code. */
export function show(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: ROOT, env: ENV, stdio: "inherit", ...options });
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(signal ? 128 : code));
  });
}

/** Runs a program; its output goes to the terminal, and is returned as well: {code, text}. */
export function showAndKeep(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: ROOT, env: ENV, stdio: ["ignore", "pipe", "pipe"], ...options });
    let text = "";
    const passOn = (to) => (bytes) => {
      text += bytes;
      to.write(bytes);
    };
    child.stdout.on("data", passOn(process.stdout));
    child.stderr.on("data", passOn(process.stderr));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, text }));
  });
}

/** Runs a program and returns what it prints without showing it: {code, text}. Other programs can run meanwhile. */
export function capture(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: ROOT, env: ENV, stdio: ["ignore", "pipe", "pipe"], ...options });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (piece) => (text += piece));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 128, text }));
  });
}

/** Runs a program without showing its output. Returns {code, stdout, stderr}. */
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

/** Runs a program with its output on the terminal, and throws [`Stop`] if it fails. */
export async function must(program, args, options = {}) {
  const code = await show(program, args, options);
  if (code !== 0) throw new Stop(`\`${[program, ...args].join(" ")}\` ended with ${code}.`);
}

/** An error whose message says what to do: printed without a stack trace. */
export class Stop extends Error {}

/** Runs a script's main function and sets the exit code. */
export async function main(run) {
  try {
    process.exitCode = (await run()) ?? 0;
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    console.error(`\n${error.message}`);
    process.exitCode = 1;
  }
}
