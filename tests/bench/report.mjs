// What is around every measurement: building, a copy of the released program in a folder that is removed afterwards, and
// the head of the results, which says on what machine and beside what they were taken.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CACHE, TARGET, WORKSPACE } from "../tools/places.mjs";
import { buildUi, forTesting } from "../tools/setup.mjs";
import { Stop, must } from "../tools/sh.mjs";
import { buildLimits } from "./limits.mjs";
import { Mementory } from "./measure.mjs";

const PASSPHRASE = "correct horse battery staple lamp";

/** Build everything that is measured, as it is released. */
export async function build() {
  await forTesting();
  await buildUi();
  // The whole workspace, so that the programs are the ones that are released.
  await must(
    "cargo",
    ["build", "--locked", "--release", "--workspace", "--bin", "mementory", "--bin", "mementory-app"],
    {
      cwd: WORKSPACE,
    },
  );
  await buildLimits();
}

/** The released command line and a folder to work in: {mementory, folder, built, before}. */
export function place() {
  mkdirSync(join(CACHE, "bench"), { recursive: true });
  const folder = mkdtempSync(join(CACHE, "bench", "run-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const secret = join(folder, "passphrase.txt");
  writeFileSync(secret, `${PASSPHRASE}\n`, { mode: 0o600 });
  const name = process.platform === "win32" ? "mementory.exe" : "mementory";
  const released = join(TARGET, "release", name);
  const found = statSync(released, { throwIfNoEntry: false });
  if (!found) throw new Stop(`${released} is not there. Run without --no-build.`);
  // A copy: a build in the meantime must not change what is measured.
  const program = join(folder, name);
  copyFileSync(released, program);
  return { mementory: new Mementory({ program, folder, secret }), folder, built: found.mtime, before: loadavg()[0] };
}

/** Write the table to `file` beside this one and to the screen. Answers the exit code: 1 when something was wrong. */
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
