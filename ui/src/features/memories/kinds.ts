import { memories } from "$lib/state/lists.svelte";
import { vault } from "$lib/state/vault.svelte";

/** Kinds with their own section or tab. All others are listed among the memories. */
const KINDS_WITH_SECTION = new Set(["memory", "conversation", "message", "attachment", "tombstone", "audit"]);

/** The kinds in the vault that have no section of their own, with their numbers of records. */
export function kindsWithoutSection(): { value: string; n: number }[] {
  return Object.entries(vault.info?.counts ?? {})
    .filter(([kind, n]) => n > 0 && !KINDS_WITH_SECTION.has(kind))
    .map(([value, n]) => ({ value, n }));
}

/** Shows one kind and clears the other filters, which may not apply to it. */
export function showKind(kind: string): void {
  memories.clearFilter();
  memories.setFilter({ kind });
}
