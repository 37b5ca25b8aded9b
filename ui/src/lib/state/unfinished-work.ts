/**
 * Checks that return true while locking would discard a running job or unsaved input. Each component with such work
 * registers one.
 */
const checks = new Set<() => boolean>();

/** Registers a check. Returns a function that removes it again. */
export function registerWorkCheck(check: () => boolean): () => void {
  checks.add(check);
  return () => void checks.delete(check);
}

/** Whether locking the vault would discard a running job or unsaved input. */
export function hasUnfinishedWork(): boolean {
  return [...checks].some((check) => check());
}
