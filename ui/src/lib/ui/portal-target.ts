/**
 * The element into which a floating panel is rendered: the sheet or landmark that contains the panel's trigger, so that
 * screen readers find the panel there. `id` is the id of the trigger.
 */
export function portalTarget(id: string): Element {
  return portalTargetFor(document.getElementById(id));
}

/** Like `portalTarget`, but takes the trigger itself instead of its id. */
export function portalTargetFor(element: Element | null): Element {
  return element?.closest("[data-layer], main, nav") ?? document.querySelector("main") ?? document.body;
}
