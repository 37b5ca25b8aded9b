import { appearance } from "$lib/state/appearance.svelte";
import { topmostDialog } from "$lib/ui/open-dialogs.svelte";

/** Where a letter is typed, or chooses among what is offered. */
const OWN = "input, textarea, select, [contenteditable], [role=menu], [role=combobox], [data-popover-content]";

/** True where a key belongs to a field, or to something that is open over the screen. */
export function handlesOwnKeys(target: EventTarget | null): boolean {
  return topmostDialog() !== null || (target instanceof Element && target.closest(OWN) !== null);
}

/**
 * The letter by which a screen is told to do something, wherever on it the focus is; null for one that is typed, that
 * belongs to something open over the screen, or that the person has switched off.
 */
export function screenLetter(event: KeyboardEvent): string | null {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return null;
  if (!appearance.letterKeys || !/^\p{L}$/u.test(event.key)) return null;
  return handlesOwnKeys(event.target) ? null : event.key.toLowerCase();
}
