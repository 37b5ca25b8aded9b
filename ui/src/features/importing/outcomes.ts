import type { ImportReport, Outcome } from "$lib/ipc";
import { kindOfNewList } from "$lib/state/imports.svelte";
import { oneLine } from "$lib/logic/untrusted-text";
import { byName, count, joinWithCommas, t, word } from "$lib/text";
import { fileName } from "$lib/text/format";

export type OutcomeKey = "added" | "updated" | "unchanged" | "blocked" | "skipped" | "failed";

/** Identifies a number in the table. A `kind` of null means all kinds, and the outcome `found` means all outcomes. */
export type OutcomeSelection = { kind: string | null; outcome: OutcomeKey | "found" };
export const ALL_ITEMS: OutcomeSelection = { kind: null, outcome: "found" };

/** One listed item. In a preview, `text` has the first words of an item that would be new. */
export type Entry = { outcome: string; place: string; reason: string; text: string | null };

/** Columns after "found", in the order in which the report adds them up. Their texts are `outcome.<key>`. */
export const COLUMNS: readonly OutcomeKey[] = ["added", "updated", "unchanged", "blocked", "skipped", "failed"];
/** Outcomes in the order of the list. Those that need attention come first. */
const LIST_ORDER: readonly string[] = ["failed", "blocked", "skipped", "updated", "added", "unchanged"];

const MAX_PLACE_LENGTH = 120;

const KIND_ORDER = ["memory", "profile", "conversation", "message", "attachment"];

/** Rows of the table: the kinds found, in a fixed order. */
export function kindRows(report: ImportReport): { kind: string; label: string; outcome: Outcome }[] {
  const place = (kind: string) => (KIND_ORDER.includes(kind) ? KIND_ORDER.indexOf(kind) : KIND_ORDER.length);
  return Object.entries(report.by_kind)
    .filter(([, outcome]) => outcome.found > 0)
    .sort((a, b) => place(a[0]) - place(b[0]) || byName(kindName(a[0]), kindName(b[0])))
    .map(([kind, outcome]) => ({ kind, label: kindName(kind), outcome }));
}

/** The name of a kind in the plural, such as `Memories` or `Files`. */
export function kindName(kind: string): string {
  return word("kinds", kind);
}

/** Name of a selection, such as `Memories, Unchanged`. */
export function selectionName({ kind, outcome }: OutcomeSelection): string {
  return joinWithCommas([kind === null ? null : kindName(kind), t(`outcome.${outcome}`)]);
}

export const sameSelection = (a: OutcomeSelection | null, b: OutcomeSelection): boolean =>
  a?.kind === b.kind && a.outcome === b.outcome;

/**
 * The number found and the outcomes that add up to it, such as `514 = 500 new + 14 unchanged`. Outcomes that no item has
 * are left out. Null if the sum is not the number found.
 */
export function sumText(outcome: Outcome): string | null {
  const parts = COLUMNS.filter((key) => outcome[key] > 0);
  if (parts.reduce((all, key) => all + outcome[key], 0) !== outcome.found) return null;
  const outcomeTexts = parts.map((key) => t(`activity.n.${key}`, { n: outcome[key] }));
  return [count(outcome.found), outcomeTexts.join(" + ")].filter(Boolean).join(" = ");
}

/** The number of items of a selection, according to the report. */
export function countOf(report: ImportReport, { kind, outcome }: OutcomeSelection): number {
  return (kind === null ? report : report.by_kind[kind])?.[outcome] ?? 0;
}

/**
 * The number of items of a selection that the report has to list. After an import, added items are not among them,
 * because the lists of the vault contain them.
 */
export function itemCount(report: ImportReport, pick: OutcomeSelection): number {
  const all = countOf(report, pick);
  return pick.outcome === "found" && !report.dry_run ? all - countOf(report, { ...pick, outcome: "added" }) : all;
}

/**
 * Whether a number can open a list. In reports of earlier versions, the number of a single kind cannot, because the
 * kind of an item may be missing (null).
 */
export function hasList(report: ImportReport, pick: OutcomeSelection): boolean {
  if (itemCount(report, pick) === 0) return false;
  if (pick.outcome === "added") return report.dry_run || kindOfNewList(report, pick.kind) !== null;
  return pick.kind === null || report.items.every((item) => item.kind !== null);
}

/** The listed items of a selection, and how many more exist. */
export function entriesOf(report: ImportReport, pick: OutcomeSelection): { entries: Entry[]; more: number } {
  const { kind, outcome } = pick;
  const newEntries = report.coming.map((item) => ({ ...item, outcome: "added", reason: "" }));
  const entries = [...report.items.map((item) => ({ ...item, text: null })), ...newEntries]
    .filter((item) => (kind === null || item.kind === kind) && (outcome === "found" || item.outcome === outcome))
    .sort((a, b) => LIST_ORDER.indexOf(a.outcome) - LIST_ORDER.indexOf(b.outcome));
  return { entries, more: Math.max(0, itemCount(report, pick) - entries.length) };
}

/**
 * The place of an item in words: the file inside the export, and which of its entries. The place
 * `…zip!/conversations.json#/10/a/b` becomes `conversations.json, entry 11, b`. The complete place is in the saved
 * report.
 */
export function placeText(place: string): string {
  const [path = "", pointer = ""] = place.split("#");
  const file = oneLine(fileName(path.split("!/").at(-1) ?? path), MAX_PLACE_LENGTH);
  const steps = pointer.split("/").filter(Boolean);
  const entryIndex = steps.find((step) => /^\d{1,9}$/.test(step));
  const last = steps.at(-1);
  return joinWithCommas([
    file,
    entryIndex === undefined ? null : t("import.items.entry", { n: Number(entryIndex) + 1 }),
    last === undefined || last === entryIndex ? null : oneLine(last, MAX_PLACE_LENGTH),
  ]);
}

/** Codes of warnings about an input that ends early, such as a download that was interrupted. */
const CUT_OFF_CODES: readonly string[] = ["truncated_archive", "truncated"];
const fileOf = (place: string) => place.split("!/")[0]?.replace(/(?:@\d+|#\/.*|#)$/, "") ?? place;

/** Whether a warning says that an imported file ends early. Such a warning is shown with its own text. */
export const isCutOff = ({ code, place }: { code: string; place: string }): boolean =>
  CUT_OFF_CODES.includes(code) && (code === "truncated_archive" || !place.includes("!/"));

/** Names of the imported files that end early. */
export const cutOffFiles = (report: ImportReport | null): string[] => [
  ...new Set((report?.warnings ?? []).filter(isCutOff).map(({ place }) => fileName(fileOf(place)))),
];

/** Number of attachments that the export lists but does not contain. */
export function missingAttachments(report: ImportReport): number {
  const { referenced, present } = report.attachments;
  return report.missing_attachments ?? Math.max(0, referenced - present);
}
