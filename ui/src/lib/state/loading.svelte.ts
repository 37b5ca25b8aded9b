import { BackendError } from "$lib/ipc";
import { untrack } from "svelte";
import { UiError } from "./ui-error";
import { session } from "./session.svelte";

/** Loading that the person stopped. It is no error, but offers the same retry. */
export const stoppedByUser = (): UiError =>
  new UiError(new BackendError({ code: "stopped", message: "", details: {} }));

/** The initial load of a view. An error stays visible until the next attempt. */
export class Loading {
  problem = $state.raw<UiError | null>(null);
  #reloads = $state(0);
  #run = 0;

  /**
   * Runs `load` now and again after `retry`; call it in an effect. Returns the cancel function. `isCurrent` is false
   * once a newer load began.
   */
  run(load: (isCurrent: () => boolean) => Promise<void>): () => void {
    void this.#reloads;
    // A stop applies only to the load it interrupted.
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
