import { backend, codeOf } from "$lib/ipc";
import { JobProgress } from "$lib/state/job.svelte";
import { showError } from "$lib/state/trash-actions";
import { lockGuard } from "$lib/state/lock-cleanup";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { t } from "$lib/text";

/** Normalises a tag: no leading hash, no outer spaces. */
export function cleanTag(typed: string): string {
  return typed.trim().replace(/^#+/, "").trim();
}

/** Adds a tag to all records, or to none if that fails. Undo removes the tag where it was added. */
export async function tagAll(ids: string[], tag: string, job: JobProgress): Promise<void> {
  const isUnlocked = lockGuard();
  try {
    const changedIds = (await backend().tag(job.id, { ids, tag, on: true }, job.listen)).ids;
    if (!isUnlocked()) return;
    if (changedIds.length === 0) {
      toasts.show(t("select.taggedBefore", { n: ids.length, tag }), { icon: "check" });
      return;
    }
    toasts.showWithUndo(t("select.tagged", { n: changedIds.length, tag }), t("action.undo"), () =>
      untag(changedIds, tag),
    );
    vault.changed();
  } catch (error) {
    if (!isUnlocked()) return;
    if (codeOf(error) === "cancelled") toasts.show(t("select.tagCancelled"), { icon: "check" });
    else showError(error);
  }
}

async function untag(ids: string[], tag: string): Promise<void> {
  const isUnlocked = lockGuard();
  const job = new JobProgress();
  await backend().tag(job.id, { ids, tag, on: false }, job.listen);
  if (isUnlocked()) vault.changed();
}
