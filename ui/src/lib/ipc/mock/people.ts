import type { Backend, ListItem, PersonInfo } from "../backend";
import { runStages } from "./jobs";

type Commands = Pick<Backend, "people" | "topics" | "timeline">;
type Context = { items: () => ListItem[]; stepMs: number };

/** People in the sample memories. `words` matches the memories that are about the person. */
const PEOPLE: (Omit<PersonInfo, "id" | "memories"> & { words: RegExp })[] = [
  { name: "Liv", relation: "daughter", of: null, words: /\bLiv\b/ },
  { name: "Per", relation: "brother", of: null, words: /\bPer\b/ },
  { name: null, relation: "mother", of: null, words: /\bmother\b/ },
  { name: null, relation: "neighbour", of: null, words: /\bneighbour\b/ },
];
const TOPICS: [name: string, words: RegExp][] = [
  ["Coffee", /coffee/i],
  ["Night trains", /\btrains?\b/i],
  ["Garden", /garden|tomato|plant/i],
];

/** The commands for people and topics in the sample memories. */
export function samplePeople({ items, stepMs }: Context): Commands {
  const memories = () => items().filter((each) => each.kind === "memory" && !each.trashed_at);
  const idsOf = (words: RegExp) => memories().flatMap((each) => (words.test(each.text) ? each.id : []));
  const dateOf = (item: ListItem) => item.created_at ?? item.updated_at ?? "9999";
  return {
    people: async (job, onProgress) => {
      await runStages(job, ["compare"], memories().length, stepMs / 4, onProgress);
      const people = PEOPLE.map(({ words, ...person }) => ({ ...person, id: "", memories: idsOf(words) }));
      const found = people.filter((person) => person.memories.length > 0);
      found.sort((a, b) => b.memories.length - a.memories.length);
      return { people: found.map((person, index) => ({ ...person, id: `p${index + 1}` })) };
    },
    topics: async (job, onProgress) => {
      await runStages(job, ["compare"], memories().length, stepMs / 4, onProgress);
      const topics = TOPICS.map(([name, words]) => ({ id: "", name, memories: idsOf(words) }));
      const found = topics.filter((topic) => topic.memories.length > 1);
      return { topics: found.map((topic, index) => ({ ...topic, id: `t${index + 1}` })) };
    },
    timeline: async (ids) => {
      const found = memories().filter(({ id }) => ids.includes(id));
      found.sort((a, b) => (dateOf(a) < dateOf(b) ? -1 : 1));
      return { items: structuredClone(found) };
    },
  };
}
