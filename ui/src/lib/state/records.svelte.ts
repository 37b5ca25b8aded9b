import { UiError } from "$lib/state/ui-error";
import {
  backend,
  type Backend,
  type Filter,
  type Found,
  type FoundRow,
  type Hit,
  type ListItem,
  type Page,
} from "$lib/ipc";
import { ANY } from "./filter";
import { stoppedByUser } from "./loading.svelte";
import { onLock } from "./lock-cleanup";
import { session } from "./session.svelte";

/** A row of a list: the item, and while searching the piece of text that matched. */
export type Row = FoundRow;

const PAGE = 100;
/** Pixels that a row of a list takes at least. */
const ROW = 60;
/** The most that the backend hands out in one call. */
const MOST = 1000;
/** So many conversations are found by their title (as `find` does it); the others by what their messages say. */
const TITLES = 8;

/** A list that loads page by page: by cursor when browsing, by offset when searching. */
export class RecordList {
  rows = $state.raw<Row[]>([]);
  total = $state<number | null>(null);
  loading = $state(false);
  failed = $state.raw<UiError | null>(null);
  filter = $state.raw<Filter>(ANY);
  query = $state("");
  sort = $state<"newest" | "oldest" | "title">("newest");
  /** How often it was asked for again: whoever shows the list asks anew, with all that goes with its rows. */
  reloads = $state(0);
  #cursor: string | null = null;
  #offset = 0;
  #run = 0;
  /** Of the rows: a search may find a conversation again on a later page. */
  #ids = new Set<string>();
  /** What the rows answer, and how far down they reach. */
  #shown = { question: "", reach: 0 };
  /** What was asked before it is known that the person has typed to the end. */
  #prefetched: { question: string; limit: number; found: Promise<Found> } | null = null;
  #prefetching = false;
  /** What was typed while a question was under way. */
  #pendingQuery: string | null = null;

  constructor(private readonly base: Partial<Filter>) {
    this.filter = { ...ANY, ...base };
    onLock(() => this.clear());
  }

  get more(): boolean {
    return this.query ? this.total !== null && this.#offset < this.total : this.#cursor !== null;
  }

  setFilter(change: Partial<Filter>): void {
    this.filter = { ...this.filter, ...change };
  }

  clearFilter(): void {
    this.filter = { ...ANY, ...this.base };
  }

  /**
   * Ask for what a search with `query` would show first, while it is still waited for the next letter: `load` has its
   * answer then. A question at a time: on a slow machine the next letter's would have to wait for this one's.
   */
  prefetch(query: string): void {
    // What was asked before was asked of another vault, if this comes of a change.
    this.#prefetched = null;
    this.#pendingQuery = this.#prefetching ? query : null;
    const question = this.#question(query);
    if (this.#prefetching || this.loading || query === "" || question === this.#shown.question) return;
    const limit = firstPageSize(query);
    const found = backend().find({ query, filter: this.filter, limit, offset: 0, typing: true });
    this.#prefetched = { question, limit, found };
    this.#prefetching = true;
    const settled = () => {
      this.#prefetching = false;
      if (this.#pendingQuery !== null) this.prefetch(this.#pendingQuery);
    };
    // Whoever takes the answer hears of an error; nobody has to.
    found.then(settled, settled);
  }

  /**
   * From the top again: a new question starts with its first page, the same one (something was changed) reaches as far
   * down as before, so that the place in the list stays. Rows stay on screen until the new ones are there.
   */
  async load(): Promise<void> {
    const run = ++this.#run;
    this.#pendingQuery = null;
    const first = firstPageSize(this.query);
    const reach = this.#question() === this.#shown.question ? Math.max(first, this.#shown.reach) : first;
    this.#cursor = null;
    this.#offset = 0;
    // With nothing to show yet the rows that are to come stand there again.
    if (this.total === null) this.failed = null;
    await this.#fetch(run, [], reach);
  }

  /** Wait no longer. Rows that are there stay. */
  readonly stop = (): void => {
    this.#run += 1;
    this.loading = false;
    this.failed = stoppedByUser();
  };

  readonly retry = (): void => {
    // With nothing to show yet the rows that are to come stand there again.
    if (this.total === null) this.failed = null;
    this.reloads += 1;
  };

  async next(): Promise<void> {
    if (this.loading || !this.more) return;
    await this.#fetch(this.#run, this.rows, this.#offset + PAGE);
  }

  /** A row that the vault does not have any more. */
  drop(id: string): void {
    this.rows = this.rows.filter((row) => row.id !== id);
  }

  #question(query = this.query): string {
    return JSON.stringify([query, this.filter, this.sort]);
  }

  /** What was asked ahead, once: later the vault may hold something else. */
  #takePrefetched(limit: number): Promise<Found> | null {
    const prefetched = this.#prefetched;
    const fits = prefetched?.question === this.#question() && prefetched.limit === limit && this.#offset === 0;
    this.#prefetched = null;
    return fits ? prefetched.found : null;
  }

  async #fetch(run: number, before: Row[], reach: number): Promise<void> {
    const question = this.#question();
    this.loading = true;
    try {
      if (before.length === 0) this.#ids = new Set();
      const added: Row[] = [];
      do {
        const limit = Math.min(MOST, reach - this.#offset);
        const page = this.query ? await this.#fetchHits(run, limit) : await this.#fetchPage(run, limit);
        if (run !== this.#run || page === null) return;
        for (const row of page) {
          if (this.#ids.has(row.id)) continue;
          this.#ids.add(row.id);
          added.push(row);
        }
      } while (this.#offset < reach && this.more);
      this.rows = before.concat(added);
      this.#shown = { question, reach: this.#offset };
      this.failed = null;
    } catch (error) {
      session.handleLocked(error);
      if (run === this.#run) this.failed = new UiError(error);
    } finally {
      if (run === this.#run) this.loading = false;
    }
  }

  async #fetchPage(run: number, limit: number): Promise<Row[] | null> {
    const request = { filter: $state.snapshot(this.filter), sort: this.sort, limit, cursor: this.#cursor };
    const page = await backend().list(request);
    if (run !== this.#run) return null;
    this.#cursor = page.next_cursor;
    this.#offset += page.items.length;
    this.total = page.total;
    return page.items.map(plainRow);
  }

  async #fetchHits(run: number, limit: number): Promise<Row[] | null> {
    const request = { query: this.query, filter: this.filter, limit, offset: this.#offset, typing: true };
    const found = await (this.#takePrefetched(limit) ?? backend().find(request));
    if (run !== this.#run) return null;
    this.#offset = found.next_offset ?? found.total;
    this.total = found.total;
    return found.rows;
  }

  clear(): void {
    this.#run += 1;
    this.rows = [];
    this.total = null;
    this.query = "";
    this.failed = null;
    this.loading = false;
    this.#cursor = null;
    this.#offset = 0;
    this.#shown = { question: "", reach: 0 };
    this.#prefetched = null;
    this.#pendingQuery = null;
    this.clearFilter();
  }
}

/** How many rows come first. Of what a search finds no more than is seen, so that it is there while the person types. */
function firstPageSize(query: string): number {
  return query ? Math.ceil(innerHeight / ROW) : PAGE;
}

export function plainRow(item: ListItem): Row {
  return { ...item, snippet: null, highlights: [], message: null };
}

type Source = Pick<Backend, "list" | "search">;

/** The row that a hit belongs to: a message stands in the list as its conversation. */
function rowIdOf(hit: Hit): string | null {
  return hit.kind === "message" ? hit.conversation_id : hit.id;
}

/** The ids of everything that a filter and a search find: what the list shows, to its end. */
export async function itemsOfAll(from: Source, filter: Filter, query: string): Promise<string[]> {
  if (query && filter.kind === "conversation") {
    const titles = await from.search({ query, filter, limit: TITLES, offset: 0, typing: true });
    const said = await hitsOfAll(from, { ...filter, kind: "message" }, query);
    return [...new Set([...titles.hits.map((hit) => hit.id), ...said])];
  }
  if (query) return hitsOfAll(from, filter, query);
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await from.list({ filter, sort: null, limit: MOST, cursor });
    ids.push(...page.items.map((item) => item.id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return ids;
}

async function hitsOfAll(from: Source, filter: Filter, query: string): Promise<string[]> {
  const ids = new Set<string>();
  let offset = 0;
  for (;;) {
    const { hits, total } = await from.search({ query, filter, limit: MOST, offset, typing: true });
    for (const hit of hits) {
      const id = rowIdOf(hit);
      if (id !== null) ids.add(id);
    }
    offset += hits.length;
    if (hits.length === 0 || offset >= total) return [...ids];
  }
}

/** Which record stays open when a list changed: the same one, even if it left the list; a new question starts at its first answer. */
export function keepOpen(after: readonly Row[], id: string | null, fresh: boolean): string | null {
  if (id !== null && (!fresh || after.some((row) => row.id === id))) return id;
  return after[0]?.id ?? null;
}

/** Which record comes next when these leave the list. */
export function nextAfterRemoval(
  rows: readonly Row[],
  leaving: readonly string[],
  active: string | null,
): string | null {
  const gone = new Set(leaving);
  if (active === null || !gone.has(active)) return active;
  const at = Math.max(
    0,
    rows.findIndex((row) => row.id === active),
  );
  const stays = (row: Row) => !gone.has(row.id);
  return (rows.slice(at).find(stays) ?? rows.slice(0, at).reverse().find(stays))?.id ?? null;
}
