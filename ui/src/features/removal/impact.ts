import type { Impact } from "$lib/ipc";
import { assistantStyle } from "$lib/logic/assistants";
import { count, hasText, joinWithAnd, t } from "$lib/text";

/** A number of records with their kind, such as `3 memories`. Records of several kinds are counted as `items`. */
export function countedName(kinds: readonly string[], n: number): string {
  const key = `many.${kinds.length === 1 ? kinds[0] : ""}`;
  return hasText(key) ? t(key, { n }) : t("many.items", { n });
}

/**
 * The numbers of records by kind, the largest first, such as `3 messages and 1 memory`. Kinds without a name are
 * counted together as `items`.
 */
export function kindCountsText(kinds: { [kind: string]: number }): string {
  const namedKinds = Object.entries(kinds).filter(([kind]) => hasText(`many.${kind}`));
  const otherCount =
    Object.values(kinds).reduce((sum, n) => sum + n, 0) - namedKinds.reduce((sum, [, n]) => sum + n, 0);
  namedKinds.sort(([, a], [, b]) => b - a);
  return joinWithAnd([
    ...namedKinds.map(([kind, n]) => countedName([kind], n)),
    ...(otherCount > 0 ? [countedName([], otherCount)] : []),
  ]);
}

/** The lines that say what will be erased, one for each category that is not empty. */
export function impactLines(impact: Impact, kinds: readonly string[]): { n: string; text: string }[] {
  // Every erased record, including derived ones, has one current version. All other versions are older.
  const olderVersions = Math.max(0, impact.versions - impact.records - impact.derived);
  const key = `unit.${kinds.length === 1 ? kinds[0] : ""}`;
  const n = impact.records;
  const name = hasText(key) ? t(key, { n }) : t("unit.items", { n });
  const lines = [
    { n: impact.records, text: olderVersions > 0 ? t("impact.records", { what: name, n: olderVersions }) : name },
    { n: impact.derived, text: t("impact.derived", { n: impact.derived }) },
    { n: impact.attachments, text: t("impact.attachments", { n: impact.attachments }) },
    { n: impact.links, text: t("impact.links", { n: impact.links }) },
    { n: impact.passthrough, text: t("impact.passthrough", { n: impact.passthrough }) },
  ];
  return lines.filter((line) => line.n > 0).map((line) => ({ n: count(line.n), text: line.text }));
}

/** The places that an erasure cannot reach, one line each. */
export function unreachableLines(sources: readonly string[], exported: boolean): string[] {
  const assistants = sources.filter((source) => source !== "me").map((source) => assistantStyle(source).name);
  return [
    ...(exported ? [t("reach.exports")] : []),
    t("reach.backups"),
    ...(assistants.length > 0 ? [t("reach.assistants", { n: assistants.length, names: joinWithAnd(assistants) })] : []),
  ];
}
