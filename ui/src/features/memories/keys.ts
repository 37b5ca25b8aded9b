import { commandLetter } from "$features/layout/letter-keys";
import { detail, type DetailRequest } from "$lib/state/detail.svelte";
import { nav } from "$lib/state/nav.svelte";
import { selection } from "$lib/state/selection.svelte";

const ACTION_OF_LETTER: Record<string, DetailRequest["action"]> = { e: "edit", t: "tag", r: "redact", v: "source" };

/** Opens a record in the detail pane at once and starts the action there. */
export function requestAction(action: DetailRequest["action"], id: string): void {
  nav.choose(id);
  detail.request(action, id);
}

/** Handles the letter keys that act on the active row, or on all checked rows. */
export function handleLetterKey(event: KeyboardEvent, active: string | null): void {
  const letter = ACTION_OF_LETTER[commandLetter(event) ?? ""];
  // While a record is checked, only T and R work. The summary of the checked records handles them.
  const isAnyChecked = selection.ids.size > 0;
  if (!letter || (isAnyChecked && letter !== "tag" && letter !== "redact")) return;
  if (isAnyChecked) detail.request(letter, null);
  else if (active) requestAction(letter, active);
  else return;
  event.preventDefault();
}
