/** Every store with content registers here, so that locking clears it. */
const clearers = new Set<() => void>();

export function onLock(clear: () => void): void {
  clearers.add(clear);
}

let epoch = 0;

/**
 * Returns a function that is false once the vault was locked. Create it before awaiting and check afterwards, so that a
 * late answer shows nothing.
 */
export function lockGuard(): () => boolean {
  const epochBefore = epoch;
  return () => epochBefore === epoch;
}

export function clearContent(): void {
  epoch += 1;
  for (const clear of clearers) clear();
}
