import { TYPING_PAUSE_MS, debounced } from "$lib/logic/debounce";
import type { RecordList } from "$lib/state/records.svelte";
import { search } from "$lib/state/search-field.svelte";
import { untrack } from "svelte";

/** Milliseconds between the last key press and the search. */
const SEARCH_DELAY_MS = 120;

export type ListAnswer = {
  query: string;
  /**
   * Whether the query has changed and is not empty. False for the first load, because a link may have opened a record
   * that the search does not find.
   */
  isNewQuery: boolean;
  /** Returns false once a newer search has begun or the section was left. */
  isCurrent: () => boolean;
};

/**
 * Reloads `list` whenever the text in the search field, the filter, the sort order or the revision of the list changes.
 * Call this while a component is being created. `onanswer` is called when the rows have arrived. During a search it is
 * called `pause` ms later, so that its work does not delay the response to the next key.
 */
export function followSearch(
  list: RecordList,
  onanswer: (answer: ListAnswer) => void,
  pause: number = TYPING_PAUSE_MS,
): void {
  let lastQuery: string | null = null;
  let run = 0;

  const deliver = (answer: ListAnswer) => {
    if (answer.isCurrent()) onanswer(answer);
  };
  const deliverLater = debounced(deliver, pause);

  const load = debounced(async (query: string) => {
    const thisRun = ++run;
    const isCurrent = () => thisRun === run;
    const isNewQuery = lastQuery !== null && query !== lastQuery && query !== "";
    list.query = query;
    await list.load();
    // After a failure, `lastQuery` is not changed, so that a retry still counts as a new query.
    if (!isCurrent() || list.failed) return;
    lastQuery = query;
    const answer = { query, isNewQuery, isCurrent };
    if (query && pause > 0) deliverLater(answer);
    else deliver(answer);
  }, SEARCH_DELAY_MS);

  $effect(() => {
    void [list.filter, list.sort, list.reloads, list.revision()];
    const query = search.text.trim();
    untrack(() => list.prefetch(query));
    load(query);
    return load.cancel;
  });
  $effect(() => () => {
    run += 1;
    deliverLater.cancel();
  });
}
