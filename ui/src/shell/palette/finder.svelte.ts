import { backend, type Facets, type FoundRow } from "$lib/ipc";
import { debounced } from "$lib/logic/debounce";
import { withWholeBeginning } from "$lib/logic/snippets";
import { plainSnippet, plainText } from "$lib/logic/markdown";
import { findWords, hitWords } from "$lib/logic/text-segments";
import { ANY } from "$lib/state/filter";
import { UiError } from "$lib/state/ui-error";
import { onLock } from "$lib/state/lock-cleanup";
import { session } from "$lib/state/session.svelte";

/** A record that matches the query. `message` is the matching message of a conversation. */
export type FoundRecord = {
  id: string;
  text: string | null;
  ranges: readonly (readonly [number, number])[];
  source: string;
  at: string | null;
  message: string | null;
  /** For a conversation: words around the hit in a message, if its title doesn't show why it was found. */
  excerpt?: { text: string; ranges: readonly (readonly [number, number])[] } | null;
};

export const MAX_PER_GROUP = 5;
/**
 * Number of hits to request in order to find five conversations. It is larger than five because several hits may be
 * messages of the same conversation.
 */
const MAX_REQUESTED_HITS = 40;
const NO_FACETS: Facets = { sources: {}, types: {}, tags: {}, said_by: {}, file_kinds: {}, about: {}, special: {} };

/** Search results of the palette and its recently used commands. Cleared when the vault locks. */
class Finder {
  memories = $state.raw<FoundRecord[]>([]);
  conversations = $state.raw<FoundRecord[]>([]);
  /** Memories that mean nearly the same as the query, without those in `memories`. */
  similar = $state.raw<FoundRecord[]>([]);
  /** What is wrong with the weights that search by meaning needs. Null if they are usable. */
  weightsProblem = $state.raw<"missing" | "damaged" | null>(null);
  /** The tags and the assistants of all memories, each with its number of memories. */
  names = $state.raw<Facets>(NO_FACETS);
  failed = $state.raw<UiError | null>(null);
  searching = $state(false);
  recent = $state.raw<string[]>([]);
  #run = 0;
  #visit = 0;

  readonly #searchSoon = debounced((query: string) => void this.#search(query), 120);

  /** Searches after a pause in typing; an empty query clears the results. */
  setQuery(query: string): void {
    this.#run += 1;
    this.searching = query !== "";
    if (query !== "") return this.#searchSoon(query);
    this.#searchSoon.cancel();
    this.memories = [];
    this.conversations = [];
    this.similar = [];
    this.failed = null;
  }

  async #search(query: string): Promise<void> {
    const run = this.#run;
    try {
      const [memories, conversations] = await Promise.all([memoriesFor(query), conversationsFor(query)]);
      if (run !== this.#run) return;
      this.memories = memories;
      this.conversations = conversations;
      this.failed = null;
      await this.#searchMeaning(query, run);
    } catch (error) {
      session.handleLocked(error);
      if (run === this.#run) this.failed = new UiError(error);
    } finally {
      if (run === this.#run) this.searching = false;
    }
  }

  /**
   * Searches by meaning. Called after the results of the search for words are shown, because the first search by
   * meaning has to load the encoder, which takes a moment.
   */
  async #searchMeaning(query: string, run: number): Promise<void> {
    const limit = 2 * MAX_PER_GROUP;
    const similarResult = await backend().similar({ query, id: null, filter: { ...ANY, kind: "memory" }, limit });
    if (run !== this.#run) return;
    const memoryIds = new Set(this.memories.map((found) => found.id));
    this.weightsProblem =
      similarResult.weights === "missing" || similarResult.weights === "damaged" ? similarResult.weights : null;
    this.similar = similarResult.rows
      .filter((row) => !memoryIds.has(row.id))
      .slice(0, MAX_PER_GROUP)
      .map((row) => ({
        id: row.id,
        text: row.text ? plainText(row.text) : row.title,
        ranges: [],
        source: row.source,
        at: row.created_at,
        message: null,
      }));
  }

  async loadNames(): Promise<void> {
    const visit = this.#visit;
    try {
      const names = await backend().facets({ ...ANY, kind: "memory" }, null, false);
      if (visit === this.#visit) this.names = names;
    } catch (error) {
      session.handleLocked(error);
      if (visit === this.#visit) this.failed = new UiError(error);
    }
  }

  rememberUse(id: string): void {
    this.recent = [id, ...this.recent.filter((each) => each !== id)].slice(0, MAX_PER_GROUP);
  }

  /** Clears the results. Call it when the palette closes. */
  clearResults(): void {
    this.#visit += 1;
    this.setQuery("");
    this.names = NO_FACETS;
  }

  clear(): void {
    this.clearResults();
    this.recent = [];
  }
}

export const finder = new Finder();
onLock(() => finder.clear());

const find = async (query: string, kind: string, limit: number): Promise<FoundRow[]> =>
  (await backend().searchRows({ query, filter: { ...ANY, kind }, limit, offset: 0, typing: true })).rows.slice(
    0,
    MAX_PER_GROUP,
  );

async function memoriesFor(query: string): Promise<FoundRecord[]> {
  const rows = await find(query, "memory", MAX_PER_GROUP);
  return rows
    .map((row) => withWholeBeginning(row))
    .map((row) => ({
      id: row.id,
      ...plainSnippet(row.snippet ?? row.text, row.highlights),
      source: row.source,
      at: row.created_at,
      message: null,
    }));
}

/** Conversations that match the query: those whose title matches come before those in which only messages match. */
async function conversationsFor(query: string): Promise<FoundRecord[]> {
  const rows = await find(query, "conversation", MAX_REQUESTED_HITS);
  return rows.map((row) => {
    const ranges = findWords(row.title ?? "", hitWords(query, row));
    return {
      id: row.id,
      text: row.title,
      ranges,
      source: row.source,
      at: row.updated_at ?? row.created_at,
      message: row.message,
      excerpt: ranges.length === 0 && row.snippet ? plainSnippet(row.snippet, row.highlights) : null,
    };
  });
}
