/**
 * Functions that clear the stores with vault content when the vault locks. Each of these stores registers one function.
 */
const clearers = new Set<() => void>();

export function onLock(clear: () => void): void {
  clearers.add(clear);
}

let epoch = 0;

/**
 * Returns a function that returns true until the vault is locked. Call `lockGuard` before an `await` and the returned
 * function after it, so that a result that arrives after locking is not shown.
 */
export function lockGuard(): () => boolean {
  const epochBefore = epoch;
  return () => epochBefore === epoch;
}

export function clearContent(): void {
  epoch += 1;
  for (const clear of clearers) clear();
}
