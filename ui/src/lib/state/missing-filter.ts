import { conversations, memories } from "./lists.svelte";
import { nav } from "./nav.svelte";
import { search } from "./search-field.svelte";

/** What an assistant can cease to keep. */
export const MISSING_KINDS = ["memory", "profile", "conversation"] as const;
export type MissingKind = (typeof MISSING_KINDS)[number];

/** To the list of exactly these records. */
export function showMissing(platform: string, kind: MissingKind): void {
  const list = kind === "conversation" ? conversations : memories;
  list.clearFilter();
  list.setFilter({ kind, source: platform, standing: "gone" });
  search.clear();
  nav.go(kind === "conversation" ? "conversations" : "memories");
}
