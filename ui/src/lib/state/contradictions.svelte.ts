import { backend, codeOf, type ListItem, type MemoryEvidence } from "$lib/ipc";
import { groupKey, groupPairs, opponentsOf, type ContradictionGroup } from "./contradiction-groups";
import { t } from "$lib/text";
import { JobProgress } from "./job.svelte";
import { stoppedByUser } from "./loading.svelte";
import { lockGuard, onLock } from "./lock-cleanup";
import { session } from "./session.svelte";
import { toasts } from "./toasts.svelte";
import { moveToTrash } from "./trash-actions";
import { UiError } from "./ui-error";
import { vault } from "./vault.svelte";

/** Memories that contradict each other, and plans whose date has passed. Loaded once per vault revision. */
class Contradictions {
  groups = $state.raw<ContradictionGroup[] | null>(null);
  plans = $state.raw<ListItem[]>([]);
  failed = $state.raw<UiError | null>(null);
  /** Where the shown memories come from, by id. */
  evidence = $state.raw<ReadonlyMap<string, MemoryEvidence>>(new Map());
  #job: JobProgress | null = null;
  #loadedRevision = -1;

  async load(): Promise<void> {
    const revision = vault.revision;
    if (this.#loadedRevision === revision) return;
    this.#loadedRevision = revision;
    this.#job?.cancelSilently();
    const isUnlocked = lockGuard();
    const job = (this.#job = new JobProgress());
    if (this.groups === null) this.failed = null;
    try {
      const { pairs, past_plans } = await backend().contradictions(job.id, job.listen);
      if (!isUnlocked() || job !== this.#job) return;
      this.groups = groupPairs(pairs);
      this.plans = past_plans;
      this.failed = null;
      this.#job = null;
    } catch (error) {
      session.handleLocked(error);
      if (!isUnlocked() || job !== this.#job) return;
      this.#loadedRevision = -1;
      this.#job = null;
      if (codeOf(error) !== "cancelled") this.failed = new UiError(error);
    }
  }

  /** Cancels the comparison. */
  readonly stop = (): void => {
    this.#job?.cancelSilently();
    this.#job = null;
    this.#loadedRevision = -1;
    this.failed = stoppedByUser();
  };

  readonly retry = (): void => {
    this.failed = null;
    void this.load();
  };

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
        // Without evidence this part of the card is not shown.
        if (!isUnlocked() || !isCurrent()) return;
      }
    }
  }

  /** One memory is right: those that it contradicts go to the Trash. Undo restores them and their answers. */
  async settle(group: ContradictionGroup, right: string): Promise<void> {
    const isUnlocked = lockGuard();
    const others = opponentsOf(group, right);
    const { before } = await backend().settle({ right, others });
    if (!isUnlocked()) return;
    this.#drop(group);
    const undo = async () => {
      await backend().restore(others);
      await backend().reviewAnswer(before);
      vault.changed();
    };
    toasts.undoable(t("trash.moved", { n: others.length }), t("action.undo"), undo, "trash");
    vault.changed();
  }

  /** All memories of a group are true: its pairs are not shown again. */
  async keepAll(group: ContradictionGroup): Promise<void> {
    const isUnlocked = lockGuard();
    for (const { a, b } of group.pairs) await backend().keepBoth(a, b, true);
    if (!isUnlocked()) return;
    this.#drop(group);
    const undo = async () => {
      for (const { a, b } of group.pairs) await backend().keepBoth(a, b, false);
      vault.changed();
    };
    toasts.undoable(t("contradictions.kept"), t("action.undo"), undo);
    vault.changed();
  }

  /** Stores whether a plan still holds; an outdated one goes to the Trash. */
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
    toasts.undoable(t("contradictions.planKept"), t("action.undo"), undo);
    vault.changed();
  }

  #drop(group: ContradictionGroup): void {
    this.groups = this.groups?.filter((each) => groupKey(each) !== groupKey(group)) ?? null;
  }

  clear(): void {
    this.#job?.cancelSilently();
    this.#job = null;
    this.#loadedRevision = -1;
    this.groups = null;
    this.plans = [];
    this.failed = null;
    this.evidence = new Map();
  }
}

export const contradictions = new Contradictions();
onLock(() => contradictions.clear());
