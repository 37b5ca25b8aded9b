import { UiError } from "./ui-error";
import { backend, type Receipt } from "$lib/ipc";
import { t } from "$lib/text";
import { dialogs } from "./dialogs.svelte";
import { JobProgress } from "./job.svelte";
import { memories, trash } from "./lists.svelte";
import { nav } from "./nav.svelte";
import { allMatchingIds, nextAfterRemoval, type RecordList } from "./records.svelte";
import { lockGuard } from "./lock-cleanup";
import { selection } from "./selection.svelte";
import { session } from "./session.svelte";
import { toasts } from "./toasts.svelte";
import { vault } from "./vault.svelte";

/**
 * Moves records to the Trash without asking, and offers Undo. Returns false if moving failed or the vault was locked
 * meanwhile.
 */
export async function moveToTrash(
  ids: string[],
  name: string | null = null,
  list: RecordList = memories,
): Promise<boolean> {
  const isUnlocked = lockGuard();
  try {
    const done = await backend().trash(ids);
    if (!isUnlocked()) return false;
    const countValues = { n: done.ids.length };
    const text = name
      ? t("trash.movedOne", { text: name })
      : list === memories
        ? t("trash.moved", countValues)
        : t("trash.movedItems", { what: t("many.items", countValues) });
    toasts.showWithUndo(text, t("action.undo"), () => restoreFromTrash(done.ids), "trash");
    vault.changed();
    return true;
  } catch (error) {
    if (isUnlocked()) showError(error);
    return false;
  }
}

/** Moves rows of a list to the Trash and selects the next row. `name`: the name of a single row, for the toast. */
export async function trashFromList(list: RecordList, ids: string[], name: string | null = null): Promise<void> {
  const next = nextAfterRemoval(list.rows, ids, nav.id);
  const [section, id] = [nav.section, nav.id];
  if (!(await moveToTrash(ids, name, list))) return;
  selection.clear();
  // Remove the rows from the list now. Otherwise a search, which opens its first row, could open one of them.
  list.drop(ids);
  // If the person opened another record meanwhile, it stays open.
  if (nav.section === section && (nav.id === id || ids.includes(nav.id ?? ""))) nav.choose(next);
}

export async function restoreFromTrash(ids: string[]): Promise<void> {
  const isUnlocked = lockGuard();
  try {
    const done = await backend().restore(ids);
    if (!isUnlocked()) return;
    toasts.show(t("trash.putBack", { n: done.ids.length }), { icon: "check" });
    vault.changed();
  } catch (error) {
    if (isUnlocked()) showError(error);
  }
}

/**
 * Tries again to clean the places where cleaning failed according to a receipt. Returns null if the vault was locked
 * meanwhile.
 */
export async function retryCleanup(id: string, job = new JobProgress()): Promise<Receipt | null> {
  const isUnlocked = lockGuard();
  const receipt = await backend().retryCleanup(job.id, id, job.listen);
  if (!isUnlocked()) return null;
  vault.changed();
  return receipt;
}

/** Opens the erase dialog for everything in the Trash. */
export async function emptyTrash(): Promise<void> {
  const isUnlocked = lockGuard();
  try {
    const ids = await allMatchingIds(backend(), trash.filter, "");
    if (isUnlocked()) dialogs.show({ kind: "erase", ids });
  } catch (error) {
    if (isUnlocked()) showError(error);
  }
}

/** Shows an error as a toast, for actions that have no other place for it. */
export function showError(error: unknown): void {
  session.handleLocked(error);
  toasts.show(new UiError(error).text, { icon: "alert" });
}
