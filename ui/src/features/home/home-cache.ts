import type { VaultInfo } from "$lib/ipc";
import { onLock } from "$lib/state/lock-cleanup";
import type { Home, Month } from "./data";

/** What was counted for a state of the vault, so that coming back shows it at once. */
type CachedHome = { info: VaultInfo; home: Home; months: Month[] };

let cached: CachedHome | null = null;
onLock(() => (cached = null));

export const cacheHome = (next: CachedHome): void => void (cached = next);

/** What was counted for exactly this state. */
export const cachedHome = (info: VaultInfo | null): CachedHome | null =>
  info !== null && cached?.info === info ? cached : null;
