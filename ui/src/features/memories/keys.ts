import { appearance } from "$lib/state/appearance.svelte";
import { dialogs } from "$lib/state/dialogs.svelte";
import { memories } from "$lib/state/lists.svelte";
import { detail } from "$lib/state/detail.svelte";
import { nav } from "$lib/state/nav.svelte";
import { neighbour } from "$lib/state/records.svelte";
import { failed, moveToTrash } from "$lib/state/removal";
import { search } from "$lib/state/search.svelte";
import { selection } from "$lib/state/selection.svelte";

async function discard(ids: string[]): Promise<void> {
  const next = neighbour(memories.rows, ids, nav.id);
  if (!(await moveToTrash(ids))) return;
  selection.clear();
  nav.choose(next);
}

/** Keys that act on the active row, or on all checked ones. Single letters can be switched off. */
export function listKey(event: KeyboardEvent, active: string | null): void {
  const ids = selection.ids.size > 0 ? [...selection.ids] : active ? [active] : [];
  const control = event.ctrlKey || event.metaKey;
  const act = (run: () => void) => {
    event.preventDefault();
    run();
  };
  if (event.key === "Delete" && ids.length > 0) {
    act(() => {
      if (event.shiftKey) dialogs.show({ kind: "erase", ids });
      else void discard(ids);
    });
  } else if (event.key === "Escape") {
    if (selection.ids.size > 0) act(() => selection.clear());
    else if (search.text) act(() => search.clear());
  } else if (control && event.key.toLowerCase() === "a") {
    act(() => void selection.all(memories).catch(failed));
  } else if (!control && !event.altKey && appearance.letterKeys) {
    const letter = { e: "edit", t: "tag", r: "redact" }[event.key.toLowerCase()] as
      "edit" | "tag" | "redact" | undefined;
    if (!letter) return;
    if (selection.ids.size > 0) {
      // The bar of the checked ones tags them all; nothing else can be done to many at once.
      if (letter === "tag") act(() => detail.ask(letter, null));
    } else if (active) {
      act(() => {
        // At once, not after the wait for the keyboard: the row that was active is the one that is meant.
        nav.choose(active);
        detail.ask(letter, active);
      });
    }
  }
}
