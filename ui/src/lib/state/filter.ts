import type { Filter } from "$lib/ipc";

export const ANY: Filter = {
  kind: null,
  source: null,
  status: null,
  tag: null,
  record_type: null,
  said_by: null,
  since: null,
  until: null,
  trash: false,
  ids: null,
  export_diff_status: null,
  file_kind: null,
  batch: null,
  about: null,
  special: null,
};

/** Status of a record in the newest export of its assistant. */
export type ExportStatus = "new" | "changed" | "gone";
export const EXPORT_STATUSES: readonly ExportStatus[] = ["new", "changed", "gone"];

/** Filters whose values are listed with their numbers of records. */
export const FACET_NAMES = ["source", "record_type", "about", "special", "said_by", "tag"] as const;
export type FacetName = (typeof FACET_NAMES)[number];
export type Period = "today" | "days30" | "year";

/**
 * The instant at which a local day begins. Filters need an instant, because the backend would read a date without a
 * time as UTC.
 */
export function dayStart(day: Date): string {
  const start = new Date(day);
  start.setHours(0, 0, 0, 0);
  return start.toISOString();
}

/** The last instant of a local day. */
export function dayEnd(day: Date): string {
  const end = new Date(day);
  end.setHours(23, 59, 59, 999);
  return end.toISOString();
}

/** The instant at which a preset period begins. */
export function periodStart(period: Period, now = new Date()): string {
  const start = new Date(now);
  if (period === "days30") start.setDate(start.getDate() - 30);
  if (period === "year") start.setMonth(0, 1);
  return dayStart(start);
}

/** Whether a filter other than `kind`, `trash` and `ids` is set. */
export function isFiltered(filter: Filter): boolean {
  const {
    source,
    tag,
    record_type,
    said_by,
    since,
    until,
    status,
    export_diff_status,
    file_kind,
    batch,
    about,
    special,
  } = filter;
  const firstValue =
    source ?? tag ?? said_by ?? since ?? until ?? status ?? export_diff_status ?? file_kind ?? batch?.length ?? special;
  return record_type !== null || about !== null || Boolean(firstValue);
}
