import type { Filter } from "$lib/ipc";
import { assistantStyle } from "$lib/logic/assistants";
import { oneLine } from "$lib/logic/untrusted-text";
import { exportStatusFilterName, exportStatusName } from "$lib/logic/export-status";
import { periodStart } from "$lib/state/filter";
import { imports } from "$lib/state/imports.svelte";
import { capitalised, t, word } from "$lib/text";
import { day } from "$lib/text/format";
import { aboutName, typeName } from "./types";

export type FilterChip = { label: string; off: Partial<Filter> };

/** The active filters as chips. `off`: the filter change that removes the chip. */
export function chipsOf(filter: Filter): FilterChip[] {
  const chips: FilterChip[] = [];
  if (filter.kind && filter.kind !== "memory")
    chips.push({ label: word("kinds", filter.kind), off: { kind: "memory" } });
  if (filter.source) chips.push({ label: assistantStyle(filter.source).name, off: { source: null } });
  if (filter.record_type !== null)
    chips.push({ label: typeName(filter.record_type, true), off: { record_type: null } });
  if (filter.about !== null)
    chips.push({ label: `${t("filter.about")}: ${aboutName(filter.about)}`, off: { about: null } });
  if (filter.special)
    chips.push({ label: `${t("filter.special")}: ${word("special", filter.special)}`, off: { special: null } });
  if (filter.said_by)
    chips.push({ label: `${t("filter.said_by")}: ${word("saidBy", filter.said_by)}`, off: { said_by: null } });
  if (filter.tag) chips.push({ label: `#${oneLine(filter.tag, 60)}`, off: { tag: null } });
  if (filter.status) chips.push({ label: filter.status, off: { status: null } });
  if (filter.export_diff_status) {
    const { source, export_diff_status: status } = filter;
    const label = status === "gone" && source ? capitalised(exportStatusName(status)) : exportStatusFilterName(status);
    chips.push({ label, off: { export_diff_status: null } });
  }
  if (filter.batch) chips.push({ label: imports.name(filter.batch), off: { batch: null } });
  if (filter.since || filter.until) chips.push({ label: periodName(filter), off: { since: null, until: null } });
  return chips;
}

function periodName(filter: Filter): string {
  if (filter.since && !filter.until) {
    for (const period of ["today", "days30", "year"] as const)
      if (filter.since === periodStart(period)) return t(`period.${period}`);
    return t("filter.from", { day: day(filter.since) });
  }
  if (!filter.since) return t("filter.to", { day: day(filter.until) });
  return `${day(filter.since)} – ${day(filter.until)}`;
}
