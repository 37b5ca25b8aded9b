// A prepared vault, the operations on it, and its visible state, for the tests that disturb an operation.
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { manyConversations } from "../cli/generated.mjs";
import { FIXTURES, Vault } from "../cli/mementory.mjs";

const NEW_PASSPHRASE = "seven lanterns hang in the orchard";
/** Files that a closed vault may consist of. */
export const VAULT_FILE_PATTERN = /^(vault\.json|store\.db|store\.db-(wal|shm)|index|blobs|lock|erasures)$/;

/** An id of a record, batch or grant. */
const ID_PATTERN = /"[0-9a-f]{32}"/g;
const TIME_PATTERN = /"\d{4}-\d\d-\d\dT[\d:.]+Z"/g;

/**
 * Creates a vault with sample exports of two assistants, an edited record, a record in the Trash, and a batch that can
 * be undone. `conversations` is the number of conversations in that batch.
 */
export function prepareVault(folder, conversations = 60) {
  const vault = new Vault(folder, "prepared").create();
  vault.must("import", join(FIXTURES, "samples", "chatgpt-export.zip"));
  vault.must("import", join(FIXTURES, "samples", "claude-export.zip"));
  vault.must("edit", vault.list("--kind", "memory")[0].id, "--tag", "kept");
  vault.must("delete", vault.list("--kind", "message").at(-1).id);
  vault.batch = vault.must("import", vault.write("first.json", manyConversations("marigold", conversations, 6))).batch;
  vault.started = new Date().toISOString();
  vault.known = new Set(JSON.stringify(vault.dump()).match(ID_PATTERN));
  return vault;
}

/**
 * Functions that return an operation. `erased` is a search query for the erased text. `secrets` are the names of two
 * files: one with the old passphrase and one with the new passphrase.
 */
export const OPERATIONS = [
  (vault, conversations = 150) => ({
    name: "import",
    args: ["import", vault.write("second.json", manyConversations("juniper", conversations, 8))],
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

/** Returns the visible state before and after the operation, and the milliseconds of opening and of the operation. */
export function measureStates(vault, operation) {
  const copy = copyVault(vault);
  const opening = millisecondsOf(() => copy.must("info"));
  const before = visibleState(copy);
  const duration = millisecondsOf(() => copy.must(...operation.args));
  if (operation.secrets) copy.env.MEMENTORY_PASSPHRASE_FILE = join(copy.folder, operation.secrets[1]);
  const after = visibleState(copy);
  if (!operation.secrets && before === after) throw new Error(`${operation.name} changes nothing visible`);
  return { before, after, opening, duration };
}

/** Problems after an erasure: the text is still found, or a tombstone has no complete receipt. */
export function erasureProblems(vault, words) {
  const problems = [];
  const { total } = vault.must("search", words);
  if (total > 0) problems.push(`${total} found of what was erased`);
  const incompleteTombstones = vault.must("tombstones").tombstones.filter(({ complete }) => complete !== true);
  if (incompleteTombstones.length > 0)
    problems.push(
      `${incompleteTombstones.length} tombstones without a complete receipt (${incompleteTombstones[0].complete})`,
    );
  return problems;
}

export function copyVault(vault) {
  const copy = Object.assign(new Vault(vault.folder, "killed"), { started: vault.started, known: vault.known });
  // Also remove the list of erasures in the program's data folder. Otherwise opening would apply the erasures of the
  // previous copy to this copy.
  for (const path of [copy.path, copy.data]) rmSync(path, { recursive: true, force: true });
  cpSync(vault.path, copy.path, { recursive: true });
  return copy;
}

/**
 * The visible state of the vault as text. Ids and times that were made after the vault was prepared differ in every
 * run, so they are replaced by fixed words.
 */
export function visibleState(vault) {
  const { records, trash, tombstones, batches } = vault.dump();
  const stableText = (value) =>
    JSON.stringify(value)
      .replace(ID_PATTERN, (id) => (vault.known.has(id) ? id : '"new"'))
      .replace(TIME_PATTERN, (time) => (JSON.parse(time) < vault.started ? time : '"now"'));
  return JSON.stringify({
    records: records.map(stableText).sort(),
    trash: trash.map(stableText).sort(),
    tombstones: tombstones.map(({ op, target_id: target }) => `${op} ${target}`).sort(),
    batches: batches.map(stableText),
  });
}

export function differenceText(now, { before, after }) {
  const [n, b, a] = [now, before, after].map((text) => JSON.parse(text));
  return Object.keys(n)
    .map((key) => `${key} ${n[key].length} (before ${b[key].length}, after ${a[key].length})`)
    .join(", ");
}

export function millisecondsOf(run) {
  const started = performance.now();
  run();
  return performance.now() - started;
}

/** Random numbers that are the same for the same seed (mulberry32). */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
