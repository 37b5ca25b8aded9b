/**
 * Whether a key press belongs to the composition of characters in an IME, as for Japanese. WebKit ends the composition
 * before it reports the key press that ends it. Such a key press can be recognised only by its code 229.
 */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}
