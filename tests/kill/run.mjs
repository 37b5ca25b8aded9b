// Tests that a vault whose process is killed at any moment is in the state before or after the operation, never in
// between.
//
// Each round copies a prepared vault, starts one operation and sends SIGKILL after a random delay. Then the vault has
// to open, pass its check and show exactly one of the two states. MEMENTORY_KILLS is the number of rounds (default 40),
// MEMENTORY_KILL_SEED the seed of the delays.
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { manyConversations } from "../cli/generated.mjs";
import { FIXTURES, Vault, inFolder } from "../cli/mementory.mjs";

const NEW_PASSPHRASE = "seven lanterns hang in the orchard";
/** Files that a closed vault may consist of. */
const VAULT_FILE_PATTERN = /^(vault\.json|store\.db|store\.db-(wal|shm)|index|blobs|lock|erasures)$/;

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
      const which = round % operations.length;
      await killOnce(vault, operations[which], states[which], random, round, tallies[which]).catch((error) =>
        tallies[which].problems.push(`round ${round}: ${error.message.trim()}`),
      );
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

/** Creates a vault with samples of two assistants, a batch to undo, an edit and a record in the Trash. */
function prepareVault(folder) {
  const vault = new Vault(folder, "prepared").create();
  vault.must("import", join(FIXTURES, "samples", "chatgpt-export.zip"));
  vault.must("import", join(FIXTURES, "samples", "claude-export.zip"));
  vault.must("edit", vault.list("--kind", "memory")[0].id, "--tag", "kept");
  vault.must("delete", vault.list("--kind", "message").at(-1).id);
  vault.batch = vault.must("import", vault.write("first.json", manyConversations("marigold", 60, 6))).batch;
  return vault;
}

/**
 * Functions that return an operation: `erased` is a search for the erased text, `secrets` are the files with the old
 * and the new passphrase.
 */
const OPERATIONS = [
  (vault) => ({
    name: "import",
    args: ["import", vault.write("second.json", manyConversations("juniper", 150, 8))],
  }),
  (vault) => ({
    name: "edit",
    args: [
      "edit",
      vault.list("--kind", "memory")[0].id,
      ...[
        "--text-file",
        vault.write("edited.txt", "Prefers lanterns over torches."),
        "--tag",
        "lantern",
        "--title",
        "Light",
      ],
    ],
  }),
  (vault) => ({
    name: "erase",
    args: [
      "erase",
      vault
        .list("--kind", "conversation", "--source", "chatgpt")
        .find(({ title }) => title === "marigold about subject 7").id,
    ],
    erased: '"marigold 7"',
  }),
  (vault) => ({
    name: "passwd",
    args: ["passwd", "--kdf-floor", "--new-passphrase-file", vault.write("new.txt", `${NEW_PASSPHRASE}\n`)],
    secrets: ["passphrase.txt", "new.txt"],
  }),
  (vault) => ({ name: "undo", args: ["undo", vault.batch] }),
  (vault) => ({
    name: "redact",
    args: [
      "redact",
      vault.list("--kind", "message").find(({ text }) => text.startsWith("marigold 9 2:")).id,
      "--span",
      "0:8:name",
    ],
  }),
];

/** The visible state before and after the operation, and how long opening and the whole operation take. */
function measureStates(vault, operation) {
  const copy = copyVault(vault);
  const opening = millisecondsOf(() => copy.must("info"));
  const before = visibleState(copy);
  const duration = millisecondsOf(() => copy.must(...operation.args));
  if (operation.secrets) copy.env.MEMENTORY_PASSPHRASE_FILE = join(copy.folder, operation.secrets[1]);
  const after = visibleState(copy);
  if (!operation.secrets && before === after) throw new Error(`${operation.name} changes nothing visible`);
  return { before, after, opening, duration };
}

/** Runs one round: kills the operation in a copy of the vault and adds the outcome to `tally`. */
async function killOnce(vault, operation, state, random, round, tally) {
  const copy = copyVault(vault);
  state.opening = weightedAverage(
    state.opening,
    millisecondsOf(() => copy.must("info")),
  );
  // One round in five kills at any time, the others only after the vault has about been opened. Durations depend on the
  // load of the machine, so they are measured again and again.
  const from = round % 5 === 4 ? 0 : state.opening * 0.9;
  const delay = from + random() * (Math.max(state.duration, from + 20) * 1.05 - from);
  const started = performance.now();
  const finished = await killAfter(copy.start(operation.args), delay);
  tally.finished += finished ? 1 : 0;
  if (finished) state.duration = weightedAverage(state.duration, performance.now() - started);
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
    const now = visibleState(copy);
    if (now === state.before) tally.before += 1;
    else if (now === state.after) tally.after += 1;
    else problem(`neither before nor after: ${differenceText(now, state)}`);
    if (now === state.after && operation.erased) erasureProblems(copy, operation.erased).forEach(problem);
  }
  const { ok, places } = copy.run("check").answer ?? {};
  if (!ok) problem(`check: ${JSON.stringify(places?.filter((place) => !place.ok))}`);
  const left = readdirSync(copy.path).filter((name) => !VAULT_FILE_PATTERN.test(name));
  if (left.length > 0) problem(`unexpected files in the folder: ${left}`);
  // If the vault is as before, the operation can be repeated.
  if (!operation.secrets && visibleState(copy) === state.before) {
    let again;
    const duration = millisecondsOf(() => (again = copy.run(...operation.args)));
    state.duration = weightedAverage(state.duration, duration);
    if (again.code !== 0) problem(`again: exit code ${again.code}: ${again.stdout.slice(0, 300)}`);
    else if (visibleState(copy) !== state.after) problem("again: not as after");
  }
}

/** Problems after an erasure: the text is still found, or a tombstone has no complete receipt. */
function erasureProblems(vault, words) {
  const problems = [];
  const { total } = vault.must("search", words);
  if (total > 0) problems.push(`${total} found of what was erased`);
  const open = vault.must("tombstones").tombstones.filter(({ complete }) => complete !== true);
  if (open.length > 0) problems.push(`${open.length} tombstones without a complete receipt (${open[0].complete})`);
  return problems;
}

function copyVault(vault) {
  const copy = new Vault(vault.folder, "killed");
  // Also remove the program's list of erasures, so that opening does not apply the erasures of the former copy to this
  // one.
  for (const path of [copy.path, copy.data]) rmSync(path, { recursive: true, force: true });
  cpSync(vault.path, copy.path, { recursive: true });
  return copy;
}

/** Everything visible, without times and ids that differ in every run. */
function visibleState(vault) {
  const { records, trash, tombstones, batches } = vault.dump();
  const stable = ({ updated_at: _u, changed_at: _c, trashed_at: _t, expires_at: _e, ...item }) => JSON.stringify(item);
  return JSON.stringify({
    records: records.map(stable).sort(),
    trash: trash.map(stable).sort(),
    tombstones: tombstones.map(({ op, target_id: target }) => `${op} ${target}`).sort(),
    batches: batches.map(({ batch: _b, at: _a, ...batch }) => JSON.stringify(batch)),
  });
}

function differenceText(now, { before, after }) {
  const [n, b, a] = [now, before, after].map((text) => JSON.parse(text));
  return Object.keys(n)
    .map((key) => `${key} ${n[key].length} (before ${b[key].length}, after ${a[key].length})`)
    .join(", ");
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

const weightedAverage = (old, now) => old * 0.6 + now * 0.4;

function millisecondsOf(run) {
  const started = performance.now();
  run();
  return performance.now() - started;
}

/** Random numbers that are the same for the same seed (mulberry32). */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
