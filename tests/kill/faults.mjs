// Tests that a command during which one call of the system fails either did nothing and says so, or did everything and
// says so.
//
// Each round copies a prepared vault and runs one command under strace, which makes the Nth call of one kind fail: a
// write as on a full disk, a sync, rename, truncation or removal as on a broken one. An error has to leave the state of
// before, and the command then works when it is tried again; a result has to come with the state of after. Calls are
// counted separately in each thread. MEMENTORY_FAULTS is the number of fault points of each command (default 3),
// spread evenly over all of them. MEMENTORY_FAULT_COMMAND names a single command.
import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ENV, has, quiet } from "../tools/sh.mjs";
import { runAlone } from "../tools/count.mjs";
import { built } from "../tools/places.mjs";
import { Vault, inFolder } from "../cli/mementory.mjs";
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
};
/** Codes of errors that name the failure of a file or a disk. */
const HONEST_CODES = ["io", "disk_full", "internal_io"];

/** Runs all rounds and prints one line of counts for each command. */
export async function testFaults(count) {
  if (!has("strace") || quiet("strace", ["-qq", "true"]).code !== 0)
    return count.leaveOut("faults: strace is not installed, or may not trace here");
  const most = Number(process.env.MEMENTORY_FAULTS || 3);
  const only = process.env.MEMENTORY_FAULT_COMMAND;
  await inFolder(async (folder) => {
    const vault = prepareVault(folder);
    const commands = [...OPERATIONS, ...MORE_COMMANDS].map((make) => make(vault));
    for (const command of commands.filter(({ name }) => !only || name === only)) {
      const states = expectedStates(vault, command);
      const all = faultPoints(vault, command);
      const chosen = chooseEvenly(all, most);
      const tally = { before: 0, after: 0, warned: 0, unreached: 0, problems: [] };
      for (const point of chosen) failOnce(vault, command, states, point, tally);
      tally.problems.forEach((problem) => console.log(`  ${command.name}: ${problem}`));
      const { before, after, warned, unreached } = tally;
      count.add(
        `${command.name}: ${chosen.length} of ${all.length} fault points: ${before} not applied, ` +
          `${after} applied (${warned} with a warning), ${unreached} not reached`,
        tally.problems.length === 0,
      );
    }
  });
}

/** Makes the path of a file that the command writes. It is not in the vault. */
const outsidePath = (vault, name) => join(vault.folder, name);

/**
 * Commands besides those of `OPERATIONS`. `otherState`: returns the state that the command changes, if a list of
 * records does not show it. `writes`: the path of what the command makes outside the vault. `isWhole`: whether that is
 * complete. `code`: the answer has a new recovery code.
 */
const MORE_COMMANDS = [
  (vault) => ({ name: "add", args: ["add", "--text-file", vault.write("added.txt", "Keeps bees on the roof.")] }),
  (vault) => ({ name: "tag", args: ["edit", vault.list("--kind", "memory")[0].id, "--tag", "ochre"] }),
  (vault) => ({ name: "delete", args: ["delete", vault.list("--kind", "memory")[1].id] }),
  (vault) => ({ name: "restore", args: ["restore", vault.list("--trash")[0].id] }),
  (vault) => ({
    name: "review",
    args: ["review", "--answer", `${vault.list("--kind", "memory")[0].id}=outdated`],
    otherState: (copy) => copy.must("review", "--next").answers,
  }),
  () => ({
    name: "grant",
    args: ["grants", "add", "Reader", "--rights", "read"],
    otherState: (copy) => copy.must("grants").grants.map(({ name }) => name),
  }),
  () => ({
    name: "key",
    args: ["keys", "trust", "1".repeat(64), "--name", "Ada"],
    otherState: (copy) => copy.must("keys", "list").trusted.map(({ name }) => name),
  }),
  (vault) => ({
    name: "export",
    args: ["export", "--format", "alf", "--out", outsidePath(vault, "out.alf")],
    writes: outsidePath(vault, "out.alf"),
    isWhole: (copy, path) => copy.run("validate", path).code === 0,
  }),
  (vault) => ({
    name: "backup",
    args: ["backup", outsidePath(vault, "copy")],
    writes: outsidePath(vault, "copy"),
    isWhole: canOpen,
  }),
  (vault) => {
    const backup = outsidePath(vault, "kept");
    vault.must("backup", backup);
    return {
      name: "restore-backup",
      args: ["restore-backup", backup, outsidePath(vault, "restored")],
      writes: outsidePath(vault, "restored"),
      isWhole: canOpen,
    };
  },
  (vault) => ({
    name: "create",
    args: ["create", outsidePath(vault, "fresh"), "--kdf-floor"],
    writes: outsidePath(vault, "fresh"),
    isWhole: canOpen,
  }),
  () => ({ name: "recovery-code", args: ["recovery-code"], code: true }),
];

/** Whether a vault opens and passes its check. */
function canOpen(copy, path) {
  const other = new Vault(copy.folder, "opened");
  other.env.MEMENTORY_VAULT = path;
  return other.run("check").answer?.ok === true;
}

/** The visible state of the vault, and of what the command makes outside it. */
function observedState(copy, command) {
  const otherState = command.otherState ? JSON.stringify(command.otherState(copy)) : "";
  const made = command.writes ? existsSync(command.writes) : null;
  return JSON.stringify({ ...JSON.parse(visibleState(copy)), otherState, made });
}

function prepareCopy(vault, command) {
  if (command.writes) rmSync(command.writes, { recursive: true, force: true });
  return copyVault(vault);
}

function expectedStates(vault, command) {
  const copy = prepareCopy(vault, command);
  const before = observedState(copy, command);
  const result = copy.must(...command.args);
  if (command.secrets) useSecret(copy, command.secrets[1]);
  const after = observedState(copy, command);
  if (before === after && !command.secrets && !command.code) throw new Error(`${command.name} changes nothing visible`);
  return { before, after, result };
}

/** Runs the command under strace. Returns its result and the lines of strace. */
function runTraced(copy, command, options) {
  const log = join(copy.folder, "strace.txt");
  rmSync(log, { force: true });
  const strace = ["-f", "-y", "-qq", "--seccomp-bpf", "-o", log, ...options, built("mementory"), "--json"];
  const result = quiet("strace", [...strace, ...command.args], { cwd: copy.folder, env: { ...ENV, ...copy.env } });
  let answer = null;
  try {
    answer = JSON.parse(result.stdout);
  } catch {
    // The caller checks for null.
  }
  return { ...result, answer, lines: existsSync(log) ? readFileSync(log, "utf8").split("\n") : [] };
}

/** All fault points of a command: a kind of call, and its number in the thread that makes most of them. */
function faultPoints(vault, command) {
  const copy = prepareCopy(vault, command);
  const { lines } = runTraced(copy, command, ["-e", `trace=${Object.keys(CALLS)}`]);
  const counts = new Map();
  for (const line of lines) {
    const [, thread, call] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (call) counts.set(`${call} ${thread}`, (counts.get(`${call} ${thread}`) ?? 0) + 1);
  }
  const most = {};
  for (const [key, n] of counts) most[key.split(" ")[0]] = Math.max(most[key.split(" ")[0]] ?? 0, n);
  return Object.entries(most).flatMap(([call, n]) => Array.from({ length: n }, (_, i) => ({ call, n: i + 1 })));
}

/** At most `most` of the points, evenly distributed over the list. */
function chooseEvenly(points, most) {
  if (points.length <= most) return points;
  return Array.from({ length: most }, (_, i) => points[Math.floor(((i + 0.5) * points.length) / most)]);
}

/** Runs one round and adds its outcome to `tally`. */
function failOnce(vault, command, states, point, tally) {
  const copy = prepareCopy(vault, command);
  const fault = `${point.call}:error=${CALLS[point.call]}:when=${point.n}`;
  const { code, stdout, stderr, answer, lines } = runTraced(copy, command, [
    ...["-e", `trace=${point.call}`],
    ...["-e", `inject=${fault}`],
  ]);
  const failed = lines.filter((line) => line.includes("(INJECTED)"));
  // Count only faults in files: a failed write to standard output says nothing about the vault.
  const ofFiles = failed.filter((line) => !/^\d+ +write\([0-2]</.test(line));
  if (failed.length === 0 || ofFiles.length < failed.length) return void (tally.unreached += 1);
  const place = ofFiles.map((line) => line.slice(0, 160)).join("; ");
  const problem = (text) =>
    tally.problems.push(`${fault}: ${text}\n    ${place}\n    ${code}: ${stdout.slice(0, 400)}`);
  if (answer === null) return problem(`no answer: ${stderr.slice(0, 300)}`);
  const error = answer.error;
  if (command.secrets) useSecret(copy, command.secrets[error ? 0 : 1]);
  if (copy.run("info").code !== 0) return problem("the vault does not open as the answer says");
  const now = observedState(copy, command);
  tally[error ? "before" : "after"] += 1;
  if (!error && answer.warnings?.length > 0) tally.warned += 1;
  if (now !== (error ? states.before : states.after))
    problem(`${error ? "an error" : "a result"}, and yet: ${difference(now, states)}`);
  if (error && !HONEST_CODES.includes(error.code)) problem(`the error is called ${error.code}`);
  if (!error && command.writes && !command.isWhole(copy, command.writes)) problem("what was written is not complete");
  if (!error && command.code) {
    copy.write("code.txt", `${answer.recovery_code}\n`);
    useSecret(copy, "code.txt");
    if (copy.run("info").code !== 0) problem("the new recovery code opens nothing");
    useSecret(copy, "passphrase.txt");
  }
  if (!error && command.erased) erasureProblems(copy, command.erased).forEach(problem);
  checkVault(copy, problem);
  if (error) tryAgain(copy, command, states, problem);
}

function checkVault(copy, problem) {
  const { ok, places } = copy.run("check").answer ?? {};
  if (!ok) problem(`check: ${JSON.stringify(places?.filter((place) => !place.ok))}`);
  const left = readdirSync(copy.path).filter((name) => !VAULT_FILE_PATTERN.test(name));
  if (left.length > 0) problem(`unexpected files in the folder: ${left}`);
}

/** Checks that after an error the command works when it is repeated, and that nothing exists twice afterwards. */
function tryAgain(copy, command, states, problem) {
  const again = copy.run(...command.args);
  if (again.code !== 0) return problem(`again: exit code ${again.code}: ${again.stdout.slice(0, 300)}`);
  if (command.secrets) useSecret(copy, command.secrets[1]);
  const now = observedState(copy, command);
  if (now !== states.after) problem(`again: not as after: ${difference(now, states)}`);
}

function useSecret(copy, name) {
  copy.env.MEMENTORY_PASSPHRASE_FILE = join(copy.folder, name);
}

function difference(now, states) {
  const [n, b, a] = [now, states.before, states.after].map((text) => JSON.parse(text));
  const others = ["otherState", "made"].map((key) => `${key} ${n[key]} (before ${b[key]}, after ${a[key]})`);
  return `${differenceText(...[now, states].map(lists))}, ${others.join(", ")}`;
}

/** Only the members that are lists of records. */
function lists(state) {
  const keep = (text) => {
    const { records, trash, tombstones, batches } = JSON.parse(text);
    return JSON.stringify({ records, trash, tombstones, batches });
  };
  return typeof state === "string" ? keep(state) : { before: keep(state.before), after: keep(state.after) };
}

await runAlone(import.meta.url, testFaults);
