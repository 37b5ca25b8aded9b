import { byName } from "$lib/text";
import { backend, type Facets, type Filter } from "$lib/ipc";
import { ANY, FACET_NAMES, type FacetName } from "./filter";
import { onLock } from "./lock-cleanup";
import { meaning } from "./meaning.svelte";
import { session } from "./session.svelte";
import { vault } from "./vault.svelte";

const NO_FACETS: Facets = { sources: {}, types: {}, tags: {}, said_by: {}, file_kinds: {}, about: {}, special: {} };
const FACET_KEYS = {
  source: "sources",
  record_type: "types",
  tag: "tags",
  said_by: "said_by",
  about: "about",
  special: "special",
} as const;

/** Returns the names in descending order of their numbers, with the empty name last. */
export function byFrequency(numbers: Record<string, number>): string[] {
  const all = Object.entries(numbers);
  return all.sort((a, b) => Number(!a[0]) - Number(!b[0]) || b[1] - a[1] || byName(a[0], b[0])).map(([name]) => name);
}

/**
 * The numbers next to the filters. In each group of filters, all filters except those of the group itself are applied.
 * Therefore each number says how many records its filter would find.
 */
class FacetNumbers {
  shown = $state.raw<Facets>(NO_FACETS);
  /**
   * The numbers for all records of the kind, without other filters and search. Because of these numbers, a name stays
   * in the list even if a search reduces its own number to 0.
   */
  all = $state.raw<Facets>(NO_FACETS);
  /** Whether the first count has succeeded or failed. Until then, it is unknown which groups of filters exist. */
  settled = $state(false);
  #run = 0;
  /** The last numbers for all records of a kind, and the revisions and the kind that they are for. */
  #counted: { key: string; numbers: Facets } | null = null;
  #hasChosenType = false;

  async load(filter: Filter, query: string): Promise<void> {
    const run = ++this.#run;
    const text = query || null;
    const typing = text !== null;
    try {
      const facetNames = FACET_NAMES.filter((facet) => filter[facet] !== null);
      const [base, all, ...without] = await Promise.all([
        backend().facets(filter, text, typing),
        this.#countAll(filter.kind, run),
        ...facetNames.map((facet) => backend().facets({ ...filter, [facet]: null }, text, typing)),
      ]);
      if (run !== this.#run) return;
      const shown = { ...base };
      facetNames.forEach((facet, index) => (shown[FACET_KEYS[facet]] = without[index]?.[FACET_KEYS[facet]] ?? {}));
      this.shown = shown;
      this.all = all;
      this.#hasChosenType = filter.record_type !== null;
      this.settled = true;
    } catch (error) {
      session.handleLocked(error);
      if (run === this.#run) this.settled = true;
    }
  }

  /**
   * Counts all records of a kind, without other filters and search. The result is reused until the vault, the vectors
   * or the kind change.
   */
  async #countAll(kind: string | null, run: number): Promise<Facets> {
    const key = `${vault.revision} ${meaning.revision} ${kind}`;
    if (this.#counted?.key === key) return this.#counted.numbers;
    const numbers = await backend().facets({ ...ANY, kind }, null, false);
    // After locking, nothing may be stored any more.
    if (run === this.#run) this.#counted = { key, numbers };
    return numbers;
  }

  /**
   * The names in a group of filters with their numbers, the most frequent first and the empty name last. A group that
   * has only the empty name is left out. The types are shown even then if one is chosen, so that it can be removed.
   */
  group(facet: FacetName): { value: string; n: number }[] {
    const key = FACET_KEYS[facet];
    const names = byFrequency(this.all[key]);
    if (names.length === 1 && names[0] === "" && !(facet === "record_type" && this.#hasChosenType)) return [];
    // Leave out `said_by` if it is unknown for all records.
    if (facet === "said_by" && names.every((name) => name === "unknown")) return [];
    return names.map((value) => ({ value, n: this.shown[key][value] ?? 0 }));
  }

  clear(): void {
    this.#run += 1;
    this.shown = NO_FACETS;
    this.all = NO_FACETS;
    this.#counted = null;
    this.settled = false;
  }
}

export const facets = new FacetNumbers();
onLock(() => facets.clear());
