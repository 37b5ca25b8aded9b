import { backend } from "$lib/ipc";
import { onLock } from "./scope";
import { itemsOfAll, type RecordList } from "./records.svelte";

/** Checked rows. */
class Selection {
  ids = $state.raw<ReadonlySet<string>>(new Set());
  #last: string | null = null;
  #run = 0;

  /** Check or uncheck one; with `range` everything between the last one and this. */
  toggle(list: RecordList, id: string, range = false): void {
    this.#run += 1;
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

  /** Everything that the filter finds, not only what is loaded. */
  async all(list: RecordList): Promise<void> {
    const run = ++this.#run;
    const ids = await itemsOfAll(backend(), list.filter, list.query);
    if (run === this.#run) this.ids = new Set(ids);
  }

  clear(): void {
    this.#run += 1;
    this.ids = new Set();
    this.#last = null;
  }
}

export const selection = new Selection();
onLock(() => selection.clear());
