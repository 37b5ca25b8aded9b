// `npm run fuzz -- <target> [--seconds N]`: feeds one format's reader and validator with what a fuzzer makes of its
// fixtures, ten minutes unless told. What it finds is kept in fixtures/fuzz/<target>/, where a Rust test replays it.
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CACHE, ROOT, TARGET, WORKSPACE } from "./places.mjs";
import { digest, plant } from "./seeds.mjs";
import { cargoTool } from "./setup.mjs";
import { ENV, Stop, main, must, quiet } from "./sh.mjs";

const TARGETS = readdirSync(join(WORKSPACE, "fuzz", "fuzz_targets")).map((name) => name.replace(/\.rs$/, ""));
/** A hang, and more memory than any small file is worth. The stack is that of the program's threads. */
const [HANG, MEMORY, STACK] = [10, 500, 2048];

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seconds: { type: "string", default: "600" } },
  });
  const [target] = positionals;
  const seconds = Number(values.seconds);
  if (!TARGETS.includes(target) || !(seconds > 0)) {
    throw new Stop(`npm run fuzz -- <target> [--seconds N]\n\nTargets: ${TARGETS.join(", ")}`);
  }
  const home = join(CACHE, "fuzz", target);
  const [corpus, words, results] = ["corpus", "words.dict", "found"].map((name) => join(home, name));
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  const seeds = plant(target, corpus, words);
  console.log(`· ${seeds} seeds from the fixtures, ${readdirSync(corpus).length} inputs with those of former runs`);

  const program = await build(target);
  // Files go to memory where there is such a place: the fuzzer lays down thousands a second.
  const scratch = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "mementory-fuzz-run-"));
  try {
    const { code, text } = await run(program, corpus, scratch, [
      corpus,
      `-max_total_time=${seconds}`,
      `-timeout=${HANG}`,
      `-rss_limit_mb=${MEMORY}`,
      "-max_len=65536",
      `-dict=${words}`,
      `-artifact_prefix=${results}/`,
      "-print_final_stats=1",
    ]);
    const kept = keep(target, results, code === 0 ? undefined : scratch);
    console.log(summary(target, text, kept));
    return code === 0 && kept.length === 0 ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

/** The target's program. Without a sanitizer: our crates have no unsafe code, and memory is measured as it is used. */
async function build(target) {
  await cargoTool("cargo-fuzz", "^0.13");
  const args = ["fuzz", "build", "--fuzz-dir", "fuzz", "--sanitizer", "none", target];
  await must("cargo", args, { cwd: WORKSPACE });
  const [, host] = /^host: (.*)$/m.exec(quiet("rustc", ["-vV"]).stdout) ?? [];
  return join(TARGET, host, "release", target);
}

/** Runs it, shows what it says, and keeps that. */
function run(program, corpus, scratch, args) {
  const limited = ["-c", `ulimit -s ${STACK}; exec "$@"`, "sh", program, ...args];
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

/** Copies what was found to the fixtures. A stack overflow leaves the input in the scratch folder only. */
function keep(target, results, scratch) {
  const found = readdirSync(results).map((name) => [name.split("-")[0], join(results, name)]);
  if (found.length === 0 && scratch) {
    const open = readdirSync(scratch).map((name) => join(scratch, name, "whole"));
    found.push(...open.filter(existsSync).map((path) => ["died", path]));
  }
  const folder = join(ROOT, "fixtures", "fuzz", target);
  return found.map(([kind, path]) => {
    mkdirSync(folder, { recursive: true });
    const kept = join(folder, `${kind}-${digest(readFileSync(path))}`);
    copyFileSync(path, kept);
    return kept;
  });
}

function summary(target, text, kept) {
  const coverage = [...text.matchAll(/^#\d+\t(\w+)\s+cov: (\d+)/gm)];
  const before = coverage.find(([, event]) => event === "INITED")?.[2] ?? "?";
  const [, , after] = coverage.at(-1) ?? [];
  const executions = /^stat::number_of_executed_units:\s*(\d+)/m.exec(text)?.[1] ?? "?";
  const seconds = /^Done \d+ runs in (\d+) second/m.exec(text)?.[1] ?? "cut short";
  const lines = [
    `${target}: seconds ${seconds}, executions ${executions}, coverage ${before} to ${after ?? "?"}, found ${kept.length}`,
    ...kept.map((path) => `  ${path}`),
  ];
  return lines.join("\n");
}
