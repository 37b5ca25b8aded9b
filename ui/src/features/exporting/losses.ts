import { backend, type Exported } from "$lib/ipc";
import { MAX_ENTRIES } from "$features/layout/expandable-count";
import { truncated } from "$lib/logic/untrusted-text";
import { plainLine } from "$lib/logic/markdown";
import { ANY } from "$lib/state/filter";
import { byName, hasText, joinWithAnd, joinWithCommas, t } from "$lib/text";
import { fieldName } from "$lib/text/core";

/**
 * The scope of an export: everything (`all`), what is on screen (`screen`), or what a filter of the person selects
 * (`choose`).
 */
export type Scope = "all" | "screen" | "choose";
export type LossRow = { field: string; n: number; kind: string; note: string };

/** Maximum number of UTF-16 code units of the text that represents a record in a list of losses. */
const MAX_LABEL_LENGTH = 120;
const LOSS_WEIGHTS: Record<string, number> = { left_out: 0, narrowed: 1 };
const KEPT_IN_SLOT = "moved_to_extension";

/** Fields that only programs use. Nobody misses them when they are left out. */
const TECHNICAL_FIELDS: ReadonlySet<string> = new Set([
  ...["passthrough", "manifest", "document", "database", "embeddings", "embedding_ref", "id", "identifiers"],
  ...["content_hash", "position", "version", "accessCount", "failureCount", "successCount", "charBudget"],
]);

/** Whether a loss is only that of fractions of a second, which the extension slot preserves. */
const isLostFraction = ({ field, kind }: { field: string; kind: string }) =>
  kind === "narrowed" && field.startsWith("times.");

/**
 * Losses by field and kind with their counts, the most serious kind and the largest count first. The note of a row is
 * that of its first listed loss. It is empty if the list, which ends after a thousand losses, has none of the row's
 * losses. Fields and fractions of seconds that the extension slot preserves are not lost and have no row.
 */
export function lossRows(exported: Exported): LossRow[] {
  return exported.loss_counts
    .filter((loss) => loss.kind !== KEPT_IN_SLOT && !isLostFraction(loss))
    .map(({ field, kind, count }) => ({
      field,
      kind,
      n: count,
      note: exported.losses.find((loss) => loss.field === field && loss.kind === kind)?.note ?? "",
    }))
    .sort((a, b) => (LOSS_WEIGHTS[a.kind] ?? 1) - (LOSS_WEIGHTS[b.kind] ?? 1) || b.n - a.n);
}

/**
 * The distinct records that the losses of a row affect. `complete` is false if some are missing, because the list of
 * losses ends after a thousand.
 */
function affectedRecordNames(exported: Exported, row: LossRow): { names: string[]; complete: boolean } {
  const listedLosses = exported.losses.filter(({ field, kind }) => field === row.field && kind === row.kind);
  return { names: [...new Set(listedLosses.map(({ record }) => record))], complete: listedLosses.length >= row.n };
}

/**
 * The number of distinct records that the losses of a row affect. It is only an upper bound if not all losses are
 * listed.
 */
export function recordsWithLoss(exported: Exported, row: LossRow): number {
  const { names, complete } = affectedRecordNames(exported, row);
  return complete ? names.length : row.n;
}

/**
 * Labels of the first records that the losses of a row affect: their titles or first words, or the names of passthrough
 * files.
 */
export async function lossLabels(exported: Exported, row: LossRow): Promise<string[]> {
  const names = affectedRecordNames(exported, row).names.slice(0, MAX_ENTRIES);
  const request = { filter: { ...ANY, ids: names }, sort: null, limit: MAX_ENTRIES, cursor: null };
  const { items } = await backend().list(request);
  const textOf = new Map(
    items.map((item) => [item.id, plainLine(truncated(item.title || item.text, MAX_LABEL_LENGTH))]),
  );
  // `list` returns neither passthrough files nor records in the Trash, so their names are shown instead of texts.
  return names.map((name) => textOf.get(name) || name);
}

/** Names of the fields that are kept in the extension slot and restored when imported again, each once. */
export function keptFields(exported: Exported): string[] {
  const keptLosses = exported.loss_counts.filter(({ kind, count }) => kind === KEPT_IN_SLOT && count > 0);
  return [...new Set(keptLosses.map(({ field }) => fieldName(field)))].sort(byName);
}

/** The number of losses of the kind `left_out`. */
export function omittedCount(exported: Exported): number {
  return exported.loss_counts.reduce((sum, { kind, count }) => (kind === "left_out" ? sum + count : sum), 0);
}

const isMissed = ({ field, kind, count }: Exported["loss_counts"][number]) =>
  kind === "left_out" && count > 0 && !TECHNICAL_FIELDS.has(field);

/** The omitted fields that a person would miss. */
export const missedFields = (exported: Exported): string[] =>
  exported.loss_counts.filter(isMissed).map(({ field }) => field);

/** Names under which a loss lists whole files instead of a field. */
const FILE_FIELDS: ReadonlySet<string> = new Set(["attachment", "bytes", "file", "files"]);
/**
 * Names under which a loss lists whole entries or their text. All other names are details of entries that are exported.
 */
const ITEM_FIELDS: ReadonlySet<string> = new Set(["record", "text", "content", "tombstone", "part", "identity"]);

/** The numbers of omitted files, entries and details of entries that a person would miss. */
function missedCounts(exported: Exported): { files: number; items: number; details: number } {
  const counts = { files: 0, items: 0, details: 0 };
  for (const { field, count } of exported.loss_counts.filter(isMissed))
    counts[FILE_FIELDS.has(field) ? "files" : ITEM_FIELDS.has(field) ? "items" : "details"] += count;
  return counts;
}

/**
 * Names what an export leaves out, such as `4 files and 19 details`. Empty if it leaves out nothing that a person would
 * miss. `withheld` is the number of entries that were not exported for other reasons.
 */
export function leftOutText(exported: Exported, withheld = 0): string {
  const { files, items, details } = missedCounts(exported);
  return joinWithAnd([
    ...(files > 0 ? [t("many.attachment", { n: files })] : []),
    ...(items + withheld > 0 ? [t("many.items", { n: items + withheld })] : []),
    ...(details > 0 ? [t("loss.details", { n: details })] : []),
  ]);
}

/** The number of entries that the export withholds for reasons other than its format. */
export const withheldCount = (exported: Exported): number =>
  exported.withheld.reduce((sum, { count }) => sum + count, 0);

/**
 * How many attached files are exported and how many are left out. `canContain`: whether the format can contain files.
 */
export function attachedFileCounts(exported: Exported, canContain: boolean): { exported: number; omitted: number } {
  const lossCount = (field: string) =>
    exported.loss_counts.reduce(
      (n, loss) => (loss.field === field && loss.kind === "left_out" ? n + loss.count : n),
      0,
    );
  const attachmentCount = exported.by_kind.attachment ?? 0;
  // Only files whose bytes are in the vault can be lost. A file that an import listed without containing it is no loss.
  if (!canContain) return { exported: 0, omitted: Math.max(lossCount("bytes"), lossCount("file")) };
  const omitted = Math.min(attachmentCount, lossCount("attachment"));
  return { exported: attachmentCount - omitted, omitted };
}

/** Names what an export contains, such as `412 memories, 2,859 conversations, 318 files`. */
export function contentsText(exported: Exported): string {
  const order = ["memory", "conversation", "attachment", "message"];
  const namedKinds = Object.entries(exported.by_kind)
    .filter(([kind, n]) => n > 0 && hasText(`many.${kind}`))
    .sort((a, b) => ((order.indexOf(a[0]) + 99) % 99) - ((order.indexOf(b[0]) + 99) % 99));
  const parts = namedKinds
    .slice(0, 3)
    .map(([kind, n]) => (hasText(`many.${kind}`) ? t(`many.${kind}` as "many.memory", { n }) : ""));
  return parts.length > 0 ? joinWithCommas(parts) : t("many.items", { n: exported.records });
}
