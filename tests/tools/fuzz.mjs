// `npm run fuzz -- <target> [--seconds N]`: feeds one format's reader and validator with variations of its fixtures,
// for ten minutes by default. Findings are saved in fixtures/fuzz/<target>/, where a Rust test replays them.
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseOptions } from "./options.mjs";
import { CACHE, ROOT, TARGET, WORKSPACE } from "./places.mjs";
import { digest, writeSeeds } from "./seeds.mjs";
import { cargoTool } from "./setup.mjs";
import { ENV, Stop, main, must, quiet } from "./sh.mjs";

const TARGET_NAMES = readdirSync(join(WORKSPACE, "fuzz", "fuzz_targets")).map((name) => name.replace(/\.rs$/, ""));
const USAGE_TEXT = `npm run fuzz -- <target> [--seconds N]\n\nTargets: ${TARGET_NAMES.join(", ")}`;
/** Limits for one input. The stack is as large as that of the program's threads. */
const [HANG_SECONDS, MEMORY_MB, STACK_KB] = [10, 500, 2048];

await main(async () => {
  const parsed = parseOptions(USAGE_TEXT, {
    allowPositionals: true,
    options: { seconds: { type: "string", default: "600" } },
  });
  if (parsed === undefined) return 0;
  const [target] = parsed.positionals;
  const seconds = Number(parsed.values.seconds);
  if (!TARGET_NAMES.includes(target) || !(seconds > 0)) throw new Stop(USAGE_TEXT);
  const home = join(CACHE, "fuzz", target);
  const [corpus, words, results] = ["corpus", "words.dict", "found"].map((name) => join(home, name));
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  const seeds = writeSeeds(target, corpus, words);
  console.log(`· ${seeds} seeds from the fixtures, ${readdirSync(corpus).length} inputs with those of earlier runs`);

  const program = await buildTarget(target);
  // Use a folder in memory where possible, because the fuzzer writes thousands of files a second.
  const scratch = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "mementory-fuzz-run-"));
  try {
    const { code, text } = await runTarget(program, corpus, scratch, [
      corpus,
      `-max_total_time=${seconds}`,
      `-timeout=${HANG_SECONDS}`,
      `-rss_limit_mb=${MEMORY_MB}`,
      "-max_len=65536",
      `-dict=${words}`,
      `-artifact_prefix=${results}/`,
      "-print_final_stats=1",
    ]);
    const saved = saveFindings(target, results, code === 0 ? undefined : scratch);
    console.log(summaryText(target, text, saved));
    return code === 0 && saved.length === 0 ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

/**
 * Builds the target without a sanitizer, because our crates have no unsafe code and the fuzzer limits memory itself.
 */
async function buildTarget(target) {
  await cargoTool("cargo-fuzz", "^0.13");
  const args = ["fuzz", "build", "--fuzz-dir", "fuzz", "--sanitizer", "none", target];
  await must("cargo", args, { cwd: WORKSPACE });
  const [, host] = /^host: (.*)$/m.exec(quiet("rustc", ["-vV"]).stdout) ?? [];
  return join(TARGET, host, "release", target);
}

/**
 * Runs the fuzz target with a limited stack and shows its error output. Returns {code, text}: exit code and error
 * output.
 */
function runTarget(program, corpus, scratch, args) {
  const limited = ["-c", `ulimit -s ${STACK_KB}; exec "$@"`, "sh", program, ...args];
  return new Promise((resolve, reject) => {
    const child = spawn("sh", limited, {
      cwd: ROOT,
      env: { ...ENV, TMPDIR: scratch },
      stdio: ["ignore", "inherit", "pipe"],
    });
    let text = "";
    child.stderr.on("data", (bytes) => {
      text += bytes;
      process.stderr.write(bytes);
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 128, text }));
  });
}

/** Copies findings to the fixtures. After a stack overflow, only the scratch folder contains the input. */
function saveFindings(target, results, scratch) {
  const findings = readdirSync(results).map((name) => [name.split("-")[0], join(results, name)]);
  if (findings.length === 0 && scratch) {
    const unfinishedInputs = readdirSync(scratch).map((name) => join(scratch, name, "whole"));
    findings.push(...unfinishedInputs.filter(existsSync).map((path) => ["died", path]));
  }
  const folder = join(ROOT, "fixtures", "fuzz", target);
  return findings.map(([kind, path]) => {
    mkdirSync(folder, { recursive: true });
    const savedPath = join(folder, `${kind}-${digest(readFileSync(path))}`);
    copyFileSync(path, savedPath);
    return savedPath;
  });
}

function summaryText(target, text, saved) {
  const coverage = [...text.matchAll(/^#\d+\t(\w+)\s+cov: (\d+)/gm)];
  const coverageBefore = coverage.find(([, event]) => event === "INITED")?.[2] ?? "?";
  const [, , after] = coverage.at(-1) ?? [];
  const executions = /^stat::number_of_executed_units:\s*(\d+)/m.exec(text)?.[1] ?? "?";
  const seconds = /^Done \d+ runs in (\d+) second/m.exec(text)?.[1] ?? "cut short";
  const lines = [
    `${target}: seconds ${seconds}, executions ${executions}, coverage ${coverageBefore} to ${after ?? "?"}, found ${saved.length}`,
    ...saved.map((path) => `  ${path}`),
  ];
  return lines.join("\n");
}
