// Runs each command while one of its system calls fails. The command must then either have done nothing and report an
// error, or have done everything and report a result.
//
// Each round copies a prepared vault and runs one command under strace, which makes the Nth call of one kind fail. A
// write fails as on a full disk; a sync, rename, truncation or removal fails as on a broken disk. After an error, the
// state must be the same as before the command, and the command must work when it is run again. After a result, the
// command must have changed everything. A command whose commit was not synced is also killed afterwards, and its answer
// must still be true then. Calls are counted in each thread separately. MEMENTORY_FAULTS is the number of fault points
// that are tested for each command (default 1), spread evenly over all of them. MEMENTORY_FAULT_COMMAND names the
// commands to test, separated by commas.
import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ENV, has, quiet } from "../tools/sh.mjs";
import { runAlone } from "../tools/count.mjs";
import { built } from "../tools/places.mjs";
import { inFolder } from "../cli/mementory.mjs";
import { MORE_COMMANDS } from "./commands.mjs";
import {
  OPERATIONS,
  VAULT_FILE_PATTERN,
  copyVault,
  differenceText,
  erasureProblems,
  prepareVault,
  visibleState,
} from "./vaults.mjs";

/** Kinds of calls, and the error with which they fail. */
const CALLS = {
  write: "ENOSPC",
  pwrite64: "ENOSPC",
  fsync: "EIO",
  fdatasync: "EIO",
  rename: "EIO",
  renameat: "EIO",
  renameat2: "EIO",
  ftruncate: "EIO",
  linkat: "EIO",
  unlink: "EIO",
  mkdir: "ENOSPC",
  copy_file_range: "ENOSPC",
};
/** Codes of errors that correctly name a failing file or disk as the cause. */
const DISK_ERROR_CODES = ["io", "disk_full", "store"];
/** The error code which says that the change may or may not have been applied. */
const UNCONFIRMED = "unconfirmed";
const SYNCS = ["fsync", "fdatasync"];
/**
 * Commands that are killed after a failed sync even in the short run. There are only a few, because each takes several
 * rounds.
 */
const KILLED_COMMITS = ["add", "erase", "import"];
/** Number of conversations in an import. A round is faster if there are fewer. */
const CONVERSATIONS = 12;
/**
 * The fault points of each command are shifted by this share of a step from those of the previous command, so that
 * not all commands fail at the same call.
 */
const FAULT_POINT_SHIFT = 0.618;

/** Runs all rounds and prints one line of counts for each command. */
export async function testFaults(count) {
  if (!has("strace") || quiet("strace", ["-qq", "true"]).code !== 0)
    return count.leaveOut("faults: strace is not installed, or may not trace here");
  const maxPoints = Number(process.env.MEMENTORY_FAULTS || 1);
  const chosenNames = process.env.MEMENTORY_FAULT_COMMAND?.split(",");
  await inFolder(async (folder) => {
    const vault = prepareVault(folder, CONVERSATIONS);
    const commands = [...OPERATIONS, ...MORE_COMMANDS].map((make) => make(vault, CONVERSATIONS));
    const untouched = visibleState(copyVault(vault));
    vault.names = new Set([...readdirSync(folder), "killed.data", "strace.txt", "opened", "opened.data", "code.txt"]);
    for (const [i, command] of commands.entries()) {
      if (chosenNames && !chosenNames.includes(command.name)) continue;
      const states = expectedStates(vault, command, untouched);
      const all = faultPoints(vault, command);
      const chosenPoints = spread(all, maxPoints, (0.5 + i * FAULT_POINT_SHIFT) % 1);
      const tally = { before: 0, after: 0, warned: 0, unreached: 0, problems: [] };
      for (const point of chosenPoints) failOnce(vault, command, states, point, tally);
      tally.problems.forEach((problem) => console.log(`  ${command.name}: ${problem}`));
      const { before, after, warned, unreached } = tally;
      count.add(
        `${command.name}: ${chosenPoints.length} of ${all.length} fault points: ${before} not applied, ` +
          `${after} applied (${warned} with a warning), ${unreached} not reached`,
        tally.problems.length === 0,
      );
      if (maxPoints > 1 || KILLED_COMMITS.includes(command.name))
        testKilledCommits(vault, command, states, maxPoints, count);
    }
    if (!chosenNames || chosenNames.includes("restore-backup")) testRestoredErasureFails(vault, count);
  });
}

/**
 * The visible state of the vault and of what the command makes outside it. `answer` is the JSON that the command
 * printed.
 */
function observedState(copy, command, answer, state = visibleState(copy)) {
  const extra = command.extraState ? JSON.stringify(command.extraState(copy, answer)) : "";
  const made = command.writes ? existsSync(command.writes) : null;
  return JSON.stringify({ ...JSON.parse(state), extra, made });
}

/** A fresh copy of the vault for one run of the command. Removes what earlier runs made next to the vault. */
function prepareCopy(vault, command) {
  for (const name of newNames(vault)) rmSync(join(vault.folder, name), { recursive: true });
  const copy = copyVault(vault);
  command.prepare?.(copy);
  return copy;
}

/** Names of what a command made next to the vault, temporary folders too. */
const newNames = (vault) => readdirSync(vault.folder).filter((name) => !vault.names.has(name));

/** The states before and after the command. `untouched`: the visible state of the prepared vault. */
function expectedStates(vault, command, untouched) {
  const copy = prepareCopy(vault, command);
  const before = observedState(copy, command, null, untouched);
  const result = copy.must(...command.args);
  if (command.secrets) useSecret(copy, command.secrets[1]);
  const after = observedState(copy, command, result);
  if (before === after && !command.secrets && !command.code) throw new Error(`${command.name} changes nothing visible`);
  return { before, after };
}

/** Runs the command under strace. Returns its result and the lines of strace. */
function traced(copy, command, options, filter = ["--seccomp-bpf"]) {
  const log = join(copy.folder, "strace.txt");
  rmSync(log, { force: true });
  const strace = ["-f", "-y", "-qq", ...filter, "-o", log, ...options, built("mementory"), "--json"];
  const result = quiet("strace", [...strace, ...command.args], { cwd: copy.folder, env: { ...ENV, ...copy.env } });
  let answer = null;
  try {
    answer = JSON.parse(result.stdout);
  } catch {
    // The output is not JSON, so `answer` stays null.
  }
  return { ...result, answer, lines: existsSync(log) ? readFileSync(log, "utf8").split("\n") : [] };
}

/** All fault points of a command, as {call, n}: the nth call of this kind in the thread that makes most of them. */
function faultPoints(vault, command) {
  const copy = prepareCopy(vault, command);
  const { lines } = traced(copy, command, ["-e", `trace=${Object.keys(CALLS)}`]);
  const counts = new Map();
  for (const line of lines) {
    const [, thread, call] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (call) counts.set(`${call} ${thread}`, (counts.get(`${call} ${thread}`) ?? 0) + 1);
  }
  const maxCounts = {};
  for (const [key, n] of counts) maxCounts[key.split(" ")[0]] = Math.max(maxCounts[key.split(" ")[0]] ?? 0, n);
  return Object.entries(maxCounts).flatMap(([call, n]) => Array.from({ length: n }, (_, i) => ({ call, n: i + 1 })));
}

/**
 * Chooses at most `maxPoints` of the points: divides the list into that many equal parts and takes one point from each.
 * `shift`, from 0 to 1, is the position of that point in its part.
 */
function spread(points, maxPoints, shift) {
  if (points.length <= maxPoints) return points;
  return Array.from({ length: maxPoints }, (_, i) => points[Math.floor(((i + shift) * points.length) / maxPoints)]);
}

/**
 * Makes one sync of the write-ahead log fail, or this sync and all later ones. The command is then killed before it
 * closes the database, because closing removes the log. A run with the same fault but without the kill gives the answer
 * that the state must match.
 */
function testKilledCommits(vault, command, states, maxPoints, count) {
  const options = (...more) => {
    const log = join(vault.folder, "killed", "store.db-wal");
    return ["-P", log, "-e", `trace=${SYNCS},unlink`, ...more.flatMap((one) => ["-e", `inject=${one}`])];
  };
  const { lines } = traced(prepareCopy(vault, command), command, options());
  const points = SYNCS.flatMap((call) => {
    const total = lines.filter((line) => line.includes(` ${call}(`)).length;
    return Array.from({ length: total }, (_, i) => [`${i + 1}`, `${i + 1}+`].map((when) => ({ call, when }))).flat();
  });
  const problems = [];
  let killed = 0;
  const chosenPoints = spread(points, 2 * maxPoints, 0);
  for (const { call, when } of chosenPoints) {
    const fault = `${call}:error=EIO:when=${when}`;
    const { answer, code: exit } = traced(prepareCopy(vault, command), command, options(fault));
    const copy = prepareCopy(vault, command);
    // The filter `--seccomp-bpf` is not used here, because strace then sends no signal.
    const { code } = traced(copy, command, options(fault, "unlink:signal=KILL"), []);
    killed += code === exit ? 0 : 1;
    const error = answer?.error;
    if (command.secrets) useSecret(copy, command.secrets[error ? 0 : 1]);
    const stateNow = observedState(copy, command, answer);
    const allowed =
      error?.code === UNCONFIRMED ? [states.before, states.after] : [error ? states.before : states.after];
    if (!allowed.includes(stateNow))
      problems.push(`${fault}: ${error?.code ?? "a result"}, ${difference(stateNow, states)}`);
    checkVault(copy, (text) => problems.push(`${fault}: ${text}`));
  }
  problems.forEach((problem) => console.log(`  ${command.name}, killed: ${problem}`));
  const text = `${command.name}: a sync of the log failed in ${chosenPoints.length} rounds, ${killed} of them killed afterwards`;
  count.add(text, problems.length === 0);
}

/**
 * Restores a backup when the log cannot be synced. An erasure that was made after the backup then cannot be applied to
 * the restored vault. The answer must say so, and the next opening must apply the erasure.
 */
function testRestoredErasureFails(vault, count) {
  const copy = prepareCopy(vault, {});
  const [backup, restored] = ["older", "brought"].map((name) => join(vault.folder, name));
  copy.must("backup", backup);
  copy.must("erase", copy.list("--kind", "memory")[0].id);
  const options = ["-P", join(restored, "store.db-wal"), "-e", "trace=fsync", "-e", "inject=fsync:error=EIO:when=1+"];
  const { answer, lines } = traced(copy, { args: ["restore-backup", backup, restored] }, options);
  const failed = lines.some((line) => line.includes("(INJECTED)")) && answer?.ledger === "failed";
  copy.env.MEMENTORY_VAULT = restored;
  const opened = copy.run("info").answer;
  const isReapplied = failed && answer.erasures_reapplied === 0 && opened?.erasures_reapplied === 1;
  if (!isReapplied) console.log(`  ${JSON.stringify(answer)}, then ${JSON.stringify(opened)}`);
  count.add("restore-backup: an erasure that cannot be applied is reported, and applied on opening", isReapplied);
}

/** Runs one round and adds its outcome to `tally`. */
function failOnce(vault, command, states, point, tally) {
  const copy = prepareCopy(vault, command);
  const fault = `${point.call}:error=${CALLS[point.call]}:when=${point.n}`;
  const { code, stdout, stderr, answer, lines } = traced(copy, command, [
    ...["-e", `trace=${point.call}`],
    ...["-e", `inject=${fault}`],
  ]);
  const failed = lines.filter((line) => line.includes("(INJECTED)"));
  // A failed write to a standard stream says nothing about the vault, so it does not count.
  const ofFiles = failed.filter((line) => !/^\d+ +write\([0-2]</.test(line));
  if (failed.length === 0 || ofFiles.length < failed.length) return void (tally.unreached += 1);
  const place = ofFiles.map((line) => line.slice(0, 160)).join("; ");
  const problem = (text) =>
    tally.problems.push(`${fault}: ${text}\n    ${place}\n    ${code}: ${stdout.slice(0, 400)}`);
  if (answer === null) return problem(`no answer: ${stderr.slice(0, 300)}`);
  const error = answer.error;
  if (command.secrets) useSecret(copy, command.secrets[error ? 0 : 1]);
  let observed;
  try {
    observed = observedState(copy, command, answer);
  } catch (failed) {
    return problem(`the vault cannot be read as the answer says: ${failed.message}`);
  }
  tally[error ? "before" : "after"] += 1;
  if (!error && answer.warnings?.length > 0) tally.warned += 1;
  if (observed !== (error ? states.before : states.after))
    problem(`${error ? "an error" : "a result"}, and yet: ${difference(observed, states)}`);
  if (error && !DISK_ERROR_CODES.includes(error.code)) problem(`the error is called ${error.code}`);
  const leftFiles = newNames(vault).filter((name) => error || name.startsWith(".mementory-"));
  // If the failing call is the removal of a temporary file, that file cannot be gone.
  if (leftFiles.length > 0 && point.call !== "unlink") problem(`left beside the vault: ${leftFiles}`);
  if (!error && command.writes && !command.isComplete(copy, command.writes)) problem("what was written does not hold");
  if (!error && command.code) {
    copy.write("code.txt", `${answer.recovery_code}\n`);
    useSecret(copy, "code.txt");
    if (copy.run("info").code !== 0) problem("the new recovery code does not open the vault");
    useSecret(copy, "passphrase.txt");
  }
  if (!error && command.erased) erasureProblems(copy, command.erased).forEach(problem);
  checkVault(copy, problem);
  if (error || command.isUnfinished?.(answer)) tryAgain(copy, command, states, problem);
}

function checkVault(copy, problem) {
  const { ok, places } = copy.run("check").answer ?? {};
  if (!ok) problem(`check: ${JSON.stringify(places?.filter((place) => !place.ok))}`);
  const unexpectedFiles = readdirSync(copy.path).filter((name) => !VAULT_FILE_PATTERN.test(name));
  if (unexpectedFiles.length > 0) problem(`unexpected files in the folder: ${unexpectedFiles}`);
}

/**
 * Runs a command again that ended with an error or did not finish. It has to succeed. Everything must then have been
 * done exactly once.
 */
function tryAgain(copy, command, states, problem) {
  const secondRun = copy.run(...command.args);
  if (secondRun.code !== 0) return problem(`again: exit code ${secondRun.code}: ${secondRun.stdout.slice(0, 300)}`);
  if (command.secrets) useSecret(copy, command.secrets[1]);
  const observed = observedState(copy, command, secondRun.answer);
  if (observed !== states.after) problem(`again: not as after: ${difference(observed, states)}`);
}

function useSecret(copy, name) {
  copy.env.MEMENTORY_PASSPHRASE_FILE = join(copy.folder, name);
}

function difference(observed, states) {
  const [now, before, after] = [observed, states.before, states.after].map((text) => JSON.parse(text));
  const otherDifferences = ["extra", "made"].map(
    (key) => `${key} ${now[key]} (before ${before[key]}, after ${after[key]})`,
  );
  return `${differenceText(...[observed, states].map(recordLists))}, ${otherDifferences.join(", ")}`;
}

/** Keeps only the lists of records of a state, or of both states, because `differenceText` compares only those. */
function recordLists(state) {
  const listsIn = (text) => {
    const { records, trash, tombstones, batches } = JSON.parse(text);
    return JSON.stringify({ records, trash, tombstones, batches });
  };
  return typeof state === "string" ? listsIn(state) : { before: listsIn(state.before), after: listsIn(state.after) };
}

await runAlone(import.meta.url, testFaults);
