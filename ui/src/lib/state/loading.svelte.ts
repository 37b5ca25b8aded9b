import { BackendError } from "$lib/ipc";
import { untrack } from "svelte";
import { UiError } from "./ui-error";
import { session } from "./session.svelte";

/** Loading that the person stopped: not wrong, and asked for again with the same button as what failed. */
export const stoppedByUser = (): UiError =>
  new UiError(new BackendError({ code: "stopped", message: "", details: {} }));

/** What a view loads before it shows something. What was refused stays said until it is asked for again. */
export class Loading {
  problem = $state.raw<UiError | null>(null);
  #reloads = $state(0);
  #run = 0;

  /** In an effect: asks now, and once more after `again`. Answers how to give up. `still`: whether anybody waits for it. */
  run(load: (isCurrent: () => boolean) => Promise<void>): () => void {
    void this.#reloads;
    // What was stopped is over when something else is asked for.
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
