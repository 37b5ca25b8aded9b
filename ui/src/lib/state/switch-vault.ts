import { oneLine } from "$lib/logic/untrusted-text";
import { t } from "$lib/text";
import { vaultName } from "$lib/text/format";
import { dialogs } from "./dialogs.svelte";
import { session } from "./session.svelte";
import { hasUnfinishedWork } from "./unfinished-work";

/**
 * Locks the open vault so that another vault, named `other`, can be opened. Asks first if locking would discard
 * unfinished work. Returns false if the person wants to stay.
 */
async function leaveVault(other: string): Promise<boolean> {
  if (session.phase !== "open") return true;
  if (hasUnfinishedWork()) {
    const title = t("switch.title", { name: oneLine(session.name), other: oneLine(other) });
    const agreed = await dialogs.ask({ title, text: t("switch.text"), action: t("switch.confirm") });
    // If the vault was locked meanwhile, there is nothing left to discard.
    if (!agreed && session.phase === "open") return false;
  }
  if (session.phase === "open") await session.lock();
  return true;
}

/** Shows the unlock screen of a vault. The open vault is locked first, because only one vault can be open. */
export async function switchVault(path: string, name = vaultName(path)): Promise<void> {
  if (session.phase === "open" && path === session.path) return;
  if (await leaveVault(name)) session.showUnlock(path, name);
}

/** Opens the demonstration. The open vault is locked first. */
export async function switchToDemonstration(): Promise<void> {
  if (session.phase === "open" && session.demonstration) return;
  if (await leaveVault(t("demo.name"))) await session.openDemonstration();
}
