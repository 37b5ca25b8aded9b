import { DEFAULT_EXPORT_FORMAT } from "$lib/state/formats";
import { dialogs, type StartFormat } from "./dialogs.svelte";
import { ANY } from "./filter";
import { conversations, files, memories } from "./lists.svelte";
import { nav } from "./nav.svelte";
import { search } from "./search-field.svelte";
import { selection } from "./selection.svelte";

/** Opens the export sheet for everything, for what is on screen, or for the records `ids`. */
export function showExport(
  scope: "all" | "screen",
  ids: string[] | null = null,
  format: StartFormat = DEFAULT_EXPORT_FORMAT,
): void {
  if (ids) {
    dialogs.show({ kind: "export", filter: { ...ANY, ids }, query: "", found: ids.length, format });
    return;
  }
  const list = { memories, conversations, files }[nav.section as "memories"] as typeof memories | undefined;
  // In a section whose rows can be exported, only the checked rows are exported if there are any.
  if (scope === "screen" && list && selection.ids.size > 0) {
    showExport("screen", [...selection.ids], format);
    return;
  }
  const filter = scope === "screen" && list ? list.filter : null;
  // Take the query from the search field, because the list follows the field with a delay.
  const query = list ? search.text.trim() : "";
  // The total of a conversation search counts messages, but the sheet needs the number of conversations.
  const countIsKnown = filter !== null && list?.query === query && !(list === conversations && query);
  dialogs.show({
    kind: "export",
    filter,
    query,
    found: countIsKnown ? (list?.total ?? null) : null,
    format,
  });
}
