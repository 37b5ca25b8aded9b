import { backend } from "$lib/ipc";
import { JobProgress } from "./job.svelte";
import { lockGuard } from "./lock-cleanup";
import { session } from "./session.svelte";

/** Encodes memories for search by meaning, one job at a time. */
class Meaning {
  /** Increases after memories are encoded, so that lists of similar memories are loaded again. */
  revision = $state(0);
  #running = false;
  #queued = false;

  /** Encodes new and changed memories. The job pauses while the person waits for the window. */
  async encodeInBackground(): Promise<void> {
    if (this.#running) {
      this.#queued = true;
      return;
    }
    const isUnlocked = lockGuard();
    const job = new JobProgress();
    this.#running = true;
    try {
      const done = await backend().encode(job.id, job.listen);
      if (isUnlocked() && done.records > 0) this.revision += 1;
    } catch (error) {
      // No error is shown, because the job runs in the background. Lists of similar memories say what is missing.
      session.handleLocked(error);
    } finally {
      this.#running = false;
    }
    if (this.#queued) {
      this.#queued = false;
      if (isUnlocked()) await this.encodeInBackground();
    }
  }
}

export const meaning = new Meaning();
