// Measures the CPU time and memory that detect, validate and import need for each bomb, and how much the vault then
// stores. Prints the rows of the table in `../campaigns/RESULTS.md`. `npm run campaign -- bombs` runs it. If
// MEMENTORY_BOMB is set, only bombs whose name contains it are measured. With MEMENTORY_PROFILE=release, the release
// build is measured.
//
// Needs GNU `time`. A command is stopped after a minute of CPU time, and at 3 GB of memory.
import { cpSync, readFileSync, rmSync, statSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Vault, inFolder } from "../cli/mementory.mjs";
import { runAlone } from "../tools/count.mjs";
import { built } from "../tools/places.mjs";
import { quiet } from "../tools/sh.mjs";
import { BOMBS, makeBomb } from "./make.mjs";

/**
 * The most that a bomb may cost unless the person has agreed to more: seconds of CPU time, MB of memory, and MB by
 * which the vault may grow.
 */
const ALLOWED = { seconds: 5, memory: 500, kept: 100 };
const COMMANDS = ["detect", "validate", "import"];
/** Begins a shell script that limits a command to 60 s of CPU time and 3 GB of memory, and measures its costs. */
const LIMIT_SCRIPT = "ulimit -t 60; ulimit -d 3000000; exec /usr/bin/time -q -f '%U %S %M' -o";

async function testCosts(count) {
  if (process.platform !== "linux" || quiet("/usr/bin/time", ["true"]).code !== 0)
    return count.leaveOut("costs of bombs: time of GNU is not installed");
  await inFolder((folder) => {
    const vault = new Vault(folder, "empty").create();
    console.log(`| bomb | bytes | ${COMMANDS.map((name) => `${name}: s, MB, exit`).join(" | ")} | MB kept |`);
    console.log(`|---|---|${"---|".repeat(COMMANDS.length + 1)}`);
    for (const name of Object.keys(BOMBS).filter((one) => one.includes(process.env.MEMENTORY_BOMB ?? ""))) {
      const path = makeBomb(folder, name);
      const { cells, growthMb, isOver } = costs(vault, path);
      console.log(`| ${name} | ${bytesOf(path)} | ${cells.join(" | ")} | ${growthMb} |`);
      count.add(name, !isOver);
      rmSync(path, { recursive: true });
    }
    return Promise.resolve();
  });
}

/**
 * Measures the commands with a bomb. Returns the cells of the bomb's row in the table, the MB by which the commands made
 * the vault grow, and whether a limit was exceeded.
 */
function costs(empty, path) {
  const vault = new Vault(empty.folder, "bombed");
  rmSync(vault.path, { recursive: true, force: true });
  cpSync(empty.path, vault.path, { recursive: true });
  const bytesBefore = bytesOf(vault.path);
  const log = join(empty.folder, "time.txt");
  let isOver = false;
  const cells = COMMANDS.map((name) => {
    const args = ["-c", `${LIMIT_SCRIPT} "$@"`, "sh", log, built("mementory"), "--json", name, path];
    const { stdout } = quiet("sh", args, { cwd: vault.folder, env: vault.env });
    const [seconds, memory] = costsIn(log);
    isOver ||= seconds > ALLOWED.seconds || memory > ALLOWED.memory;
    return `${seconds.toFixed(1)}, ${memory}, ${outcome(stdout)}`;
  });
  const growthMb = Math.round((bytesOf(vault.path) - bytesBefore) / 1e6);
  return { cells, growthMb, isOver: isOver || growthMb > ALLOWED.kept };
}

/** Reads the CPU seconds and the megabytes of memory from the log of GNU `time`. */
function costsIn(log) {
  const [user, system, kilobytes] = readFileSync(log, "utf8").trim().split("\n").at(-1).split(" ").map(Number);
  return [user + system, Math.round((kilobytes * 1024) / 1e6)];
}

/** The error code if there is one, otherwise `invalid` or `taken`; `no answer` if the output is not JSON. */
function outcome(stdout) {
  try {
    const answer = JSON.parse(stdout);
    return answer.error?.code ?? (answer.ok === false ? "invalid" : "taken");
  } catch {
    return "no answer";
  }
}

function bytesOf(path) {
  const info = statSync(path);
  if (!info.isDirectory()) return info.size;
  return readdirSync(path).reduce((total, name) => total + bytesOf(join(path, name)), 0);
}

await runAlone(import.meta.url, testCosts);
