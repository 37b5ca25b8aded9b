import { backend } from "$lib/ipc";
import { t } from "$lib/text";
import { session } from "./session.svelte";
import { toasts } from "./toasts.svelte";
import { vault } from "./vault.svelte";

/** Reversible, so without asking: to the Trash, with a way back. */
export async function moveToTrash(ids: string[], what: string | null = null): Promise<void> {
  try {
    const done = await backend().trash(ids);
    const text = what ? t("trash.movedOne", { text: what }) : t("trash.moved", { n: done.ids.length });
    toasts.undoable(text, t("action.undo"), () => putBack(done.ids), "trash");
    vault.changed();
  } catch (error) {
    failed(error);
  }
}

export async function putBack(ids: string[]): Promise<void> {
  try {
    const done = await backend().restore(ids);
    toasts.show(t("trash.putBack", { n: done.ids.length }), { icon: "check" });
    vault.changed();
  } catch (error) {
    failed(error);
  }
}

/** Say what went wrong where there is no better place for it. */
export function failed(error: unknown): void {
  session.refused(error);
  toasts.show(error instanceof Error ? error.message : String(error), { icon: "alert" });
}
