import { appearance } from "$lib/state/appearance.svelte";
import { topmostDialog } from "$lib/ui/open-dialogs.svelte";

/** Selects elements in which typed letters are text or choose an option. */
const KEY_OWNER_SELECTOR =
  "input, textarea, select, [contenteditable], [role=menu], [role=combobox], [data-popover-content]";

/** Whether an element, or a dialog that is open above the screen, handles key presses itself. */
export function handlesOwnKeys(target: EventTarget | null): boolean {
  return topmostDialog() !== null || (target instanceof Element && target.closest(KEY_OWNER_SELECTOR) !== null);
}

/**
 * The letter of a single-letter command. Null if the key press is not such a command, if a field or an open dialog
 * handles it, or if single-letter commands are switched off.
 */
export function commandLetter(event: KeyboardEvent): string | null {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return null;
  if (!appearance.letterKeys || !/^\p{L}$/u.test(event.key)) return null;
  return handlesOwnKeys(event.target) ? null : event.key.toLowerCase();
}
