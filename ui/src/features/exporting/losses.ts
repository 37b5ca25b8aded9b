import type { Exported } from "$lib/ipc";
import { hasText, listed, t } from "$lib/text";

export type LossRow = { field: string; n: number; kind: string; note: string };

const WEIGHT: Record<string, number> = { left_out: 0, narrowed: 1, moved_to_extension: 2 };

/** Losses by field: how many, and what happens; the heaviest first. */
export function lossRows(exported: Exported): LossRow[] {
  const rows = new Map<string, LossRow>();
  for (const loss of exported.losses) {
    const row = rows.get(loss.field);
    if (!row) rows.set(loss.field, { field: loss.field, n: 1, kind: loss.kind, note: loss.note });
    else {
      row.n += 1;
      if ((WEIGHT[loss.kind] ?? 1) < (WEIGHT[row.kind] ?? 1)) Object.assign(row, { kind: loss.kind, note: loss.note });
    }
  }
  for (const [field, n] of Object.entries(exported.loss_counts)) {
    const row = rows.get(field);
    if (row) row.n += n;
    else rows.set(field, { field, n, kind: "narrowed", note: "" });
  }
  return [...rows.values()].sort((a, b) => (WEIGHT[a.kind] ?? 1) - (WEIGHT[b.kind] ?? 1) || b.n - a.n);
}

/** Items that would not be in the file. */
export function leftOut(exported: Exported): number {
  return lossRows(exported)
    .filter((row) => row.kind === "left_out")
    .reduce((sum, row) => sum + row.n, 0);
}

/** `412 memories, 2,859 conversations and 318 files`. */
export function scopeText(exported: Exported): string {
  const order = ["memory", "conversation", "attachment", "message"];
  const known = Object.entries(exported.by_kind)
    .filter(([kind, n]) => n > 0 && hasText(`many.${kind}`))
    .sort((a, b) => ((order.indexOf(a[0]) + 99) % 99) - ((order.indexOf(b[0]) + 99) % 99));
  const parts = known
    .slice(0, 3)
    .map(([kind, n]) => (hasText(`many.${kind}`) ? t(`many.${kind}` as "many.memory", { n }) : ""));
  return parts.length > 0 ? listed(parts) : t("many.items", { n: exported.records });
}
