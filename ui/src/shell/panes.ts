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

/**
 * Focuses the list of the section, or else the section itself, unless something in it has the focus already.
 * `onlyIfLost`: whether to do so only if the focused element was removed.
 */
export function focusSection(onlyIfLost: boolean): void {
  const section = document.querySelector<HTMLElement>("[data-pane=main]");
  const { activeElement } = document;
  const isLost = activeElement === null || activeElement === document.body;
  if (!section || section.contains(activeElement) || (onlyIfLost && !isLost)) return;
  const list = visibleList(section);
  // The section is focusable only now, so that later clicks on its text do not focus it.
  if (!list) {
    section.tabIndex = -1;
    section.addEventListener("blur", () => section.removeAttribute("tabindex"), { once: true });
  }
  (list ?? section).focus({ preventScroll: true });
}
