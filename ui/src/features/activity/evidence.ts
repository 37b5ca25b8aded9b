import type { AuditEntry, TombstoneView } from "$lib/ipc";
import { parseTime } from "$lib/text/format";

/** How many log entries, tombstones, and tombstones with a finished receipt an evidence pack would contain. */
export type PackContents = { tombstones: number; withReceipt: number; entries: number };
export type DateSpan = { since: string | null; until: string | null };

/** Counts what an evidence pack for the period `range`, both ends included, would contain. */
export function contentsInRange(
  entries: readonly AuditEntry[],
  tombstones: readonly TombstoneView[],
  range: DateSpan,
): PackContents {
  const isInRange = ({ at }: { at: string }) => {
    const time = parseTime(at)?.getTime() ?? 0;
    const [since, until] = [parseTime(range.since)?.getTime(), parseTime(range.until)?.getTime()];
    return time >= (since ?? -Infinity) && time <= (until ?? Infinity);
  };
  const inRange = tombstones.filter(isInRange);
  return {
    tombstones: inRange.length,
    // Do not count receipts that are still pending.
    withReceipt: inRange.filter(({ receipt, complete }) => receipt !== null && complete !== null).length,
    entries: entries.filter(isInRange).length,
  };
}
