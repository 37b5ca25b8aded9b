import type { ContradictionInfo, ListItem } from "$lib/ipc";

/** Memories about the same thing that cannot all be true: one pair, or several. */
export type ContradictionGroup = {
  /** The memories, oldest first; those without a date come last. */
  items: ListItem[];
  pairs: ContradictionInfo[];
};

/** At most this many memories are in one group: more cannot be compared at a glance, and the keys are 1 to 9. */
const MAX_MEMBERS = 9;

/** A key that identifies a group, also after the groups were reloaded. */
export const groupKey = ({ items }: ContradictionGroup): string => items.map(({ id }) => id).join(" ");

/**
 * Joins pairs into groups that are each about one thing, so that what several assistants say about it is one card. The
 * order of the pairs is kept.
 *
 * A group is a set of memories in which any two that do not contradict each other contradict the same memories, which
 * means that they agree. Pairs that merely share a memory are not joined: "finished work in Leeds" may contradict
 * "works in Leeds" and "is training for a race", and these two have nothing to do with each other. A memory may
 * therefore be in several groups, but a pair is in only one.
 */
export function groupPairs(pairs: readonly ContradictionInfo[]): ContradictionGroup[] {
  const items = new Map(pairs.flatMap((pair) => pair.items.map((item) => [item.id, item] as const)));
  const opponents = new Map<string, Map<string, ContradictionInfo>>();
  for (const pair of pairs) {
    opponents.set(pair.a, (opponents.get(pair.a) ?? new Map()).set(pair.b, pair));
    opponents.set(pair.b, (opponents.get(pair.b) ?? new Map()).set(pair.a, pair));
  }
  const pairOf: PairOf = (one, other) => opponents.get(one)?.get(other);
  const grouped = new Set<ContradictionInfo>();
  const groups: ContradictionGroup[] = [];
  for (const first of pairs) {
    if (grouped.has(first)) continue;
    grouped.add(first);
    const group = { members: new Set([first.a, first.b]), pairs: [first] };
    // A set that is iterated also yields what is added meanwhile, so the opponents of new members are tried too.
    for (const member of group.members)
      for (const candidate of opponents.get(member)?.keys() ?? []) {
        if (group.members.size === MAX_MEMBERS) break;
        const added = pairsThatJoin(candidate, [...group.members], pairOf);
        if (added.length === 0 || added.some((pair) => grouped.has(pair))) continue;
        group.members.add(candidate);
        group.pairs.push(...added);
        for (const pair of added) grouped.add(pair);
      }
    groups.push({ items: oldestFirst([...group.members].flatMap((id) => items.get(id) ?? [])), pairs: group.pairs });
  }
  return groups;
}

type PairOf = (one: string, other: string) => ContradictionInfo | undefined;

/**
 * The pairs of `candidate` with `members`, if it is about the same thing: it contradicts all of them except those with
 * which it agrees, and these contradict exactly the same members. Otherwise none.
 */
function pairsThatJoin(candidate: string, members: readonly string[], pairOf: PairOf): ContradictionInfo[] {
  if (members.includes(candidate)) return [];
  const agrees = (member: string) => !pairOf(candidate, member);
  const isConsistent = members
    .filter(agrees)
    .every((one) => members.every((other) => one === other || !pairOf(one, other) === agrees(other)));
  return isConsistent ? members.flatMap((member) => pairOf(candidate, member) ?? []) : [];
}

function oldestFirst(items: readonly ListItem[]): ListItem[] {
  const dateOf = (item: ListItem) => item.created_at ?? item.updated_at ?? "9";
  return [...items].sort((a, b) => dateOf(a).localeCompare(dateOf(b)));
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
