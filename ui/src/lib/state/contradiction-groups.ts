import type { ContradictionInfo, ContradictionList, ListItem } from "$lib/ipc";

/**
 * A group of memories about the same thing that cannot all be true, with the pairs among them that contradict each
 * other.
 */
export type ContradictingMemories = {
  /** The memories, oldest first; those without a date come last. */
  items: ListItem[];
  pairs: ContradictionInfo[];
};

/** A key that identifies a group, also after the groups were reloaded. */
export const groupKey = ({ items }: ContradictingMemories): string => items.map(({ id }) => id).join(" ");

/** Resolves the references in groups: ids become memories, and positions become pairs. */
export function groupsOf({ pairs, groups }: ContradictionList): ContradictingMemories[] {
  return groups.map(({ memories, pairs: positions }) => {
    const groupPairs = positions.flatMap((position) => pairs[position] ?? []);
    const items = new Map(groupPairs.flatMap((pair) => pair.items.map((item) => [item.id, item] as const)));
    return { items: memories.flatMap((id) => items.get(id) ?? []), pairs: groupPairs };
  });
}

/**
 * Id of the newest memory of a group. Null if one of the last two memories has no date, or if both have the same date.
 */
export function newestOf({ items }: ContradictingMemories): string | null {
  const [last, before] = [items.at(-1), items.at(-2)];
  if (!last?.created_at || !before?.created_at || last.created_at === before.created_at) return null;
  return last.id;
}

/** Ids of the memories in a group that contradict the memory `id`. */
export function opponentsOf({ pairs }: ContradictingMemories, id: string): string[] {
  return pairs.flatMap(({ a, b }) => (a === id ? [b] : b === id ? [a] : []));
}
