/** Everything that holds content registers here, so that locking leaves nothing behind. */
const clearers = new Set<() => void>();

export function onLock(clear: () => void): void {
  clearers.add(clear);
}

let epoch = 0;

/** Ask before waiting, call after: false once the vault was locked in between, so that a late answer shows nothing. */
export function lockGuard(): () => boolean {
  const mine = epoch;
  return () => mine === epoch;
}

export function clearContent(): void {
  epoch += 1;
  for (const clear of clearers) clear();
}
