import type { ImportReport, Outcome, ReportItem } from "$lib/ipc";
import { hasText, readable, t } from "$lib/text";

export type OutcomeKey = "added" | "updated" | "unchanged" | "blocked" | "skipped" | "failed";

/** The columns after "found", in the order of the sum. */
export const COLUMNS: { key: OutcomeKey; label: string }[] = [
  { key: "added", label: t("outcome.added") },
  { key: "updated", label: t("outcome.updated") },
  { key: "unchanged", label: t("outcome.unchanged") },
  { key: "blocked", label: t("outcome.blocked") },
  { key: "skipped", label: t("outcome.skipped") },
  { key: "failed", label: t("outcome.failed") },
];

const ORDER = ["memory", "profile", "conversation", "message", "attachment"];

/** Rows of the table: what the input holds, by kind, in a steady order. */
export function kindRows(report: ImportReport): { kind: string; label: string; outcome: Outcome }[] {
  const place = (kind: string) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
  return Object.entries(report.by_kind)
    .filter(([, outcome]) => outcome.found > 0)
    .sort((a, b) => place(a[0]) - place(b[0]) || a[0].localeCompare(b[0]))
    .map(([kind, outcome]) => ({ kind, label: kindName(kind), outcome }));
}

/** `Memories`, `Files`, … */
export function kindName(kind: string): string {
  const key = `kinds.${kind}`;
  return hasText(key) ? t(key) : readable(kind);
}

/** `43,650 = 669 + 40 + …`; null when it does not add up. */
export function sumOf(outcome: Outcome): number[] | null {
  const parts = COLUMNS.map(({ key }) => outcome[key]);
  return parts.reduce((all, n) => all + n, 0) === outcome.found ? parts : null;
}

export function itemsWith(report: ImportReport, outcome: OutcomeKey): ReportItem[] {
  return report.items.filter((item) => item.outcome === outcome);
}

/** Attachments that the export names and does not hold. */
export function missingAttachments(report: ImportReport): number {
  return Math.max(0, report.attachments.referenced - report.attachments.present);
}
