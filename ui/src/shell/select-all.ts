import { isMac } from "$lib/logic/platform";

const FIELD_SELECTOR = "input, textarea, select, [contenteditable]";

/**
 * Limits Ctrl A to the text that has the focus. Otherwise the web view would select the whole window, like a page. Lists
 * and fields handle the key themselves.
 */
export function selectAllInside(event: KeyboardEvent): void {
  const control = isMac ? event.metaKey : event.ctrlKey;
  if (!control || event.shiftKey || event.altKey || event.key.toLowerCase() !== "a" || event.defaultPrevented) return;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest(FIELD_SELECTOR)) return;
  event.preventDefault();
  const text = target?.closest(".selectable");
  if (text) getSelection()?.selectAllChildren(text);
}
