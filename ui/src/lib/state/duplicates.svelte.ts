import { backend, codeOf, type DuplicateGroup } from "$lib/ipc";
import { t } from "$lib/text";
import { JobProgress } from "./job.svelte";
import { Refusal } from "./refusal";
import { putBack } from "./removal";
import { onLock, sinceLock } from "./scope";
import { session } from "./session.svelte";
import { toasts } from "./toasts.svelte";
import { vault } from "./vault.svelte";

/** Memories that say much the same, in groups. Asked for once for each state of the vault. */
class Duplicates {
  groups = $state.raw<DuplicateGroup[] | null>(null);
  failed = $state.raw<Refusal | null>(null);
  #job: JobProgress | null = null;
  #of = -1;

  async load(): Promise<void> {
    const revision = vault.revision;
    if (this.#of === revision) return;
    this.#of = revision;
    this.#job?.drop();
    const open = sinceLock();
    const job = (this.#job = new JobProgress());
    try {
      const { groups } = await backend().duplicates(job.id, job.listen);
      if (!open() || job !== this.#job) return;
      this.groups = groups;
      this.failed = null;
    } catch (error) {
      session.refused(error);
      if (!open() || job !== this.#job) return;
      this.#of = -1;
      if (codeOf(error) !== "cancelled") this.failed = new Refusal(error);
    }
  }

  /** Keep one; the others go to the Trash, with a way back. */
  async merge(group: DuplicateGroup, keep: string): Promise<void> {
    const open = sinceLock();
    const others = group.items.map((item) => item.id).filter((id) => id !== keep);
    const { ids } = await backend().merge(keep, others);
    if (!open()) return;
    this.#drop(group);
    toasts.undoable(t("trash.moved", { n: ids.length }), t("action.undo"), () => putBack(ids), "trash");
    vault.changed();
  }

  async keepApart(group: DuplicateGroup): Promise<void> {
    const open = sinceLock();
    await backend().keepApart(group.items.map((item) => item.id));
    if (!open()) return;
    this.#drop(group);
    toasts.show(t("duplicates.kept", { n: group.items.length }), { icon: "check" });
    vault.changed();
  }

  #drop(group: DuplicateGroup): void {
    this.groups = this.groups?.filter((each) => each !== group) ?? null;
  }

  clear(): void {
    this.#job?.drop();
    this.#job = null;
    this.#of = -1;
    this.groups = null;
    this.failed = null;
  }
}

export const duplicates = new Duplicates();
onLock(() => duplicates.clear());
