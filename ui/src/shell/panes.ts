import { visibleList } from "$features/layout/row-actions";

/** F6: focus the next pane. Panes are marked `data-pane`; the first focusable thing in one takes the focus. */
export function cyclePane(step: 1 | -1): void {
  const panes = [...document.querySelectorAll<HTMLElement>("[data-pane]")].filter(
    (pane) => !pane.querySelector("[data-pane]"),
  );
  if (panes.length === 0) return;
  const at = panes.findIndex((pane) => pane.contains(document.activeElement));
  const next = panes[(at + step + panes.length) % panes.length];
  const list = next && visibleList(next);
  (list ?? next?.querySelector<HTMLElement>("button, [tabindex='0'], input") ?? next)?.focus();
}
