import { backend } from "$lib/ipc";
import { onLock } from "./lock-cleanup";
import { allMatchingIds, type RecordList } from "./records.svelte";

/** The checked rows of the current list. */
class Selection {
  ids = $state.raw<ReadonlySet<string>>(new Set());
  #last: string | null = null;
  /** The range that was checked with the keyboard: its two ends, and the rows that were already checked before. */
  #range: { from: string; to: string; before: ReadonlySet<string> } | null = null;
  #run = 0;

  /** Checks or unchecks one row. With `range`, checks all rows between the previously toggled row and this one. */
  toggle(list: RecordList, id: string, range = false): void {
    this.#run += 1;
    this.#range = null;
    const next = new Set(this.ids);
    const order = list.rows.map((row) => row.id);
    const from = this.#last === null ? -1 : order.indexOf(this.#last);
    const to = order.indexOf(id);
    if (range && from >= 0 && to >= 0)
      for (const each of order.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(each);
    else if (!next.delete(id)) next.add(id);
    this.#last = id;
    this.ids = next;
  }

  /**
   * Extends the range with Shift and an arrow key: checks all rows from the start of the range to `to`. A row that is
   * no longer in the range is unchecked, unless it was checked before the range was begun.
   */
  extend(list: RecordList, from: string, to: string): void {
    this.#run += 1;
    const currentRange = this.#range?.to === from ? this.#range : null;
    const { from: start, before } = currentRange ?? { from, before: this.ids };
    const order = list.rows.map((row) => row.id);
    const [a, b] = [order.indexOf(start), order.indexOf(to)];
    this.#range = { from: start, to, before };
    this.#last = to;
    this.ids = new Set([...before, ...order.slice(Math.max(0, Math.min(a, b)), Math.max(a, b) + 1)]);
  }

  /** Checks all rows that match the filter and the query, including rows that are not loaded. */
  async checkAll(list: RecordList): Promise<void> {
    const run = ++this.#run;
    const ids = await allMatchingIds(backend(), list.filter, list.query);
    if (run !== this.#run) return;
    this.ids = new Set(ids);
    this.#range = null;
  }

  clear(): void {
    this.#run += 1;
    this.ids = new Set();
    this.#last = null;
    this.#range = null;
  }
}

export const selection = new Selection();
onLock(() => selection.clear());
