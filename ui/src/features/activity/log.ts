import { backend, type AuditEntry, type BatchInfo, type TombstoneView } from "$lib/ipc";
import { assistantStyle } from "$lib/logic/assistants";
import { oneLine } from "$lib/logic/untrusted-text";
import { ANY } from "$lib/state/filter";
import { hasText, joinWithCommas, t, word } from "$lib/text";
import { auditText, type CoreText } from "$lib/text/core";
import { parseTime } from "$lib/text/format";

/** The document behind a log entry: the report of an import or the receipt of a deletion. */
export type Proof = { kind: "report"; batch: string } | { kind: "receipt"; id: string };

const DELETION_OPS: Record<string, string> = { erase: "delete", redact: "redact" };

/**
 * The document of each log entry that has one, by entry number. The entry of a deletion is matched with the tombstone
 * that has the same operation, record and time.
 */
export function proofsOf(
  entries: readonly AuditEntry[],
  batches: readonly BatchInfo[],
  tombstones: readonly TombstoneView[],
): Map<number, Proof> {
  const reports = new Set(batches.map((batch) => batch.batch));
  const key = (op: string, id: string, at: string) => `${op} ${id} ${parseTime(at)?.getTime() ?? ""}`;
  const receipts = new Map(
    tombstones.flatMap((tombstone) =>
      tombstone.receipt === null
        ? []
        : [[key(tombstone.op, tombstone.target_id, tombstone.at), tombstone.receipt] as const],
    ),
  );
  const receiptIds = new Set(receipts.values());
  const proofs = new Map<number, Proof>();
  for (const { seq, op, target, at } of entries) {
    const receipt = receipts.get(key(DELETION_OPS[op] ?? "", target, at));
    if (receipt !== undefined) proofs.set(seq, { kind: "receipt", id: receipt });
    else if (op === "clean_again" && receiptIds.has(target)) proofs.set(seq, { kind: "receipt", id: target });
    else if ((op === "import" || op === "undo_import") && reports.has(target))
      proofs.set(seq, { kind: "report", batch: target });
  }
  return proofs;
}

/** Operations whose entries name only the id of a record. */
const OPS_ON_A_RECORD = new Set(["delete", "restore"]);
/** Maximum number of records whose kinds are requested from the backend. */
const MAX_TARGETS = 200;

/**
 * The kinds of the records that log entries name only by id. The kinds of erased records are read from their
 * tombstones. The kinds of the other records are requested, for at most the first `MAX_TARGETS`.
 */
export async function kindsOfTargets(
  entries: readonly AuditEntry[],
  tombstones: readonly TombstoneView[],
): Promise<Map<string, string>> {
  const targets = new Set(entries.filter(({ op }) => OPS_ON_A_RECORD.has(op)).map(({ target }) => target));
  const kinds = new Map(
    tombstones.filter(({ op }) => op === "delete").map(({ target_id, target_kind }) => [target_id, target_kind]),
  );
  const ids = [...targets].filter((id) => !kinds.has(id)).slice(0, MAX_TARGETS);
  if (ids.length === 0) return kinds;
  const find = (trash: boolean) =>
    backend().list({ filter: { ...ANY, trash, ids }, sort: null, limit: ids.length, cursor: null });
  for (const { items } of await Promise.all([find(true), find(false)]))
    for (const { id, kind } of items) kinds.set(id, kind);
  return kinds;
}

const NO_KINDS: ReadonlyMap<string, string> = new Map();

/**
 * The text for the detail of a log entry. For an import, it also names the assistant and the files, so that people can
 * tell imports apart. For an entry that names only the id of a record, it is the kind of the record, if `kinds`
 * contains it.
 */
export function detailOf(
  { op, detail, target }: AuditEntry,
  batches: readonly BatchInfo[],
  kinds: ReadonlyMap<string, string> = NO_KINDS,
): CoreText {
  const entryText = auditText(op, detail, target);
  const kind = OPS_ON_A_RECORD.has(op) && detail === "" ? kinds.get(target) : undefined;
  if (kind) return { text: word("kind", kind), original: "" };
  const batch = op === "import" || op === "undo_import" ? batches.find((each) => each.batch === target) : undefined;
  if (!batch) return entryText;
  const names = batch.names.map((name) => oneLine(name));
  return { ...entryText, text: joinWithCommas([assistantStyle(batch.format).name, ...names, entryText.text]) };
}

/** A filter for the log: by operation, by actor (as the name is displayed), and by the earliest time. */
export type LogFilter = { op: string | null; by: string | null; since: string | null };

export function filterEntries(
  entries: readonly AuditEntry[],
  { op, by, since }: LogFilter,
  nameOf: (actor: string) => string,
): AuditEntry[] {
  const from = since === null ? -Infinity : Date.parse(since);
  return entries.filter(
    (entry) =>
      (op === null || entry.op === op) &&
      (by === null || nameOf(entry.actor) === by) &&
      (parseTime(entry.at)?.getTime() ?? 0) >= from,
  );
}

/**
 * A number of records, such as `6 memories`. Rare kinds have no plural forms, so their text looks like `2 × Relation`.
 */
export const countedKind = (kind: string, n: number): string =>
  hasText(`many.${kind}`) ? word("many", kind, { n }) : t("many.kind", { n, kind: word("kind", kind) });
