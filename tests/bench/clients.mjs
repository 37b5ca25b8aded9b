// Measures the answers to connected clients: the time of `search` over a million messages (from a client's request to
// the answer, through the program that the client starts and the socket), the memory of the programs, and the size of
// the list of tools.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { McpClient, TOOLS } from "../cli/mcp-client.mjs";
import { ENV, Stop } from "../tools/sh.mjs";
import { chatgptExport, hasGenerator } from "./data.mjs";
import { quantile } from "./measure.mjs";
import { publish, setup } from "./report.mjs";

/** Time in milliseconds that 95 of 100 searches must not reach. */
const MAX_P95_MS = 60;
/** Memory in MB that the program which a client starts must not reach while it waits. */
const MAX_IDLE_MB = 15;
/** Length in bytes that the list of tools must not reach. */
const MAX_LIST_BYTES = 6 * 1024;
/** Queries of common words, which many messages contain. */
const COMMON_QUERIES = ["project", "flat key", "tomorrow morning", "the plan for the week", "recipe with beans"];
const ROUNDS = 3;
/** Number of times that the first search may be refused before the test gives up. Each refusal takes about 3 s. */
const MAX_REFUSALS = 200;

/**
 * Measures the answers to clients. `profile` is `release` or `debug`. If `MEMENTORY_BENCH_VAULT` names a folder, its
 * vault `v` is used, and created if it does not exist.
 */
export async function measureClients(profile) {
  if (process.platform !== "linux") throw new Stop("Clients are measured on Linux only.");
  if (!hasGenerator()) throw new Stop("../shared/exports/gen_exports.py is missing.");
  const reusedFolder = process.env.MEMENTORY_BENCH_VAULT;
  const run = { ...setup(profile), rows: [], wrong: [] };
  const { mementory, folder, rows, wrong } = run;
  const row = (what, value, good = true) => {
    rows.push([what, value]);
    console.log(`  ${what}: ${value}`);
    if (!good) wrong.push(`${what}: ${value}`);
  };
  const { path, truth } = await chatgptExport(20_000, 1000);
  const vault = join(reusedFolder ?? folder, "v");
  if (!statSync(vault, { throwIfNoEntry: false })) {
    mementory.run(vault, "create", vault, "--kdf-floor");
    mementory.run(vault, "import", path);
  }
  row("messages in the vault", String(mementory.run(vault, "info").value.counts.message));
  const names = { masked: [], unmasked: ["--uncovered"] };
  for (const [name, options] of Object.entries(names)) {
    mementory.run(vault, { exits: [0, 1] }, "grants", "revoke", `bench ${name}`);
    const token = join(folder, `${name}.token`);
    const grantArgs = ["--token-file", token, "--conversations", "--per-day", "100000000", ...options];
    mementory.run(vault, "grants", "add", `bench ${name}`, ...grantArgs, "--rights", "read,suggest,export");
  }
  const env = { ...ENV, MEMENTORY_SOCKET: join(folder, "run", "clients.sock") };
  const started = performance.now();
  const serveProcess = spawn(
    mementory.program,
    ["--vault", vault, "--passphrase-file", mementory.secret, "--json", "serve"],
    { env, stdio: ["ignore", "ignore", "pipe"] },
  );
  const serverClosed = once(serveProcess, "close");
  const clients = [];
  try {
    await once(serveProcess.stderr, "data");
    row("serve answers after", `${((performance.now() - started) / 1000).toFixed(1)} s`);
    for (const name of Object.keys(names)) {
      const args = ["mcp", "--token-file", join(folder, `${name}.token`)];
      const client = await McpClient.start(mementory.program, args, env);
      clients.push(client);
      if (name === "masked") {
        const { tools } = await client.request("tools/list", {});
        const bytes = Buffer.byteLength(JSON.stringify(tools));
        row(
          "list of tools",
          `${tools.length} tools, ${bytes} bytes`,
          tools.length === TOOLS.length && bytes < MAX_LIST_BYTES,
        );
        row("memory of the program of a client, idle", ...idleMemory(client.pid));
      }
      await measureSearches(client, name, truth, row);
      row(`memory of the program of a client after the searches (${name})`, ...idleMemory(client.pid));
    }
    row("memory of serve after the searches, with the index in use", `${megabytes(serveProcess.pid).toFixed(0)} MB`);
  } finally {
    for (const client of clients) await client.close();
    serveProcess.kill("SIGINT");
    await serverClosed;
  }
  return publish(run, {
    file: "RESULTS-clients.md",
    title: "Benchmark of connected clients",
    facts: [
      `Build: ${profile}`,
      `Limits: search p95 ${MAX_P95_MS} ms, idle ${MAX_IDLE_MB} MB, list of tools ${MAX_LIST_BYTES} bytes`,
    ],
    columns: ["What", "Figure"],
    notes:
      "A search is measured in the client: from writing the request to the client's program until its answer is read. " +
      "It reads the hits, masks them if the grant says so, counts and logs the call. " +
      "Memory is resident memory less what is shared with other programs (Pss of the kernel).",
  });
}

/**
 * Asks each question once and each common query `ROUNDS` times. The very first search is measured separately. A vault
 * that was never scanned for sensitive values refuses masked searches as `busy` until it has been scanned.
 */
async function measureSearches(client, name, truth, row) {
  const questions = truth.needles.map((needle) => needle.query);
  const queries = [...questions, ...Array.from({ length: ROUNDS }, () => COMMON_QUERIES).flat()];
  const first = await measureTime(async () => {
    let refusals = 0;
    while ((await client.call("search", { query: "ship" })) === null)
      if (++refusals > MAX_REFUSALS) throw new Stop("The first search was refused too often.");
    return refusals;
  });
  row(`first search (${name})`, `${first.ms.toFixed(0)} ms, refused ${first.result} times before it`);
  const [times, results] = [[], []];
  for (const query of queries) {
    const { ms, result } = await measureTime(() => client.call("search", { query }));
    if (result === null) throw new Stop(`search ${query} was refused.`);
    times.push(ms);
    results.push(result.results);
  }
  const foundNeedles = truth.needles.filter(({ text }, n) =>
    results[n].some((hit) => hit.text.includes(text.slice(0, 40))),
  );
  const p95 = quantile(times, 0.95);
  row(
    `search, ${queries.length} questions (${name})`,
    `p50 ${quantile(times, 0.5).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, longest ${quantile(times, 1).toFixed(1)} ms; answer in the top ten: ${foundNeedles.length} of ${truth.needles.length}`,
    p95 < MAX_P95_MS,
  );
}

async function measureTime(work) {
  const startTime = performance.now();
  const result = await work();
  return { ms: performance.now() - startTime, result };
}

/** Memory of a process as text, and whether it is within the limit. */
function idleMemory(pid) {
  const usedMb = megabytes(pid);
  return [`${usedMb.toFixed(1)} MB`, usedMb < MAX_IDLE_MB];
}

/** Memory that a process uses, in MB. */
function megabytes(pid) {
  const kib = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
  return (Number(kib) * 1024) / 1e6;
}
