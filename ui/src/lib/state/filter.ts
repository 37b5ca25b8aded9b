import type { Filter } from "$lib/ipc";

export const ANY: Filter = {
  kind: null,
  source: null,
  status: null,
  tag: null,
  record_type: null,
  since: null,
  until: null,
  trash: false,
  ids: null,
};

export type Dimension = "source" | "record_type" | "tag";
export type Period = "today" | "days30" | "year";

/** The first day of a preset, as the backend reads it. */
export function periodStart(period: Period, now = new Date()): string {
  const start = new Date(now);
  if (period === "days30") start.setDate(start.getDate() - 30);
  if (period === "year") start.setMonth(0, 1);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${start.getFullYear()}-${two(start.getMonth() + 1)}-${two(start.getDate())}`;
}

/** Whether a person narrowed the list beyond its kind. */
export function narrowed(filter: Filter): boolean {
  return Boolean(filter.source ?? filter.tag ?? filter.record_type ?? filter.since ?? filter.until ?? filter.status);
}
