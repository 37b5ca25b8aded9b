import { backend } from "$lib/ipc";
import { previewOf, titleOf } from "$lib/state/untitled";
import { lockGuard, onLock } from "./lock-cleanup";
import { session } from "./session.svelte";

/** A row must be shown for this many milliseconds before it is loaded. Rows that are scrolled past are not loaded. */
const DELAY_MS = 120;

/**
 * The first words of conversations. They are loaded one conversation after another, because lists do not contain them.
 */
class FirstWords {
  #known = $state.raw<Record<string, string>>({});
  #queue: string[] = [];
  #running = false;

  /** The first words of a conversation, shortened to a title. Null until they are loaded. */
  of(id: string): string | null {
    const known = this.preview(id);
    return known === null ? null : titleOf(known);
  }

  /** The first words of a conversation, as many as a row can show. Null until they are loaded. */
  preview(id: string): string | null {
    return this.#known[id] ?? null;
  }

  /**
   * Loads the first words of a conversation after a delay. To cancel, call the returned function once the row is no
   * longer shown.
   */
  request(id: string): () => void {
    if (this.#known[id] !== undefined) return () => undefined;
    const timer = setTimeout(() => {
      if (!this.#queue.includes(id)) this.#queue.push(id);
      void this.#run();
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      this.#queue = this.#queue.filter((each) => each !== id);
    };
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    const isUnlocked = lockGuard();
    for (let id = this.#queue.shift(); id !== undefined && isUnlocked(); id = this.#queue.shift()) {
      try {
        const { messages } = await backend().thread(id);
        if (isUnlocked()) this.#known = { ...this.#known, [id]: previewOf(messages) };
      } catch (error) {
        // Show no error. The row keeps the text for conversations without a title.
        session.handleLocked(error);
      }
    }
    this.#running = false;
  }

  clear(): void {
    this.#known = {};
    this.#queue = [];
  }
}

export const firstWords = new FirstWords();
onLock(() => firstWords.clear());
