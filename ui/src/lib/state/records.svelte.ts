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
import { withWholeBeginning } from "$lib/logic/snippets";
import { appearance } from "./appearance.svelte";
import { ANY } from "./filter";
import { stoppedByUser } from "./loading.svelte";
import { onLock } from "./lock-cleanup";
import { session } from "./session.svelte";
import { vault } from "./vault.svelte";

/** A row of a list: the item, and during a search the matching snippet. */
export type Row = FoundRow;

const PAGE_SIZE = 100;
/** The smallest height that a row can have, in pixels. */
const MIN_ROW_HEIGHT = 60;
/** The largest number of rows that the backend returns in one call. */
const MAX_PER_CALL = 1000;
/**
 * `searchRows` returns at most this many conversations of which only the title matches. In all others, a message
 * matches.
 */
const MAX_TITLE_HITS = 8;

/** A list loaded in pages: by cursor when browsing, by offset when searching. */
export class RecordList {
  rows = $state.raw<Row[]>([]);
  total = $state<number | null>(null);
  loading = $state(false);
  failed = $state.raw<UiError | null>(null);
  filter = $state.raw<Filter>(ANY);
  query = $state("");
  sort = $state<"newest" | "oldest" | "title">("newest");
  /** Number of requested reloads. When it changes, the view reloads the rows and their counts. */
  reloads = $state(0);
  #cursor: string | null = null;
  #offset = 0;
  #run = 0;
  /** The last request for rows. The promise never rejects. */
  #fetching: Promise<void> = Promise.resolve();
  /**
   * Ids of the rows. They are needed to skip duplicates, because a search may return a conversation again on a later
   * page.
   */
  #ids = new Set<string>();
  /**
   * The list that `rows` shows. `listKey` represents query, filter and sort order, and `endOffset` is the offset up to
   * which rows were loaded.
   */
  #shown = { listKey: "", endOffset: 0 };
  /** A request that was sent before `load`, while the person might still be typing. */
  #prefetched: { listKey: string; limit: number; found: Promise<Found> } | null = null;
  #prefetching = false;
  /** The query typed while a prefetch was running. */
  #pendingQuery: string | null = null;

  /**
   * `base`: the initial filter, which `clearFilter` restores. `revision`: a number that changes whenever the rows may
   * have changed.
   */
  constructor(
    private readonly base: Partial<Filter>,
    readonly revision: () => number = () => vault.revision,
  ) {
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
   * Requests the first rows for `query` while the list waits for a pause in typing. `load` then uses the answer. Only
   * one request runs at a time, because on a slow machine a second one would have to wait behind it.
   */
  prefetch(query: string): void {
    // Discard the earlier answer, because the query or the vault has changed since.
    this.#prefetched = null;
    this.#pendingQuery = this.#prefetching ? query : null;
    const listKey = this.#listKey(query);
    if (this.#prefetching || this.loading || query === "" || listKey === this.#shown.listKey) return;
    const limit = firstPageSize(query);
    const found = backend().searchRows({ query, filter: this.filter, limit, offset: 0, typing: true });
    this.#prefetched = { listKey, limit, found };
    this.#prefetching = true;
    const handleSettled = () => {
      this.#prefetching = false;
      if (this.#pendingQuery !== null) this.prefetch(this.#pendingQuery);
    };
    // Ignore an error here. If `load` uses the answer, it handles the error.
    found.then(handleSettled, handleSettled);
  }

  /**
   * Reloads from the top. If query, filter and sort order are unchanged, as many rows as before are loaded, so that
   * the scroll position stays; otherwise one page. Old rows stay until the new ones arrive.
   */
  async load(): Promise<void> {
    const run = ++this.#run;
    this.#pendingQuery = null;
    const firstPage = firstPageSize(this.query);
    const endOffset = this.#listKey() === this.#shown.listKey ? Math.max(firstPage, this.#shown.endOffset) : firstPage;
    this.#cursor = null;
    this.#offset = 0;
    // If no rows have been loaded yet, placeholder rows replace an earlier error.
    if (this.total === null) this.failed = null;
    await this.#fetch(run, [], endOffset);
  }

  /** Stops waiting for requested rows. The rows that are already loaded stay. */
  readonly stop = (): void => {
    this.#run += 1;
    this.loading = false;
    this.failed = stoppedByUser();
  };

  readonly retry = (): void => {
    // If no rows have been loaded yet, placeholder rows replace an earlier error.
    if (this.total === null) this.failed = null;
    this.reloads += 1;
  };

  async loadNextPage(): Promise<void> {
    if (this.loading || !this.more) return;
    await this.#fetch(this.#run, this.rows, this.#offset + PAGE_SIZE);
  }

  /** Loads all rows that are not loaded yet. */
  async loadAll(): Promise<void> {
    // Wait for a running request first, because the next request needs its cursor.
    while (this.loading) await this.#fetching;
    if (this.more && !this.failed) await this.#fetch(this.#run, this.rows, Math.max(this.#offset + 1, this.total ?? 0));
  }

  /** Removes rows that are no longer in the vault or in this list. */
  drop(ids: readonly string[]): void {
    const removed = new Set(ids);
    this.rows = this.rows.filter((row) => !removed.has(row.id));
  }

  #listKey(query = this.query): string {
    return JSON.stringify([query, this.filter, this.sort]);
  }

  /** Returns the prefetched answer if it fits the request. It is used only once, because the vault may change later. */
  #takePrefetched(limit: number): Promise<Found> | null {
    const prefetched = this.#prefetched;
    const isUsable = prefetched?.listKey === this.#listKey() && prefetched.limit === limit && this.#offset === 0;
    this.#prefetched = null;
    return isUsable ? prefetched.found : null;
  }

  #fetch(run: number, before: Row[], endOffset: number): Promise<void> {
    return (this.#fetching = this.#fetchUpTo(run, before, endOffset));
  }

  async #fetchUpTo(run: number, before: Row[], endOffset: number): Promise<void> {
    const listKey = this.#listKey();
    this.loading = true;
    try {
      if (before.length === 0) this.#ids = new Set();
      const added: Row[] = [];
      do {
        const limit = Math.min(MAX_PER_CALL, endOffset - this.#offset);
        const page = this.query ? await this.#fetchHits(run, limit) : await this.#fetchPage(run, limit);
        if (run !== this.#run || page === null) return;
        for (const row of page) {
          if (this.#ids.has(row.id)) continue;
          this.#ids.add(row.id);
          added.push(row);
        }
      } while (this.#offset < endOffset && this.more);
      this.rows = before.concat(added);
      this.#shown = { listKey, endOffset: this.#offset };
      this.failed = null;
    } catch (error) {
      session.handleLocked(error);
      if (run === this.#run) this.failed = new UiError(error);
    } finally {
      if (run === this.#run) this.loading = false;
    }
  }

  async #fetchPage(run: number, limit: number): Promise<Row[] | null> {
    // In the Trash, the record that was deleted last comes first, so that the remaining days are in order.
    const sort = this.filter.trash ? "trashed" : this.sort;
    const request = { filter: $state.snapshot(this.filter), sort, limit, cursor: this.#cursor };
    const page = await backend().list(request);
    if (run !== this.#run) return null;
    this.#cursor = page.next_cursor;
    this.#offset += page.items.length;
    this.total = page.total;
    return page.items.map(plainRow);
  }

  async #fetchHits(run: number, limit: number): Promise<Row[] | null> {
    const request = { query: this.query, filter: this.filter, limit, offset: this.#offset, typing: true };
    const found = await (this.#takePrefetched(limit) ?? backend().searchRows(request));
    if (run !== this.#run) return null;
    this.#offset = found.next_offset ?? found.total;
    this.total = found.total;
    return found.rows.map((row) => withWholeBeginning(row, appearance.listRows === "one"));
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
    this.#shown = { listKey: "", endOffset: 0 };
    this.#prefetched = null;
    this.#pendingQuery = null;
    this.clearFilter();
  }
}

/** How many rows the first page has. A search loads only what is visible, so that it is fast enough while typing. */
function firstPageSize(query: string): number {
  return query ? Math.ceil(innerHeight / MIN_ROW_HEIGHT) : PAGE_SIZE;
}

export function plainRow(item: ListItem): Row {
  return { ...item, snippet: null, highlights: [], message: null };
}

type Source = Pick<Backend, "list" | "search">;

/** Id of the row that shows a hit: a message is shown in the row of its conversation. */
function rowIdOf(hit: Hit): string | null {
  return hit.kind === "message" ? hit.conversation_id : hit.id;
}

/** The ids of all records that match the filter and query, including records whose rows are not loaded. */
export async function allMatchingIds(from: Source, filter: Filter, query: string): Promise<string[]> {
  if (query && filter.kind === "conversation") {
    const titles = await from.search({ query, filter, limit: MAX_TITLE_HITS, offset: 0, typing: true });
    const messageHits = await allHitIds(from, { ...filter, kind: "message" }, query);
    return [...new Set([...titles.hits.map((hit) => hit.id), ...messageHits])];
  }
  if (query) return allHitIds(from, filter, query);
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await from.list({ filter, sort: null, limit: MAX_PER_CALL, cursor });
    ids.push(...page.items.map((item) => item.id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return ids;
}

async function allHitIds(from: Source, filter: Filter, query: string): Promise<string[]> {
  const ids = new Set<string>();
  let offset = 0;
  for (;;) {
    const { hits, total } = await from.search({ query, filter, limit: MAX_PER_CALL, offset, typing: true });
    for (const hit of hits) {
      const id = rowIdOf(hit);
      if (id !== null) ids.add(id);
    }
    offset += hits.length;
    if (hits.length === 0 || offset >= total) return [...ids];
  }
}

/**
 * The record to open after a list has changed. Normally the record that is open (`id`) stays open, even if it has left
 * the list. The first record of the list is opened if none is open, or if a new query does not find the open record.
 */
export function recordToOpen(rows: readonly Row[], id: string | null, isNewQuery: boolean): string | null {
  if (id !== null && (!isNewQuery || rows.some((row) => row.id === id))) return id;
  return rows[0]?.id ?? null;
}

/**
 * Id of the record to open once the records `leaving` are removed: the active record if it is not removed, otherwise
 * the next remaining record in the list, or else the previous one.
 */
export function nextAfterRemoval(
  rows: readonly Row[],
  leaving: readonly string[],
  active: string | null,
): string | null {
  const removed = new Set(leaving);
  if (active === null || !removed.has(active)) return active;
  const activeIndex = Math.max(
    0,
    rows.findIndex((row) => row.id === active),
  );
  const isKept = (row: Row) => !removed.has(row.id);
  return (rows.slice(activeIndex).find(isKept) ?? rows.slice(0, activeIndex).reverse().find(isKept))?.id ?? null;
}
