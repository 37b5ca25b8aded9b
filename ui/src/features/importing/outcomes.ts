import type { ImportReport, Outcome, ReportItem } from "$lib/ipc";
import { byName, word } from "$lib/text";

export type OutcomeKey = "added" | "updated" | "unchanged" | "blocked" | "skipped" | "failed";

/** The columns after "found", in the order of the sum; named by `outcome.<key>`. */
export const COLUMNS: readonly OutcomeKey[] = ["added", "updated", "unchanged", "blocked", "skipped", "failed"];

const ORDER = ["memory", "profile", "conversation", "message", "attachment"];

/** Rows of the table: what the input holds, by kind, in a steady order. */
export function kindRows(report: ImportReport): { kind: string; label: string; outcome: Outcome }[] {
  const place = (kind: string) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
  return Object.entries(report.by_kind)
    .filter(([, outcome]) => outcome.found > 0)
    .sort((a, b) => place(a[0]) - place(b[0]) || byName(kindName(a[0]), kindName(b[0])))
    .map(([kind, outcome]) => ({ kind, label: kindName(kind), outcome }));
}

/** `Memories`, `Files`, … */
export function kindName(kind: string): string {
  return word("kinds", kind);
}

/** `43,650 = 669 + 40 + …`; null when it does not add up. */
export function sumOf(outcome: Outcome): number[] | null {
  const parts = COLUMNS.map((key) => outcome[key]);
  return parts.reduce((all, n) => all + n, 0) === outcome.found ? parts : null;
}

export function itemsWith(report: ImportReport, outcome: OutcomeKey): ReportItem[] {
  return report.items.filter((item) => item.outcome === outcome);
}

/** Attachments that the export names and does not hold. */
export function missingAttachments(report: ImportReport): number {
  return Math.max(0, report.attachments.referenced - report.attachments.present);
}
