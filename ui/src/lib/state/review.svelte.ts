import { backend, type ReviewState } from "$lib/ipc";
import { lockGuard, onLock } from "./lock-cleanup";
import { session } from "./session.svelte";

export const ANSWERS = ["true", "outdated", "wrong", "private"] as const;
export type Answer = (typeof ANSWERS)[number];
/** The choices for a memory, in the order of the keys 1 to 5: the four answers, and skipping the memory. */
export const CHOICES = [...ANSWERS, "skip"] as const;
export type Choice = (typeof CHOICES)[number];

/** The subject or the special category of the memories to review, as in the filter of a list. */
export type Topic = { about: string | null; special: string | null };
const ALL_TOPICS: Topic = { about: null, special: null };

/** One step of the review, which can be undone. `before` is the previous answer for the memory. */
type Step = { id: string; skipped: boolean; before: string | null };

/** The guided review. Answers are stored in the vault. Skipped memories come back at the next visit. */
class Review {
  state = $state.raw<ReviewState | null>(null);
  /** Number of memories without an answer, of all assistants; null until counted. */
  unanswered = $state<number | null>(null);
  /** The assistant whose memories are reviewed. Null for the memories of all assistants. */
  source = $state<string | null>(null);
  topic = $state.raw<Topic>(ALL_TOPICS);
  /** Whether the result is shown instead of the next memory. */
  showsResult = $state(false);
  busy = $state(false);
  #skipped: string[] = [];
  #steps = $state.raw<Step[]>([]);

  readonly item = $derived(this.state?.item ?? null);
  /** Number of answers, including those for memories that were then moved to the Trash. */
  readonly answered = $derived(Object.values(this.state?.answers ?? {}).reduce((sum, n) => sum + n, 0));
  /** Number of memories with or without an answer. */
  readonly total = $derived(this.answered + (this.state?.left ?? 0));
  /** Number of memories that were skipped. It is 0 as long as another memory is left without an answer. */
  readonly skippedAtEnd = $derived(this.item ? 0 : (this.state?.left ?? 0));
  readonly canUndo = $derived(this.#steps.length > 0);

  async load(id: string | null = null): Promise<void> {
    const isUnlocked = lockGuard();
    const scope = { source: this.source, ...this.topic };
    const request = { ...scope, sensitive: false, skip: this.#skipped, id, counts_only: false };
    const state = await backend().reviewNext(request);
    if (isUnlocked()) this.state = state;
  }

  /** Counts the memories that have no answer. Home shows the number. */
  async countLeft(): Promise<void> {
    const isUnlocked = lockGuard();
    try {
      const request = { ...ALL_TOPICS, source: null, sensitive: false, skip: [], id: null, counts_only: true };
      const { left } = await backend().reviewNext(request);
      if (isUnlocked()) this.unanswered = left;
    } catch (error) {
      session.handleLocked(error);
    }
  }

  /** Answers the shown memory, or skips it for now, and shows the next one. */
  async choose(choice: Choice): Promise<void> {
    const item = this.item;
    if (!item || this.busy) return;
    const { id } = item.record;
    await this.#change(async () => {
      const skipped = choice === "skip";
      if (skipped) this.#skipped = [...this.#skipped, id];
      else await backend().reviewAnswer([{ id, answer: choice }]);
      this.#steps = [...this.#steps, { id, skipped, before: item.answer }];
      await this.load();
    });
  }

  /** Undoes the last answer or skip, and shows its memory. */
  async undo(): Promise<void> {
    const step = this.#steps.at(-1);
    if (!step || this.busy) return;
    await this.#change(async () => {
      this.#skipped = this.#skipped.filter((id) => id !== step.id);
      if (!step.skipped) await backend().reviewAnswer([{ id: step.id, answer: step.before ?? "none" }]);
      this.#steps = this.#steps.slice(0, -1);
      this.showsResult = false;
      await this.load(step.id);
    });
  }

  /** Shows the skipped memories again. */
  async resume(): Promise<void> {
    if (this.busy) return;
    await this.#change(async () => {
      this.#skipped = [];
      this.showsResult = false;
      await this.load();
    });
  }

  /** Restricts the review to the memories of one assistant. Null removes the restriction. */
  async chooseSource(source: string | null): Promise<void> {
    this.source = source;
    await this.#restart();
  }

  /** Restricts the review to the memories on one topic. */
  async chooseTopic(topic: Topic): Promise<void> {
    this.topic = topic;
    await this.#restart();
  }

  /** Begins with the memories that are now chosen. Steps before cannot be undone any more. */
  async #restart(): Promise<void> {
    this.#skipped = [];
    this.#steps = [];
    await this.load();
  }

  async #change(change: () => Promise<void>): Promise<void> {
    this.busy = true;
    try {
      await change();
    } finally {
      this.busy = false;
    }
  }

  clear(): void {
    this.state = null;
    this.unanswered = null;
    this.source = null;
    this.topic = ALL_TOPICS;
    this.showsResult = false;
    this.#skipped = [];
    this.#steps = [];
  }
}

export const review = new Review();
onLock(() => review.clear());
