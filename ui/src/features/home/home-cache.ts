import type { VaultInfo } from "$lib/ipc";
import { onLock } from "$lib/state/lock-cleanup";
import { meaning } from "$lib/state/meaning.svelte";
import type { Home, Months } from "./data";

/**
 * Counts of the home screen, cached so that they are shown at once when the person returns to it. `encoded` is the
 * revision of the vectors, from which the subjects of memories are suggested.
 */
type CachedHome = { info: VaultInfo; encoded: number; home: Home; months: Months };

let cached: CachedHome | null = null;
onLock(() => (cached = null));

export const cacheHome = (next: CachedHome): void => void (cached = next);

/** The cached counts. Null if there are none, or if the vault or its vectors have changed since. */
export const cachedHome = (info: VaultInfo | null): CachedHome | null =>
  info !== null && cached?.info === info && cached.encoded === meaning.revision ? cached : null;
