import { oneLine } from "$lib/logic/untrusted-text";
import { ANY } from "$lib/state/filter";
import { memories } from "$lib/state/lists.svelte";
import { printRequest, type Printable } from "$lib/state/printing.svelte";
import { selection } from "$lib/state/selection.svelte";
import { t, word } from "$lib/text";
import { isoDay } from "$lib/text/format";
import { chipsOf } from "./chips";

/**
 * The list as a page: only the checked rows if there are any, and otherwise all rows, including those that are not
 * loaded.
 */
export function memoryPage(): Printable {
  const checked = [...selection.ids];
  const isChecked = checked.length > 0;
  const filter = isChecked ? { ...ANY, ids: checked } : memories.filter;
  const query = isChecked ? "" : memories.query;
  const n = isChecked ? checked.length : (memories.total ?? 0);
  const kind = memories.filter.kind ?? "memory";
  const lead = [
    kind === "memory" ? t("list.memories", { n }) : t("list.entries", { n, what: word("kinds", kind) }),
    ...(isChecked ? [] : chipsOf(memories.filter).map(({ label }) => label)),
    query ? t("print.query", { query: oneLine(query) }) : "",
    t("print.masked"),
  ];
  const title = t("section.memories");
  return {
    name: `${title} ${isoDay()}.html`,
    records: n,
    request: printRequest(title, lead, { list: { filter, query, sort: memories.sort, empty: t("list.empty") } }),
  };
}
