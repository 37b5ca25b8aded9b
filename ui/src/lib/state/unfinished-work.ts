/** Each place with a running job or unsaved input registers a check that is true while locking would discard it. */
const checks = new Set<() => boolean>();

/** Registers a check. Returns a function that removes it again. */
export function holdsWork(check: () => boolean): () => void {
  checks.add(check);
  return () => void checks.delete(check);
}

/** Whether locking the vault would discard a running job or unsaved input. */
export function hasUnfinishedWork(): boolean {
  return [...checks].some((check) => check());
}
