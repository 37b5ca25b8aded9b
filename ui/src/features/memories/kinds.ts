import { memories } from "$lib/state/lists.svelte";
import { nav, type Section } from "$lib/state/nav.svelte";
import { vault } from "$lib/state/vault.svelte";

/** Kinds with their own section or tab. All others are listed among the memories. */
const KINDS_WITH_SECTION = new Set(["memory", "conversation", "message", "attachment", "tombstone", "audit"]);

/** The kinds in the vault that have no section of their own, with their numbers of records. */
export function kindsWithoutSection(): { value: string; n: number }[] {
  return Object.entries(vault.info?.counts ?? {})
    .filter(([kind, n]) => n > 0 && !KINDS_WITH_SECTION.has(kind))
    .map(([value, n]) => ({ value, n }));
}

/** The kind that the section Memories lists instead of memories. Null if it lists memories, or records of any kind. */
export function shownKind(): string | null {
  const { kind } = memories.filter;
  return kind === "memory" ? null : kind;
}

/** Shows one kind and clears the other filters, which may not apply to it. */
export function showKind(kind: string): void {
  memories.clearFilter();
  memories.setFilter({ kind });
}

/**
 * Opens a section. The section Memories then lists memories, even if another kind was chosen there last. In that case
 * the record that was open there is not opened again, because it is not in the list.
 */
export function openSection(section: Section): void {
  if (section !== "memories" || memories.filter.kind === "memory") {
    nav.open(section);
    return;
  }
  showKind("memory");
  nav.open(section, null);
}
