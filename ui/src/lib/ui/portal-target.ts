/**
 * The portal target of a floating panel: the sheet or landmark that contains its trigger, so that screen readers find
 * it there. `id` is the trigger's.
 */
export function portalTarget(id: string): Element {
  return portalTargetFor(document.getElementById(id));
}

/** Like `portalTarget`, but takes the trigger itself instead of its id. */
export function portalTargetFor(element: Element | null): Element {
  return element?.closest("[data-layer], main, nav") ?? document.querySelector("main") ?? document.body;
}
