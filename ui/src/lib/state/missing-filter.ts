import { conversations, memories } from "./lists.svelte";
import { nav } from "./nav.svelte";
import { search } from "./search-field.svelte";

/** Kinds of records that may be missing from a newer export, because the assistant no longer stores them. */
export const MISSING_KINDS = ["memory", "profile", "conversation"] as const;
export type MissingKind = (typeof MISSING_KINDS)[number];

/** Opens the list of records that the newest export of an assistant lacks. */
export function showMissing(source: string, kind: MissingKind): void {
  const list = kind === "conversation" ? conversations : memories;
  list.clearFilter();
  list.setFilter({ kind, source, export_diff_status: "gone" });
  search.clear();
  nav.go(kind === "conversation" ? "conversations" : "memories");
}
