import type { AuditEntry, TombstoneView } from "$lib/ipc";
import { parse } from "$lib/text/format";

/** Numbers of entries, of tombstones, and of tombstones with a finished receipt, for an evidence pack. */
export type PackContents = { tombstones: number; withReceipt: number; entries: number };
export type DateSpan = { since: string | null; until: string | null };

/** Counts the contents within the period, both ends included. */
export function contentsInRange(
  entries: readonly AuditEntry[],
  tombstones: readonly TombstoneView[],
  range: DateSpan,
): PackContents {
  const inside = ({ at }: { at: string }) => {
    const time = parse(at)?.getTime() ?? 0;
    return time >= (parse(range.since)?.getTime() ?? -Infinity) && time <= (parse(range.until)?.getTime() ?? Infinity);
  };
  const inRange = tombstones.filter(inside);
  return {
    tombstones: inRange.length,
    // Do not count receipts that are still pending.
    withReceipt: inRange.filter(({ receipt, complete }) => receipt !== null && complete !== null).length,
    entries: entries.filter(inside).length,
  };
}
