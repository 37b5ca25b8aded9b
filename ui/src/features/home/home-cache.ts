import type { VaultInfo } from "$lib/ipc";
import { onLock } from "$lib/state/lock-cleanup";
import type { Home, Month } from "./data";

/** What was counted for a state of the vault, so that coming back shows it at once. */
type Kept = { info: VaultInfo; home: Home; months: Month[] };

let kept: Kept | null = null;
onLock(() => (kept = null));

export const cacheHome = (next: Kept): void => void (kept = next);

/** What was counted for exactly this state. */
export const cachedHome = (info: VaultInfo | null): Kept | null => (info !== null && kept?.info === info ? kept : null);
