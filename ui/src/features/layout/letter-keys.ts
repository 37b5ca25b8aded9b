import { appearance } from "$lib/state/appearance.svelte";
import { topmostDialog } from "$lib/ui/open-dialogs.svelte";

/** Selector of elements in which letters are typed or select an option. */
const KEY_OWNER_SELECTOR =
  "input, textarea, select, [contenteditable], [role=menu], [role=combobox], [data-popover-content]";

/** Whether the key belongs to a field or to an open layer above the screen. */
export function handlesOwnKeys(target: EventTarget | null): boolean {
  return topmostDialog() !== null || (target instanceof Element && target.closest(KEY_OWNER_SELECTOR) !== null);
}

/**
 * The single-letter command of a key press; null if it is typed into a field, belongs to an open layer, or is switched
 * off.
 */
export function screenLetter(event: KeyboardEvent): string | null {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return null;
  if (!appearance.letterKeys || !/^\p{L}$/u.test(event.key)) return null;
  return handlesOwnKeys(event.target) ? null : event.key.toLowerCase();
}
