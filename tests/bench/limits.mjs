// Builds and runs the Rust program next to this file, which measures the limits of the machine.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TARGET, WORKSPACE } from "../tools/places.mjs";
import { ENV, Stop, must } from "../tools/sh.mjs";

const PACKAGE_FOLDER = fileURLToPath(new URL("limits", import.meta.url));
const CONVERSATION_FILE_PATTERN = /(^|\/)conversations[^/]*\.json$/;

function programPath() {
  const path = join(TARGET, "release", process.platform === "win32" ? "mementory-limits.exe" : "mementory-limits");
  if (!existsSync(path)) throw new Stop(`${path} is missing. Run without --no-build.`);
  return path;
}

/** Builds the Rust program with the same dependency versions as Mementory. */
export async function buildLimits() {
  copyFileSync(join(WORKSPACE, "Cargo.lock"), join(PACKAGE_FOLDER, "Cargo.lock"));
  await must("cargo", ["build", "--release", "-j2", "--manifest-path", join(PACKAGE_FOLDER, "Cargo.toml")]);
}

/**
 * Makes the Rust program parse a JSON file twice into values; a `.jsonl` file is parsed line by line. Returns {wall,
 * user, sys, rss} in seconds and MB.
 */
export function parseTwice(meter, file) {
  const { status, stderr, stdout, ...usage } = meter.measure([programPath(), "plain", file]);
  if (status !== 0)
    throw new Stop(
      `limits plain ended with ${status}: ${stderr}${stdout} Was it built before this? Run without --no-build.`,
    );
  return usage;
}

/** Measures the limits with the conversations of an export. Returns the rates that the Rust program printed. */
export function measureLimits(exportZip, folder) {
  const json = join(folder, "limits.json");
  writeFileSync(json, joinConversations(exportZip));
  const databaseFolder = join(folder, "limits");
  mkdirSync(databaseFolder);
  const { status, stdout, stderr } = spawnSync(programPath(), [json, databaseFolder], { env: ENV, encoding: "utf8" });
  if (status !== 0) throw new Stop(`limits ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

/**
 * Joins the conversation lists of an export into one JSON list and returns the bytes of that list. Uses Python, which
 * the generator of the exports needs anyway.
 */
function joinConversations(exportZip) {
  const script = `
import re, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
parts = [z.read(n).strip()[1:-1] for n in sorted(z.namelist()) if re.search(sys.argv[2], n)]
sys.stdout.buffer.write(b"[" + b",".join(p for p in parts if p.strip()) + b"]")`;
  const { status, stdout, stderr } = spawnSync("python3", ["-c", script, exportZip, CONVERSATION_FILE_PATTERN.source], {
    maxBuffer: 2 ** 31,
  });
  if (status !== 0) throw new Stop(`The export could not be read: ${stderr}`);
  return stdout;
}
