// `npm run campaign -- <name>`: what a test does a few times, done many times. `--count N` histories (default 1000), `--seed N`
// the first of them (default 1). The row of the campaign in RESULTS.md beside this file is replaced: count, time, findings.
import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { WORKSPACE } from "../tools/places.mjs";
import { ENV, Stop, main, showAndKeep } from "../tools/sh.mjs";

const RESULTS = fileURLToPath(new URL("RESULTS.md", import.meta.url));

/** By name: what is run, and what counts as a finding in what it prints. */
const CAMPAIGNS = {
  erasure: {
    what: "random histories of 14 acts: edit, redact, Trash, erase, import, reopen",
    tests: ["-p", "mementory-testkit", "--test", "core", "erasure_histories"],
    findings: /histories, seeds \[([\d, ]*)\]/,
  },
};

await main(async () => {
  const { name, count, seed } = order(process.argv.slice(2));
  const { what, tests, findings } = CAMPAIGNS[name];
  const env = { ...ENV, MEMENTORY_HISTORIES: String(count), MEMENTORY_SEED: String(seed) };
  const started = performance.now();
  const load = loadavg()[0];
  const { code, text } = await showAndKeep("cargo", ["test", "--locked", ...tests], { cwd: WORKSPACE, env });
  const minutes = ((performance.now() - started) / 60_000).toFixed(1);
  const found = findings.exec(text)?.[1];
  const said = found ? `seeds ${found}` : code === 0 ? "none" : `the run ended with ${code}`;
  const date = new Date().toISOString().slice(0, 10);
  publish(name, [name, what, `${count} from ${seed}`, `${minutes} min, load ${load.toFixed(1)}`, said, date]);
  return code;
});

function order(args) {
  const [name, ...options] = args;
  if (!(name in CAMPAIGNS)) throw new Stop(`Name a campaign: ${Object.keys(CAMPAIGNS).join(", ")}.`);
  const known = { "--count": 1000, "--seed": 1 };
  for (let at = 0; at < options.length; at += 2) {
    const value = Number(options[at + 1]);
    if (!(options[at] in known) || !Number.isInteger(value) || value < 1)
      throw new Stop(`${options[at]} ${options[at + 1] ?? ""}: known are ${Object.keys(known).join(" N, ")} N.`);
    known[options[at]] = value;
  }
  return { name, count: known["--count"], seed: known["--seed"] };
}

/** Puts the row of a campaign in place of its former one. */
function publish(name, cells) {
  const row = `| ${cells.join(" | ")} |`;
  const lines = readFileSync(RESULTS, "utf8").split("\n");
  const at = lines.findIndex((line) => line.startsWith(`| ${name} |`));
  const last = lines.findLastIndex((line) => line.startsWith("|"));
  if (at >= 0) lines[at] = row;
  else lines.splice(last + 1, 0, row);
  writeFileSync(RESULTS, lines.join("\n"));
  console.log(row);
}
