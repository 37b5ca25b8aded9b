/** Functions that clear the stores with content when the vault locks. Every such store registers one. */
const clearers = new Set<() => void>();

export function onLock(clear: () => void): void {
  clearers.add(clear);
}

let epoch = 0;

/**
 * Returns a function that is true until the vault is locked. Create it before an `await` and call it afterwards, so
 * that a result that arrives after locking is not shown.
 */
export function lockGuard(): () => boolean {
  const epochBefore = epoch;
  return () => epochBefore === epoch;
}

export function clearContent(): void {
  epoch += 1;
  for (const clear of clearers) clear();
}
