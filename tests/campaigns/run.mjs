// `npm run campaign -- <name>`: repeats a randomised test many times. `--count N` is the number of random histories
// (default 1000), `--seed N` the seed of the first one (default 1). Campaigns with packages take `--debug`. Writes
// count, time and findings into the campaign's row of RESULTS.md next to this file.
import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { WORKSPACE } from "../tools/places.mjs";
import { ENV, Stop, main, showAndKeep } from "../tools/sh.mjs";

const RESULTS_FILE = fileURLToPath(new URL("RESULTS.md", import.meta.url));

/**
 * Campaigns by name. `what` is a text for the table.
 *
 * A campaign is either a Rust test or a script of ours. A Rust test has `tests`, the arguments of `cargo test`, and
 * `findings`, the pattern that finds the failed seeds in its output. A script has its path in `script`, and no seed. It
 * may also have `options`, which it takes from the command line; `env`, its environment; `counted`, the environment
 * variable that sets the count; and `rounds`, a pattern that finds the numbers of rounds in its output.
 */
const CAMPAIGNS = {
  erasure: {
    what: "random histories of 14 acts: edit, redact, Trash, erase, import, reopen",
    tests: ["-p", "mementory-testkit", "--test", "core", "erasure_histories"],
    findings: /histories, seeds \[([\d, ]*)\]/,
  },
  faults: {
    what: "the Nth write, sync, rename, truncation or removal fails, in every command of the list",
    script: "tests/kill/faults.mjs",
    counted: "MEMENTORY_FAULTS",
    rounds: /: (\d+) of \d+ fault points/g,
  },
  kills: {
    what: "killed at a random moment: import, edit, erase, passphrase, undo, redact",
    script: "tests/kill/run.mjs",
    counted: "MEMENTORY_KILLS",
  },
  bombs: {
    what: "files that cost more than they look like, for every kind of input: CPU time, memory, bytes kept",
    script: "tests/bombs/measure.mjs",
  },
  corpus: {
    what: "every damaged and forged file of the corpora",
    script: "tests/corpus/run.mjs",
    env: { WHOLE_CORPUS: "1" },
  },
  "unknown-fields": {
    what: "an unknown member in every object of every fixture, through .mem and .alf",
    script: "tests/cli/unknown-fields.mjs",
    env: { WHOLE_UNKNOWN: "1" },
  },
  screens: {
    what: "accessibility of every screen with every setting of the system, in both sizes of the window",
    script: "tests/screens/axe.mjs",
    env: { WHOLE_SCREENS: "1" },
  },
  languages: {
    what: "every screen in the other languages, in German in both sizes of the window",
    script: "tests/screens/run.mjs",
    env: { WHOLE_SCREENS: "1" },
  },
  install: {
    what: "the packages in a bare Debian 12 and Ubuntu 26.04: install, open files, upgrade, remove, purge",
    script: "tests/install/run.mjs",
    options: ["--debug"],
  },
  reproducible: {
    what: "two packages from two clones in two folders have the same bytes",
    script: "tests/install/reproducible.mjs",
    options: ["--debug"],
  },
};

await main(async () => {
  const { name, count, seed, passedOn } = parseArguments(process.argv.slice(2));
  const { what, tests, findings, script, counted, rounds: roundsPattern, env = {} } = CAMPAIGNS[name];
  const started = performance.now();
  const load = loadavg()[0];
  const { code, text } = script
    ? await showAndKeep(process.execPath, [script, ...passedOn], {
        env: { ...ENV, ...env, ...(counted && { [counted]: String(count) }) },
      })
    : await showAndKeep("cargo", ["test", "--locked", ...tests], {
        cwd: WORKSPACE,
        env: { ...ENV, MEMENTORY_HISTORIES: String(count), MEMENTORY_SEED: String(seed) },
      });
  const minutes = ((performance.now() - started) / 60_000).toFixed(1);
  const found = findings?.exec(text)?.[1];
  const findingsText = found ? `seeds ${found}` : code === 0 ? "none" : `the run ended with ${code}`;
  const checks = `${text.match(/^ {2}(?:ok|FAILED)/gm)?.length ?? 0} checks`;
  const sum = roundsPattern && [...text.matchAll(roundsPattern)].reduce((total, [, n]) => total + Number(n), 0);
  const roundsText = script ? [sum && `${sum} rounds`, checks].filter(Boolean).join(" in ") : `${count} from ${seed}`;
  const date = new Date().toISOString().slice(0, 10);
  writeRow(name, [name, what, roundsText, `${minutes} min, load ${load.toFixed(1)}`, findingsText, date]);
  return code;
});

function parseArguments(args) {
  const [name, ...options] = args;
  if (!Object.hasOwn(CAMPAIGNS, name)) throw new Stop(`Name a campaign: ${Object.keys(CAMPAIGNS).join(", ")}.`);
  const ownOptions = CAMPAIGNS[name].options ?? [];
  const passedOn = options.filter((option) => ownOptions.includes(option));
  const numbers = options.filter((option) => !ownOptions.includes(option));
  const values = { "--count": 1000, "--seed": 1 };
  for (let at = 0; at < numbers.length; at += 2) {
    const value = Number(numbers[at + 1]);
    if (!(numbers[at] in values) || !Number.isInteger(value) || value < 1) {
      const knownOptions = [...Object.keys(values).map((each) => `${each} N`), ...ownOptions].join(", ");
      throw new Stop(`${numbers[at]} ${numbers[at + 1] ?? ""}: known are ${knownOptions}.`);
    }
    values[numbers[at]] = value;
  }
  return { name, count: values["--count"], seed: values["--seed"], passedOn };
}

/** Replaces the row of a campaign in the table, or adds it at the end, and prints it. */
function writeRow(name, cells) {
  const row = `| ${cells.join(" | ")} |`;
  const lines = readFileSync(RESULTS_FILE, "utf8").split("\n");
  const at = lines.findIndex((line) => line.startsWith(`| ${name} |`));
  const last = lines.findLastIndex((line) => line.startsWith("|"));
  if (at >= 0) lines[at] = row;
  else lines.splice(last + 1, 0, row);
  writeFileSync(RESULTS_FILE, lines.join("\n"));
  console.log(row);
}
