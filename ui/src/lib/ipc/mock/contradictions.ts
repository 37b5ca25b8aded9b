import type { AboutInfo, Backend, ContradictionGroup, ContradictionInfo, ListItem } from "../backend";
import { failWith, runStages } from "./jobs";
import { samplePeople } from "./people";

type Commands = Pick<
  Backend,
  "people" | "topics" | "timeline" | "contradictions" | "keepBoth" | "resolveContradiction" | "setAbout"
>;
type Context = {
  items: () => ListItem[];
  backend: () => Pick<Backend, "reviewNext" | "reviewAnswer" | "trash">;
  stepMs: number;
};

/**
 * Groups of sample memories that contradict each other. Each pair: the older, the newer, the sort of contradiction, and
 * the confidence.
 */
const GROUPS: [a: string, b: string, sort: string, confidence: number][][] = [
  [
    ["m-35", "m-66", "replaced", 0.95],
    ["m-34", "m-66", "replaced", 0.95],
  ],
  [["m-11", "m-46", "replaced", 0.9]],
  [["m-41", "m-33", "conflict", 0.8]],
];
const PAST_PLANS = ["m-32"];

/** People, topics and contradictions of the sample memories, and what memories are about. */
export function sampleContradictions({ items, backend, stepMs }: Context): Commands {
  const bothTrue = new Set<string>();
  const suggested = new Map<string, AboutInfo | null>();
  const key = (a: string, b: string) => [a, b].sort().join(" ");
  const untrashed = (id: string) => items().find((each) => each.id === id && !each.trashed_at);
  const memory = (id: string) => {
    const found = items().find((each) => each.id === id);
    if (!found) throw failWith("not_found", "This record is not in the vault.");
    return found;
  };
  const answerTo = async (id: string) => {
    const request = { source: null, sensitive: false, about: null, special: null, skip: [], id, counts_only: false };
    return (await backend().reviewNext(request)).item?.answer ?? "none";
  };

  return {
    ...samplePeople({ items, stepMs }),
    contradictions: async (job, onProgress) => {
      await runStages(job, ["compare"], items().length, stepMs / 4, onProgress);
      const pairs: ContradictionInfo[] = [];
      const groups: ContradictionGroup[] = [];
      for (const group of GROUPS) {
        const found = group.flatMap(([a, b, sort, confidence]): ContradictionInfo[] => {
          const [older, newer] = [untrashed(a), untrashed(b)];
          if (!older || !newer || bothTrue.has(key(a, b))) return [];
          return [{ a, b, sort, newer: b, confidence, items: structuredClone([older, newer]) }];
        });
        if (found.length === 0) continue;
        const members = new Map(found.flatMap((pair) => pair.items.map((item) => [item.id, item.created_at ?? "9"])));
        const memories = [...members.keys()].sort((a, b) => members.get(a)!.localeCompare(members.get(b)!));
        groups.push({ memories, pairs: found.map((_, index) => pairs.length + index) });
        pairs.push(...found);
      }
      const plans = PAST_PLANS.flatMap((id) => untrashed(id) ?? []);
      const answers = await Promise.all(plans.map(({ id }) => answerTo(id)));
      return { pairs, groups, past_plans: structuredClone(plans.filter((_, index) => answers[index] !== "true")) };
    },
    keepBoth: async (a, b, both) => {
      if (memory(a) === memory(b)) throw failWith("usage", "A memory does not contradict itself.");
      if (both) bothTrue.add(key(a, b));
      else bothTrue.delete(key(a, b));
      return { ids: [a, b] };
    },
    resolveContradiction: async ({ right, others }) => {
      const ids = [right, ...others];
      const before = await Promise.all(ids.map(async (id) => ({ id, answer: await answerTo(id) })));
      const isOlder = (id: string) => (memory(id).created_at ?? "") < (memory(right).created_at ?? "");
      await backend().reviewAnswer([
        { id: right, answer: "true" },
        ...others.map((id) => ({ id, answer: isOlder(id) ? "outdated" : "wrong" })),
      ]);
      await backend().trash(others);
      return { before };
    },
    setAbout: async ({ ids, about }) => {
      for (const each of ids.map(memory)) {
        if (!suggested.has(each.id)) suggested.set(each.id, each.about);
        each.about =
          about === "suggested" ? (suggested.get(each.id) ?? null) : { kind: about, confidence: 1, by: "person" };
      }
      return { ids };
    },
  };
}
