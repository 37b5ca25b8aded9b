import { visibleList } from "$features/layout/row-actions";

/**
 * Focuses the next or the previous pane (F6). The pane's visible list gets the focus, or else its first focusable
 * element.
 */
export function cyclePane(step: 1 | -1): void {
  const panes = [...document.querySelectorAll<HTMLElement>("[data-pane]")].filter(
    (pane) => !pane.querySelector("[data-pane]"),
  );
  if (panes.length === 0) return;
  const paneIndex = panes.findIndex((pane) => pane.contains(document.activeElement));
  const next = panes[(paneIndex + step + panes.length) % panes.length];
  const list = next && visibleList(next);
  (list ?? next?.querySelector<HTMLElement>("button, [tabindex='0'], input") ?? next)?.focus();
}
