import { isMac } from "$lib/logic/operating-system";

const FIELD_SELECTOR = "input, textarea, select, [contenteditable]";

/**
 * Makes Ctrl A select only the text that has the focus. Without this function, the web view would select all text in
 * the window, as on a web page. Lists and fields handle Ctrl A themselves.
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
