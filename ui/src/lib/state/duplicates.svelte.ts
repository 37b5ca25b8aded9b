import { backend, type DuplicateGroup } from "$lib/ipc";
import { t } from "$lib/text";
import type { JobProgress } from "./job.svelte";
import { JobResult } from "./job-result.svelte";
import { showError, restoreFromTrash } from "./trash-actions";
import { onLock, lockGuard } from "./lock-cleanup";
import { toasts } from "./toasts.svelte";
import { vault } from "./vault.svelte";

/** A key that identifies a group, also after the groups were reloaded. */
export const groupKey = (group: DuplicateGroup): string => group.items.map((item) => item.id).join(" ");

/** Groups of similar memories. Loaded once per vault revision. */
class Duplicates extends JobResult {
  groups = $state.raw<DuplicateGroup[] | null>(null);

  protected get hasResult(): boolean {
    return this.groups !== null;
  }

  protected async run(job: JobProgress, isCurrent: () => boolean): Promise<void> {
    const { groups } = await backend().duplicates(job.id, job.listen);
    if (isCurrent()) this.groups = groups;
  }

  /**
   * Adds the tags of the other records in a group to the record `keep`, and moves these other records to the Trash.
   * Offers Undo for both changes.
   */
  async merge(group: DuplicateGroup, keep: string): Promise<void> {
    const isUnlocked = lockGuard();
    const otherItems = group.items.filter((item) => item.id !== keep);
    const before = group.items.find((item) => item.id === keep)?.tags ?? [];
    const addsTags = otherItems.some((item) => item.tags.some((tag) => !before.includes(tag)));
    const { ids } = await backend().merge(
      keep,
      otherItems.map((item) => item.id),
    );
    if (!isUnlocked()) return;
    this.#drop(group);
    toasts.showWithUndo(
      t("trash.moved", { n: ids.length }),
      t("action.undo"),
      () => undoMerge(ids, keep, addsTags ? before : null),
      "trash",
    );
    vault.changed();
  }

  async keepApart(group: DuplicateGroup): Promise<void> {
    const isUnlocked = lockGuard();
    await backend().keepApart(group.items.map((item) => item.id));
    if (!isUnlocked()) return;
    this.#drop(group);
    toasts.show(t("duplicates.kept", { n: group.items.length }), { icon: "check" });
    vault.changed();
  }

  #drop(group: DuplicateGroup): void {
    this.groups = this.groups?.filter((each) => groupKey(each) !== groupKey(group)) ?? null;
  }

  override clear(): void {
    super.clear();
    this.groups = null;
  }
}

/** Undoes a merge: restores the earlier tags of the kept record, and takes the other records out of the Trash. */
async function undoMerge(ids: string[], keep: string, tags: string[] | null): Promise<void> {
  const isUnlocked = lockGuard();
  // If the kept record is gone, this edit fails, but the other records are still restored.
  if (tags) await backend().edit({ id: keep, text: null, title: null, tags, type: null }).catch(showError);
  if (isUnlocked()) await restoreFromTrash(ids);
}

export const duplicates = new Duplicates();
onLock(() => duplicates.clear());
