import type { ImportReport, Outcome } from "$lib/ipc";
import { listOfNew } from "$lib/state/imports.svelte";
import { byName, joinWithCommas, t, word } from "$lib/text";

export type OutcomeKey = "added" | "updated" | "unchanged" | "blocked" | "skipped" | "failed";

/** A number of the table: of one kind or of all, of one outcome or of everything that was found. */
export type OutcomeSelection = { kind: string | null; outcome: OutcomeKey | "found" };
export const ALL: OutcomeSelection = { kind: null, outcome: "found" };

/** One line of a list of items. `text`: how it begins, of what a preview finds new. */
export type Entry = { outcome: string; place: string; reason: string; text: string | null };

/** The columns after "found", in the order of the sum; named by `outcome.<key>`. */
export const COLUMNS: readonly OutcomeKey[] = ["added", "updated", "unchanged", "blocked", "skipped", "failed"];
/** What has to be looked at first, first. */
const LIST_ORDER: readonly string[] = ["failed", "blocked", "skipped", "updated", "added", "unchanged"];

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

/** `Memories, Same`. */
export function selectionName({ kind, outcome }: OutcomeSelection): string {
  return joinWithCommas([kind === null ? null : kindName(kind), t(`outcome.${outcome}`)]);
}

export const sameSelection = (a: OutcomeSelection | null, b: OutcomeSelection): boolean =>
  a?.kind === b.kind && a.outcome === b.outcome;

/** `43,650 = 669 + 40 + …`; null when it does not add up. */
export function sumOf(outcome: Outcome): number[] | null {
  const parts = COLUMNS.map((key) => outcome[key]);
  return parts.reduce((all, n) => all + n, 0) === outcome.found ? parts : null;
}

/** How many there are. */
export function countOf(report: ImportReport, { kind, outcome }: OutcomeSelection): number {
  return (kind === null ? report : report.by_kind[kind])?.[outcome] ?? 0;
}

/** How many of them a list of items is of: what an import has added stands in the lists of the vault. */
export function itemCount(report: ImportReport, pick: OutcomeSelection): number {
  const all = countOf(report, pick);
  return pick.outcome === "found" && !report.dry_run ? all - countOf(report, { ...pick, outcome: "added" }) : all;
}

/** Whether there is a list behind a number. Reports of former imports don't say of which kind an item is. */
export function hasList(report: ImportReport, pick: OutcomeSelection): boolean {
  if (countOf(report, pick) === 0) return false;
  if (pick.outcome === "added") return report.dry_run || listOfNew(report, pick.kind) !== null;
  return pick.kind === null || report.items.every((item) => item.kind !== null);
}

/** The items behind a number, and how many of them are counted only. */
export function entriesOf(report: ImportReport, pick: OutcomeSelection): { entries: Entry[]; more: number } {
  const { kind, outcome } = pick;
  const coming = report.coming.map((item) => ({ ...item, outcome: "added", reason: "" }));
  const entries = [...report.items.map((item) => ({ ...item, text: null })), ...coming]
    .filter((item) => (kind === null || item.kind === kind) && (outcome === "found" || item.outcome === outcome))
    .sort((a, b) => LIST_ORDER.indexOf(a.outcome) - LIST_ORDER.indexOf(b.outcome));
  return { entries, more: Math.max(0, itemCount(report, pick) - entries.length) };
}

/** Attachments that the export names and does not hold. */
export function missingAttachments(report: ImportReport): number {
  const { referenced, present } = report.attachments;
  return report.missing_attachments ?? Math.max(0, referenced - present);
}
