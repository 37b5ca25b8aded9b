// `npm run bench -- readers`: measures time, throughput and peak memory of imports of large sources, for each reader
// whose sources can be large. `--quick` imports a hundredth of each size. The table is printed and written to
// RESULTS-readers.md.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SHARED } from "../cli/mementory.mjs";
import { Stop } from "../tools/sh.mjs";
import { hasGenerator } from "./data.mjs";
import { usageText } from "./measure.mjs";
import { publish, setup } from "./report.mjs";

const EXPORTS_GENERATOR = join(SHARED, "exports", "gen_exports.py");
const SOURCES_GENERATOR = fileURLToPath(new URL("reader_sources.py", import.meta.url));
/** Limit of the peak memory of a process, in MB of 10^6 bytes. */
const MAX_PEAK_MB = 400;
/**
 * The sources at full size. `size` is the size of all conversations in the export, or of the file, in MB.
 */
const CASES = [
  { what: "ChatGPT, one conversations.json", vendor: "chatgpt", layout: "classic", conversations: 50_000, size: 2000 },
  { what: "ChatGPT, sharded", vendor: "chatgpt", layout: "sharded", conversations: 20_000, size: 500 },
  { what: "ChatGPT, Privacy Portal", vendor: "chatgpt", layout: "portal", conversations: 20_000, size: 500 },
  { what: "ChatGPT, one conversation", source: "chatgpt_long", size: 100 },
  { what: "Claude, parts", vendor: "claude", layout: "parts", conversations: 20_000, size: 500 },
  { what: "Gemini, Takeout as a page", source: "gemini_html", size: 200 },
  { what: "Gemini, Takeout as JSON", source: "gemini_json", size: 200 },
  { what: "Grok", source: "grok", size: 200 },
  { what: "DeepSeek", source: "deepseek", size: 200 },
  { what: "Copilot", source: "copilot", size: 100 },
  { what: "Claude Code, sessions", source: "claude_code", size: 200 },
  { what: "Codex, sessions", source: "codex", size: 200 },
  { what: "Cursor, state.vscdb", source: "cursor", size: 2000 },
  { what: "mem0, answer", source: "mem0", size: 100 },
  { what: "MCP memory server", source: "mcp_memory", size: 100 },
  { what: "Markdown folder, 1 KB each", source: "markdown", size: 100 },
];
const QUICK_DIVISOR = 100;

/** Measures all cases, prints the table and writes it to a file. Returns the exit code. */
export function measureReaders(quick) {
  const run = { ...setup(), rows: [], wrong: [] };
  for (const one of CASES) {
    if (one.vendor && !hasGenerator()) {
      console.log(`SKIPPED: ${one.what}: ../shared/exports/gen_exports.py is missing`);
      continue;
    }
    measure(run, one, quick ? QUICK_DIVISOR : 1);
  }
  return publish(run, {
    file: "RESULTS-readers.md",
    title: "Benchmark of the readers",
    facts: [quick ? `Run with --quick: a part of ${QUICK_DIVISOR} of each source` : "Full run"],
    columns: ["Source", "MB", "Records", "Time, CPU and memory", "MB per second", `Peak under ${MAX_PEAK_MB} MB`],
    notes:
      "Each source is made by a script and imported once into a new vault by the command line: the process unlocks it, " +
      "reads, encrypts and indexes. MB is 10^6 bytes before compression. A source of several files is a folder.",
  });
}

function measure({ mementory, folder, rows, wrong }, importCase, divisor) {
  const size = importCase.size / divisor;
  const input = join(folder, "input");
  const vault = join(folder, "vault");
  const script = importCase.vendor
    ? [
        EXPORTS_GENERATOR,
        importCase.vendor,
        "--layout",
        importCase.layout,
        "--conversations",
        Math.ceil(importCase.conversations / divisor),
      ]
    : [SOURCES_GENERATOR, importCase.source];
  const zip = importCase.vendor === "chatgpt" ? ".zip" : "";
  const args = [...script, "--mb", size, "--out", `${input}${zip}`].map(String);
  const { status, stdout, stderr } = spawnSync("python3", args, { encoding: "utf8" });
  if (status !== 0) throw new Stop(`${args.join(" ")} ended with ${status}: ${stderr}`);
  // The generator prints the path of the file it made, because the file extension depends on the vendor's format.
  const path = importCase.source ? JSON.parse(stdout).path : `${input}${zip}`;
  mementory.run(vault, "create", vault, "--kdf-floor");
  const { value, ...usage } = mementory.run(vault, "import", path);
  const isSmall = Number.isNaN(usage.rss) || usage.rss < MAX_PEAK_MB;
  rows.push([
    importCase.what,
    size.toFixed(size < 10 ? 1 : 0),
    String(value.added),
    usageText(usage),
    (size / usage.wall).toFixed(1),
    isSmall ? "yes" : "no",
  ]);
  if (!isSmall) wrong.push(`${importCase.what}: peak of ${usage.rss.toFixed(0)} MB`);
  if (value.added === 0 || value.failed > 0)
    wrong.push(`${importCase.what}: ${value.added} added, ${value.failed} failed`);
  for (const file of [vault, path, `${input}${zip}`, `${input}${zip}.truth.json`])
    rmSync(file, { recursive: true, force: true });
}
