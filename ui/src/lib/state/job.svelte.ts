import { backend, type Progress } from "$lib/ipc";

/** The progress and the rate of a long-running job. It can also cancel the job. */
export class JobProgress {
  readonly id = crypto.randomUUID();
  progress = $state.raw<Progress | null>(null);
  cancelling = $state(false);
  /** The increase of `progress.done` per second in the current stage. Null if not yet known. */
  rate = $state<number | null>(null);
  #stage = "";
  /** The time at which the current stage began, and the value of `progress.done` at that time. */
  #stageStart = { at: 0, done: 0 };

  readonly share = $derived(
    this.progress && (this.progress.total ?? 0) > 0
      ? Math.min(1, (this.progress.done ?? 0) / (this.progress.total ?? 1))
      : null,
  );
  /** Estimated seconds until the current stage ends. Null if not yet known. */
  readonly secondsLeft = $derived(
    this.progress && this.rate && this.share !== null
      ? Math.max(0, ((this.progress.total ?? 0) - (this.progress.done ?? 0)) / this.rate)
      : null,
  );

  readonly listen = (progress: Progress): void => {
    const now = performance.now();
    if (progress.stage !== this.#stage) {
      this.#stage = progress.stage;
      this.#stageStart = { at: now, done: progress.done ?? 0 };
      this.rate = null;
    } else if (now - this.#stageStart.at > 500) {
      this.rate = ((progress.done ?? 0) - this.#stageStart.done) / ((now - this.#stageStart.at) / 1000) || null;
    }
    this.progress = progress;
  };

  async cancel(): Promise<void> {
    this.cancelling = true;
    await backend().cancelJob(this.id);
  }

  /** Cancels the job without waiting for the answer of the backend. Does nothing if the job has ended. */
  cancelSilently(): void {
    void this.cancel().catch(() => undefined);
  }
}
