import { backend } from "$lib/ipc";
import { ANY } from "$lib/state/filter";
import { lockGuard } from "$lib/state/lock-cleanup";
import { toasts } from "$lib/state/toasts.svelte";
import { showError } from "$lib/state/trash-actions";
import { vault } from "$lib/state/vault.svelte";
import { t } from "$lib/text";
import { aboutName } from "./types";

/** The value in place of a subject if the person has not decided on one. The suggested subject applies then. */
export const USE_SUGGESTED = "suggested";
/** If more memories than this are changed, Undo is not offered, because their earlier decisions are not read first. */
const MAX_UNDO = 1000;

/** The current decisions about memories: the ids of the memories by their decided subject, or by `USE_SUGGESTED`. */
async function decisionsOn(ids: readonly string[]): Promise<Map<string, string[]>> {
  const filter = { ...ANY, ids: [...ids] };
  const { items } = await backend().list({ filter, sort: null, limit: MAX_UNDO, cursor: null });
  const decisions = new Map<string, string[]>();
  for (const { id, about } of items) {
    const decided = about?.by === "person" ? about.kind : USE_SUGGESTED;
    decisions.set(decided, [...(decisions.get(decided) ?? []), id]);
  }
  return decisions;
}

/**
 * Stores the subject that the person decided on for memories, and offers Undo. `USE_SUGGESTED` removes the decision.
 */
export async function setSubject(ids: readonly string[], about: string): Promise<void> {
  const isUnlocked = lockGuard();
  try {
    const before = ids.length > MAX_UNDO ? null : await decisionsOn(ids);
    await backend().setAbout({ ids: [...ids], about });
    if (!isUnlocked()) return;
    const undo = async () => {
      for (const [decided, memoryIds] of before ?? []) await backend().setAbout({ ids: memoryIds, about: decided });
      vault.changed();
    };
    const text =
      about === USE_SUGGESTED ? t("subject.taken") : t("subject.saved", { n: ids.length, kind: aboutName(about) });
    if (before) toasts.showWithUndo(text, t("action.undo"), undo);
    else toasts.show(text, { icon: "check" });
    vault.changed();
  } catch (error) {
    if (isUnlocked()) showError(error);
  }
}
