import { backend } from "$lib/ipc";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { t } from "$lib/text";

/** Toast after an edit, with Undo to the previous version. */
export function offerUndo(id: string, version: number, text: string): void {
  toasts.undoable(text, t("action.undo"), async () => {
    await backend().restoreVersion(id, version);
    vault.changed();
  });
}
