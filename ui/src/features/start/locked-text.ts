import { session } from "$lib/state/session.svelte";
import { t } from "$lib/text";

/** Says when and why the vault was locked. */
export function lockedText(time: string): string {
  if (session.lockedBy === "idle") return t("unlock.lockedAway", { time, n: session.autoLockMinutes });
  if (session.lockedBy === "screen") return t("unlock.lockedScreen", { time });
  if (session.lockedBy === "sleep") return t("unlock.lockedSleep", { time });
  return t("unlock.locked", { time });
}
