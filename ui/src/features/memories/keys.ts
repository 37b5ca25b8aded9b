import { screenLetter } from "$features/layout/letter-keys";
import { detail, type DetailRequest } from "$lib/state/detail.svelte";
import { nav } from "$lib/state/nav.svelte";
import { selection } from "$lib/state/selection.svelte";

const LETTERS: Record<string, DetailRequest["what"]> = { e: "edit", t: "tag", r: "redact" };

/** Do it with this one, in its detail: at once, not after the wait for the keyboard. */
export function requestAction(what: DetailRequest["what"], id: string): void {
  nav.choose(id);
  detail.request(what, id);
}

/** Letters that act on the active row, or on all checked ones. */
export function letterKey(event: KeyboardEvent, active: string | null): void {
  const letter = LETTERS[screenLetter(event) ?? ""];
  // The bar of the checked ones tags them all and redacts in all of them; nothing else can be done to many at once.
  const many = selection.ids.size > 0;
  if (!letter || (many && letter !== "tag" && letter !== "redact")) return;
  if (many) detail.request(letter, null);
  else if (active) requestAction(letter, active);
  else return;
  event.preventDefault();
}
