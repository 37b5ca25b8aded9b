import { backend, type ListItem, type MemoryEvidence } from "$lib/ipc";
import { groupKey, groupsOf, opponentsOf, type ContradictingMemories } from "./contradiction-groups";
import { t } from "$lib/text";
import type { JobProgress } from "./job.svelte";
import { JobResult } from "./job-result.svelte";
import { lockGuard, onLock } from "./lock-cleanup";
import { meaning } from "./meaning.svelte";
import { session } from "./session.svelte";
import { toasts } from "./toasts.svelte";
import { moveToTrash } from "./trash-actions";
import { vault } from "./vault.svelte";

/** Memories that contradict each other, and plans whose date has passed. */
class Contradictions extends JobResult {
  groups = $state.raw<ContradictingMemories[] | null>(null);
  plans = $state.raw<ListItem[]>([]);
  /** Whether the person asked to see the plans, so that their list is scrolled into view. */
  plansWanted = $state(false);
  /** The evidence for the memories that are shown, by id. */
  evidence = $state.raw<ReadonlyMap<string, MemoryEvidence>>(new Map());

  /**
   * Includes the revision of the vectors, because some contradictions are found by vectors. After memories are encoded,
   * the search is therefore repeated.
   */
  protected override get revision(): number {
    return vault.revision + meaning.revision;
  }

  protected get hasResult(): boolean {
    return this.groups !== null;
  }

  protected async run(job: JobProgress, isCurrent: () => boolean): Promise<void> {
    const found = await backend().contradictions(job.id, job.listen);
    if (!isCurrent()) return;
    this.groups = groupsOf(found);
    this.plans = found.past_plans;
  }

  /** Loads the evidence of memories one after the other, because each takes a search. */
  async loadEvidence(ids: readonly string[], isCurrent: () => boolean): Promise<void> {
    const isUnlocked = lockGuard();
    for (const id of ids) {
      if (this.evidence.has(id)) continue;
      try {
        const found = await backend().memoryEvidence(id);
        if (!isUnlocked() || !isCurrent()) return;
        this.evidence = new Map([...this.evidence, [id, found]]);
      } catch (error) {
        session.handleLocked(error);
        // Show no error, because only the evidence is then missing from the card.
        if (!isUnlocked() || !isCurrent()) return;
      }
    }
  }

  /**
   * Stores that the memory `right` is true, and moves all memories that contradict it to the Trash. Offers Undo for
   * both changes.
   */
  async settle(group: ContradictingMemories, right: string): Promise<void> {
    const isUnlocked = lockGuard();
    const others = opponentsOf(group, right);
    const { before } = await backend().resolveContradiction({ right, others });
    if (!isUnlocked()) return;
    this.#drop(group);
    const undo = async () => {
      await backend().restore(others);
      await backend().reviewAnswer(before);
      vault.changed();
    };
    toasts.showWithUndo(t("trash.moved", { n: others.length }), t("action.undo"), undo, "trash");
    vault.changed();
  }

  /** Stores that all memories of a group are true, so that its pairs are not shown again. Offers Undo. */
  async keepAll(group: ContradictingMemories): Promise<void> {
    const isUnlocked = lockGuard();
    for (const { a, b } of group.pairs) await backend().keepBoth(a, b, true);
    if (!isUnlocked()) return;
    this.#drop(group);
    const undo = async () => {
      for (const { a, b } of group.pairs) await backend().keepBoth(a, b, false);
      vault.changed();
    };
    toasts.showWithUndo(t("contradictions.kept"), t("action.undo"), undo);
    vault.changed();
  }

  /** Stores whether a plan is still valid, and moves an outdated plan to the Trash. Offers Undo. */
  async answerPlan({ id }: ListItem, answer: "true" | "outdated"): Promise<void> {
    const isUnlocked = lockGuard();
    await backend().reviewAnswer([{ id, answer }]);
    if (!isUnlocked()) return;
    this.plans = this.plans.filter((plan) => plan.id !== id);
    if (answer === "outdated") {
      await moveToTrash([id]);
      return;
    }
    const undo = async () => {
      await backend().reviewAnswer([{ id, answer: "none" }]);
      vault.changed();
    };
    toasts.showWithUndo(t("contradictions.planKept"), t("action.undo"), undo);
    vault.changed();
  }

  #drop(group: ContradictingMemories): void {
    this.groups = this.groups?.filter((each) => groupKey(each) !== groupKey(group)) ?? null;
  }

  override clear(): void {
    super.clear();
    this.groups = null;
    this.plans = [];
    this.plansWanted = false;
    this.evidence = new Map();
  }
}

export const contradictions = new Contradictions();
onLock(() => contradictions.clear());
