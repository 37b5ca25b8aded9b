// The limits of the machine, measured by the Rust program beside this file.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TARGET, WORKSPACE } from "../tools/places.mjs";
import { ENV, Stop, must } from "../tools/sh.mjs";

const PACKAGE = fileURLToPath(new URL("limits", import.meta.url));
const CONVERSATION_FILE = /(^|\/)conversations[^/]*\.json$/;

function programPath() {
  const path = join(TARGET, "release", process.platform === "win32" ? "mementory-limits.exe" : "mementory-limits");
  if (!existsSync(path)) throw new Stop(`${path} is missing. Run without --no-build.`);
  return path;
}

/** Build it with the dependency versions of Mementory. */
export async function buildLimits() {
  copyFileSync(join(WORKSPACE, "Cargo.lock"), join(PACKAGE, "Cargo.lock"));
  await must("cargo", ["build", "--release", "-j2", "--manifest-path", join(PACKAGE, "Cargo.toml")]);
}

/** Parse a JSON file twice into values: {wall, user, sys, rss}. A `.jsonl` file is parsed line by line. */
export function parseTwice(meter, file) {
  const { status, stderr, stdout, ...usage } = meter.measure([programPath(), "plain", file]);
  if (status !== 0)
    throw new Stop(
      `limits plain ended with ${status}: ${stderr}${stdout} Was it built before this? Run without --no-build.`,
    );
  return usage;
}

/** Measure with the conversations of an export; returns the rates that the program printed. */
export function measureLimits(exportZip, folder) {
  const json = join(folder, "limits.json");
  writeFileSync(json, conversations(exportZip));
  const own = join(folder, "limits");
  mkdirSync(own);
  const { status, stdout, stderr } = spawnSync(programPath(), [json, own], { env: ENV, encoding: "utf8" });
  if (status !== 0) throw new Stop(`limits ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

/** The conversation lists of an export as one list. Uses Python, which the generator needs anyway. */
function conversations(exportZip) {
  const script = `
import re, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
parts = [z.read(n).strip()[1:-1] for n in sorted(z.namelist()) if re.search(sys.argv[2], n)]
sys.stdout.buffer.write(b"[" + b",".join(p for p in parts if p.strip()) + b"]")`;
  const { status, stdout, stderr } = spawnSync("python3", ["-c", script, exportZip, CONVERSATION_FILE.source], {
    maxBuffer: 2 ** 31,
  });
  if (status !== 0) throw new Stop(`The export could not be read: ${stderr}`);
  return stdout;
}
