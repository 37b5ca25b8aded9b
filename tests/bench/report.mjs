// Common parts of the benchmarks: building, a temporary folder with a copy of the released program, and the results
// file with facts about the machine and its load.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CACHE, TARGET, WORKSPACE } from "../tools/places.mjs";
import { buildUi, installForTesting } from "../tools/setup.mjs";
import { Stop, must } from "../tools/sh.mjs";
import { buildLimits } from "./limits.mjs";
import { Mementory } from "./measure.mjs";

const PASSPHRASE = "correct horse battery staple lamp";

/** Builds everything that the benchmarks measure, in release mode. */
export async function build() {
  await installForTesting();
  await buildUi();
  // Build the whole workspace, so that features are unified as in a release.
  await must(
    "cargo",
    ["build", "--locked", "--release", "--workspace", "--bin", "mementory", "--bin", "mementory-app"],
    {
      cwd: WORKSPACE,
    },
  );
  await buildLimits();
}

/**
 * Copies the program of the release build, or of the dev build, into a temporary folder. Returns {mementory, folder,
 * built, before}: `built` is the time of the build, `before` the load average before the measurement.
 */
export function setup(profile = "release") {
  mkdirSync(join(CACHE, "bench"), { recursive: true });
  const folder = mkdtempSync(join(CACHE, "bench", "run-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const secret = join(folder, "passphrase.txt");
  writeFileSync(secret, `${PASSPHRASE}\n`, { mode: 0o600 });
  const name = process.platform === "win32" ? "mementory.exe" : "mementory";
  const released = join(TARGET, profile, name);
  const found = statSync(released, { throwIfNoEntry: false });
  if (!found) throw new Stop(`${released} is missing. Run without --no-build.`);
  // Use a copy, because a build that runs meanwhile would replace the program.
  const program = join(folder, name);
  copyFileSync(released, program);
  return { mementory: new Mementory({ program, folder, secret }), folder, built: found.mtime, before: loadavg()[0] };
}

/** Prints the table and writes it to `file` next to this module. Returns the exit code: 1 if `wrong` lists anything. */
export function publish({ rows, wrong, built, before }, { file, title, facts, columns, notes }) {
  const all = cpus();
  const head = [
    `Date: ${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`,
    `CPU: ${all[0]?.model.trim() || "unknown"}, ${all.length} logical`,
    `Memory: ${(totalmem() / 1e9).toFixed(0)} GB`,
    `Load average at the start and end: ${before.toFixed(1)} and ${loadavg()[0].toFixed(1)} (well above zero at the start means that other work took part of the machine: then read CPU seconds, not wall)`,
    `Program built: ${built.toISOString().slice(0, 16).replace("T", " ")} UTC`,
    ...facts,
  ];
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const table = [line(columns), line(columns.map(() => "---")), ...rows.map(line)];
  const text = `# ${title}\n\n${head.map((f) => `- ${f}`).join("\n")}\n\n${table.join("\n")}\n\n${notes}\n`;
  writeFileSync(fileURLToPath(new URL(file, import.meta.url)), text);
  console.log(`\n${text}`);
  for (const what of wrong) console.log(`WRONG: ${what}`);
  return wrong.length === 0 ? 0 : 1;
}
