/**
 * Whether a key belongs to a word that is being composed, as Japanese is written: it is no key of ours then. WebKit ends the
 * composing before it tells of the key that ended it, and marks that key by its code alone.
 */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}
