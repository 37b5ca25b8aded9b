import { backend, codeOf, type DuplicateGroup } from "$lib/ipc";
import { t } from "$lib/text";
import { JobProgress } from "./job.svelte";
import { stoppedByUser } from "./loading.svelte";
import { UiError } from "./ui-error";
import { showError, restoreFromTrash } from "./trash-actions";
import { onLock, lockGuard } from "./lock-cleanup";
import { session } from "./session.svelte";
import { toasts } from "./toasts.svelte";
import { vault } from "./vault.svelte";

/** The identity of a group across reloads. */
export const groupKey = (group: DuplicateGroup): string => group.items.map((item) => item.id).join(" ");

/** Groups of similar memories. Loaded once per vault revision. */
class Duplicates {
  groups = $state.raw<DuplicateGroup[] | null>(null);
  failed = $state.raw<UiError | null>(null);
  /** The running comparison. */
  job = $state.raw<JobProgress | null>(null);
  #loadedRevision = -1;

  async load(): Promise<void> {
    const revision = vault.revision;
    if (this.#loadedRevision === revision) return;
    this.#loadedRevision = revision;
    this.job?.cancelSilently();
    const isUnlocked = lockGuard();
    const job = (this.job = new JobProgress());
    if (this.groups === null) this.failed = null;
    try {
      const { groups } = await backend().duplicates(job.id, job.listen);
      if (!isUnlocked() || job !== this.job) return;
      this.groups = groups;
      this.failed = null;
      this.job = null;
    } catch (error) {
      session.handleLocked(error);
      if (!isUnlocked() || job !== this.job) return;
      this.#loadedRevision = -1;
      this.job = null;
      if (codeOf(error) !== "cancelled") this.failed = new UiError(error);
    }
  }

  /** Cancels the comparison. */
  readonly stop = (): void => {
    this.job?.cancelSilently();
    this.job = null;
    this.#loadedRevision = -1;
    this.failed = stoppedByUser();
  };

  /** Keeps one record, which receives the tags of the others; those go to the Trash. Undo restores all. */
  async merge(group: DuplicateGroup, keep: string): Promise<void> {
    const isUnlocked = lockGuard();
    const others = group.items.filter((item) => item.id !== keep);
    const before = group.items.find((item) => item.id === keep)?.tags ?? [];
    const addsTags = others.some((item) => item.tags.some((tag) => !before.includes(tag)));
    const { ids } = await backend().merge(
      keep,
      others.map((item) => item.id),
    );
    if (!isUnlocked()) return;
    this.#drop(group);
    toasts.undoable(
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

  clear(): void {
    this.job?.cancelSilently();
    this.job = null;
    this.#loadedRevision = -1;
    this.groups = null;
    this.failed = null;
  }
}

/** Undoes a merge: restores the tags of the kept record and the others from the Trash. */
async function undoMerge(ids: string[], keep: string, tags: string[] | null): Promise<void> {
  const isUnlocked = lockGuard();
  // The kept record may be gone by now; the others are restored anyway.
  if (tags) await backend().edit({ id: keep, text: null, title: null, tags, type: null }).catch(showError);
  if (isUnlocked()) await restoreFromTrash(ids);
}

export const duplicates = new Duplicates();
onLock(() => duplicates.clear());
