import { BackendError } from "$lib/ipc";
import { untrack } from "svelte";
import { UiError } from "./ui-error";
import { session } from "./session.svelte";

/**
 * The error that a view shows after the person stopped loading it. Stopping is not a failure, but Retry is offered as
 * well.
 */
export const stoppedByUser = (): UiError =>
  new UiError(new BackendError({ code: "stopped", message: "", details: {} }));

/** Loads the content of a view. An error stays visible until a later attempt succeeds. */
export class Loading {
  problem = $state.raw<UiError | null>(null);
  #reloads = $state(0);
  #run = 0;

  /**
   * Runs `load`. Call this in an effect and return its result, a function that cancels the load, as the effect's
   * cleanup. After `retry` the effect runs again. `isCurrent()` is false once a newer load has begun.
   */
  run(load: (isCurrent: () => boolean) => Promise<void>): () => void {
    void this.#reloads;
    // When a new load begins, remove the message that the previous load was stopped.
    if (untrack(() => this.problem)?.code === "stopped") this.problem = null;
    const run = ++this.#run;
    const isCurrent = () => run === this.#run;
    untrack(() => load(isCurrent)).then(
      () => {
        if (isCurrent()) this.problem = null;
      },
      (error: unknown) => {
        session.handleLocked(error);
        if (isCurrent()) this.problem = new UiError(error);
      },
    );
    return () => {
      if (isCurrent()) this.#run += 1;
    };
  }

  readonly retry = (): void => {
    this.problem = null;
    this.#reloads += 1;
  };

  readonly stop = (): void => {
    this.#run += 1;
    this.problem = stoppedByUser();
  };
}
