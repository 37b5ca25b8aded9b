/**
 * Whether a key press belongs to an IME composition, as for Japanese. WebKit ends the composition before it reports the
 * key, and marks that key only by code 229.
 */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}
