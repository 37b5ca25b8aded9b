import { backend } from "$lib/ipc";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { t } from "$lib/text";

/** Shows a toast after an edit, with an Undo button that restores the version before it. */
export function offerUndo(id: string, version: number, text: string): void {
  toasts.showWithUndo(text, t("action.undo"), async () => {
    await backend().restoreVersion(id, version);
    vault.changed();
  });
}
