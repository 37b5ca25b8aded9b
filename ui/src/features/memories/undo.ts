import { backend } from "$lib/ipc";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { t } from "$lib/text";

/** Say what was changed, and offer the version before it. */
export function offerUndo(id: string, version: number, text: string): void {
  toasts.undoable(text, t("action.undo"), async () => {
    await backend().restoreVersion(id, version);
    vault.changed();
  });
}
