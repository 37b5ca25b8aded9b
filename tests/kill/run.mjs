// Tests that a vault whose process is killed at any moment is in the state before or after the operation, never in
// between.
//
// Each round copies a prepared vault, starts one operation and sends SIGKILL after a random delay. Then the vault has
// to open, pass its check and show exactly one of the two states. MEMENTORY_KILLS is the number of rounds (default 40),
// MEMENTORY_KILL_SEED the seed of the delays.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { inFolder } from "../cli/mementory.mjs";
import { runAlone } from "../tools/count.mjs";
import {
  OPERATIONS,
  VAULT_FILE_PATTERN,
  copyVault,
  differenceText,
  erasureProblems,
  measureStates,
  millisecondsOf,
  prepareVault,
  randomNumbers,
  visibleState,
} from "./vaults.mjs";

/** Runs all rounds and prints one line of counts for each operation. */
export async function testKills(count) {
  if (process.platform === "win32") return count.leaveOut("kills: no SIGKILL on this system");
  const rounds = Number(process.env.MEMENTORY_KILLS || 40);
  const seed = Number(process.env.MEMENTORY_KILL_SEED || 1);
  console.log(`  ${rounds} kills, MEMENTORY_KILL_SEED=${seed}`);
  await inFolder(async (folder) => {
    const random = randomNumbers(seed);
    const vault = prepareVault(folder);
    const operations = OPERATIONS.map((make) => make(vault));
    const states = operations.map((operation) => measureStates(vault, operation));
    const tallies = operations.map(() => ({ before: 0, after: 0, finished: 0, problems: [] }));
    for (let round = 0; round < rounds; round += 1) {
      const operationIndex = round % operations.length;
      await killOnce(
        vault,
        operations[operationIndex],
        states[operationIndex],
        random,
        round,
        tallies[operationIndex],
      ).catch((error) => tallies[operationIndex].problems.push(`round ${round}: ${error.message.trim()}`));
    }
    for (const [i, { name }] of operations.entries()) {
      const { before, after, finished, problems } = tallies[i];
      problems.forEach((problem) => console.log(`  ${name}: ${problem}`));
      const times = `opens in ${Math.round(states[i].opening)} ms, takes ${Math.round(states[i].duration)} ms`;
      count.add(
        `${name}: ${before} as before, ${after} as after, ${finished} not killed in time (${times})`,
        problems.length === 0,
      );
    }
  });
}

/** Runs one round: kills the operation in a copy of the vault and adds the outcome to `tally`. */
async function killOnce(vault, operation, state, random, round, tally) {
  const copy = copyVault(vault);
  state.opening = weightedAverage(
    state.opening,
    millisecondsOf(() => copy.must("info")),
  );
  // One round in five kills at any time, the others only when the vault is open or almost open. Durations depend on the
  // load of the machine, so they are measured in every round.
  const earliest = round % 5 === 4 ? 0 : state.opening * 0.9;
  const delay = earliest + random() * (Math.max(state.duration, earliest + 20) * 1.05 - earliest);
  const started = performance.now();
  const hasFinished = await killAfter(copy.start(operation.args), delay);
  tally.finished += hasFinished ? 1 : 0;
  if (hasFinished) state.duration = weightedAverage(state.duration, performance.now() - started);
  const problem = (text) => tally.problems.push(`round ${round}, killed after ${delay.toFixed(1)} ms: ${text}`);

  if (operation.secrets) {
    const opening = operation.secrets.filter((name) => {
      copy.env.MEMENTORY_PASSPHRASE_FILE = join(copy.folder, name);
      return copy.run("info").code === 0;
    });
    if (opening.length !== 1) return problem(`${opening.length} of the two passphrases open it`);
    copy.env.MEMENTORY_PASSPHRASE_FILE = join(copy.folder, opening[0]);
    tally[opening[0] === operation.secrets[0] ? "before" : "after"] += 1;
    if (visibleState(copy) !== state.before) problem("the records changed");
  } else {
    const opened = copy.run("info");
    if (opened.code !== 0) return problem(`it does not open: ${opened.stdout}`);
    const observed = visibleState(copy);
    if (observed === state.before) tally.before += 1;
    else if (observed === state.after) tally.after += 1;
    else problem(`neither before nor after: ${differenceText(observed, state)}`);
    if (observed === state.after && operation.erased) erasureProblems(copy, operation.erased).forEach(problem);
  }
  const { ok, places } = copy.run("check").answer ?? {};
  if (!ok) problem(`check: ${JSON.stringify(places?.filter((place) => !place.ok))}`);
  const unexpectedFiles = readdirSync(copy.path).filter((name) => !VAULT_FILE_PATTERN.test(name));
  if (unexpectedFiles.length > 0) problem(`unexpected files in the folder: ${unexpectedFiles}`);
  // If the vault is in the state before the operation, the operation must succeed when it is repeated.
  if (!operation.secrets && visibleState(copy) === state.before) {
    let secondRun;
    const duration = millisecondsOf(() => (secondRun = copy.run(...operation.args)));
    state.duration = weightedAverage(state.duration, duration);
    if (secondRun.code !== 0) problem(`again: exit code ${secondRun.code}: ${secondRun.stdout.slice(0, 300)}`);
    else if (visibleState(copy) !== state.after) problem("again: not as after");
  }
}

/** Kills the process after `delay` milliseconds. Returns whether it had already finished. */
function killAfter(child, delay) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), delay);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve(code !== null);
    });
  });
}

const weightedAverage = (previous, next) => previous * 0.6 + next * 0.4;

await runAlone(import.meta.url, testKills);
