/**
 * Where something that floats is put: into the sheet or the landmark that its trigger stands in, so that it belongs to it
 * for people who hear the window. `id` is the trigger's.
 */
export function layerOf(id: string): Element {
  return document.getElementById(id)?.closest("[data-layer], main, nav") ?? document.body;
}
