import { memories } from "$lib/state/lists.svelte";
import { vault } from "$lib/state/vault.svelte";

/** Kinds that are neither memories nor shown in a section of their own. */
const ELSEWHERE = new Set(["memory", "conversation", "message", "attachment", "tombstone", "audit"]);

/** What else the vault keeps that is listed among the memories, with its numbers. */
export function otherKinds(): { value: string; n: number }[] {
  return Object.entries(vault.info?.counts ?? {})
    .filter(([kind, n]) => n > 0 && !ELSEWHERE.has(kind))
    .map(([value, n]) => ({ value, n }));
}

/** Show this kind: other filters are about what another one has. */
export function showKind(kind: string): void {
  memories.clearFilter();
  memories.setFilter({ kind });
}
