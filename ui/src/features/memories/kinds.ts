import { memories } from "$lib/state/lists.svelte";
import { vault } from "$lib/state/vault.svelte";

/** Kinds that are listed among the memories because they have no section. */
const OTHER_SECTIONS = new Set(["memory", "conversation", "message", "attachment", "tombstone", "audit"]);

/** Those kinds that exist in the vault, with their numbers. */
export function otherKinds(): { value: string; n: number }[] {
  return Object.entries(vault.info?.counts ?? {})
    .filter(([kind, n]) => n > 0 && !OTHER_SECTIONS.has(kind))
    .map(([value, n]) => ({ value, n }));
}

/** Shows one kind and clears the other filters, which may not apply to it. */
export function showKind(kind: string): void {
  memories.clearFilter();
  memories.setFilter({ kind });
}
