/**
 * Where something that floats is put: into the sheet or the landmark that its trigger stands in, so that it belongs to it
 * for people who hear the window. `id` is the trigger's.
 */
export function portalTarget(id: string): Element {
  return portalTargetFor(document.getElementById(id));
}

/** The same for something that is at hand. */
export function portalTargetFor(thing: Element | null): Element {
  return thing?.closest("[data-layer], main, nav") ?? document.querySelector("main") ?? document.body;
}
