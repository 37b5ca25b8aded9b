/** Everything that holds content registers here, so that locking leaves nothing behind. */
const clearers = new Set<() => void>();

export function onLock(clear: () => void): void {
  clearers.add(clear);
}

export function clearContent(): void {
  for (const clear of clearers) clear();
}
