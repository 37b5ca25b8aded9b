import { backend, type Exported } from "$lib/ipc";
import { MAX_ENTRIES } from "$features/layout/expandable-count";
import { truncated } from "$lib/logic/untrusted-text";
import { plainLine } from "$lib/logic/markdown";
import { ANY } from "$lib/state/filter";
import { hasText, joinWithCommas, t } from "$lib/text";

/** What goes in: everything, where the person came from, or what is chosen by hand. */
export type Scope = "all" | "screen" | "choose";
export type LossRow = { field: string; n: number; kind: string; note: string };

/** Letters of a record in a list of losses. */
const SHOWN = 120;
const WEIGHT: Record<string, number> = { left_out: 0, narrowed: 1, moved_to_extension: 2 };

/** Losses by field and kind: how many, and what happens; the heaviest first. The list of losses only lends its notes: it ends after a thousand. */
export function lossRows(exported: Exported): LossRow[] {
  return exported.loss_counts
    .map(({ field, kind, count }) => ({
      field,
      kind,
      n: count,
      note: exported.losses.find((loss) => loss.field === field && loss.kind === kind)?.note ?? "",
    }))
    .sort((a, b) => (WEIGHT[a.kind] ?? 1) - (WEIGHT[b.kind] ?? 1) || b.n - a.n);
}

/** What lost something by a row, once each, and whether that is all of it: the list of losses ends after a thousand. */
function losersOf(exported: Exported, row: LossRow): { names: string[]; whole: boolean } {
  const of = exported.losses.filter(({ field, kind }) => field === row.field && kind === row.kind);
  return { names: [...new Set(of.map(({ record }) => record))], whole: of.length >= row.n };
}

/** How many that are, at most. A record may lose the same field several times. */
export function recordsWithLoss(exported: Exported, row: LossRow): number {
  const { names, whole } = losersOf(exported, row);
  return whole ? names.length : row.n;
}

/** Records by their first words, parts by their name: the first of them. */
export async function lostOf(exported: Exported, row: LossRow): Promise<string[]> {
  const names = losersOf(exported, row).names.slice(0, MAX_ENTRIES);
  const request = { filter: { ...ANY, ids: names }, sort: null, limit: MAX_ENTRIES, cursor: null };
  const { items } = await backend().list(request);
  const said = new Map(items.map((item) => [item.id, plainLine(truncated(item.title || item.text, SHOWN))]));
  // A part of a file, and what is in the Trash, is in no list.
  return names.map((name) => said.get(name) || name);
}

/** Items that would not be in the file. */
export function omittedCount(exported: Exported): number {
  return exported.loss_counts.reduce((sum, { kind, count }) => (kind === "left_out" ? sum + count : sum), 0);
}

/** How many attached files go along themselves, and how many stay behind. `carries`: the format holds them at all. */
export function filesOf(exported: Exported, carries: boolean): { go: number; stay: number } {
  const lost = (field: string) =>
    exported.loss_counts.reduce(
      (n, loss) => (loss.field === field && loss.kind === "left_out" ? n + loss.count : n),
      0,
    );
  const named = exported.by_kind.attachment ?? 0;
  // Those that go along with their message are no entries of their own.
  if (!carries) return { go: 0, stay: Math.max(named, lost("bytes")) };
  const stay = Math.min(named, lost("attachment"));
  return { go: named - stay, stay };
}

/** `412 memories, 2,859 conversations, 318 files`. */
export function scopeText(exported: Exported): string {
  const order = ["memory", "conversation", "attachment", "message"];
  const known = Object.entries(exported.by_kind)
    .filter(([kind, n]) => n > 0 && hasText(`many.${kind}`))
    .sort((a, b) => ((order.indexOf(a[0]) + 99) % 99) - ((order.indexOf(b[0]) + 99) % 99));
  const parts = known
    .slice(0, 3)
    .map(([kind, n]) => (hasText(`many.${kind}`) ? t(`many.${kind}` as "many.memory", { n }) : ""));
  return parts.length > 0 ? joinWithCommas(parts) : t("many.items", { n: exported.records });
}
