import type { ContradictionInfo, ListItem } from "$lib/ipc";

/** Memories about the same thing that cannot all be true: one pair, or several pairs that share memories. */
export type ContradictionGroup = {
  /** The memories, oldest first; those without a date come last. */
  items: ListItem[];
  pairs: ContradictionInfo[];
};

/** A key that identifies a group, also after the groups were reloaded. */
export const groupKey = ({ items }: ContradictionGroup): string => items.map(({ id }) => id).join(" ");

/**
 * Joins pairs that share a memory, so that what several assistants say about one thing is one group. The order of the
 * pairs is kept.
 */
export function groupPairs(pairs: readonly ContradictionInfo[]): ContradictionGroup[] {
  type Joined = { items: Map<string, ListItem>; pairs: ContradictionInfo[] };
  const groups = new Map<number, Joined>();
  const groupOf = new Map<string, number>();
  pairs.forEach((pair, index) => {
    const earlierGroups = [pair.a, pair.b].flatMap((id) => groupOf.get(id) ?? []);
    const target = Math.min(index, ...earlierGroups);
    const group: Joined = groups.get(target) ?? { items: new Map(), pairs: [] };
    groups.set(target, group);
    for (const other of new Set(earlierGroups)) {
      const joined = other === target ? null : groups.get(other);
      if (!joined) continue;
      group.pairs.push(...joined.pairs);
      for (const [id, item] of joined.items) group.items.set(id, item);
      groups.delete(other);
    }
    group.pairs.push(pair);
    for (const item of pair.items) group.items.set(item.id, item);
    for (const id of group.items.keys()) groupOf.set(id, target);
  });
  return [...groups].sort(([a], [b]) => a - b).map(([, { items, pairs }]) => ({ items: oldestFirst(items), pairs }));
}

function oldestFirst(items: ReadonlyMap<string, ListItem>): ListItem[] {
  const dateOf = (item: ListItem) => item.created_at ?? item.updated_at ?? "9";
  return [...items.values()].sort((a, b) => dateOf(a).localeCompare(dateOf(b)));
}

/** The newest memory of a group. Null if there is no single newest one, or if dates are missing. */
export function newestOf({ items }: ContradictionGroup): string | null {
  const [last, before] = [items.at(-1), items.at(-2)];
  if (!last?.created_at || !before?.created_at || last.created_at === before.created_at) return null;
  return last.id;
}

/** The memories that a memory contradicts. */
export function opponentsOf({ pairs }: ContradictionGroup, id: string): string[] {
  return pairs.flatMap(({ a, b }) => (a === id ? [b] : b === id ? [a] : []));
}
