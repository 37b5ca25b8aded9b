import { BackendError } from "$lib/ipc";
import { untrack } from "svelte";
import { UiError } from "./ui-error";
import { session } from "./session.svelte";

/** Loading that the person stopped: not wrong, and asked for again with the same button as what failed. */
export const stoppedByUser = (): UiError => new UiError(new BackendError({ code: "stopped", message: "", details: {} }));

/** What a view loads before it shows something. What was refused stays said until it is asked for again. */
export class Loading {
  problem = $state.raw<UiError | null>(null);
  #asked = $state(0);
  #run = 0;

  /** In an effect: asks now, and once more after `again`. Answers how to give up. `still`: whether anybody waits for it. */
  ask(load: (still: () => boolean) => Promise<void>): () => void {
    void this.#asked;
    // What was stopped is over when something else is asked for.
    if (untrack(() => this.problem)?.code === "stopped") this.problem = null;
    const run = ++this.#run;
    const still = () => run === this.#run;
    untrack(() => load(still)).then(
      () => {
        if (still()) this.problem = null;
      },
      (error: unknown) => {
        session.refused(error);
        if (still()) this.problem = new UiError(error);
      },
    );
    return () => {
      if (still()) this.#run += 1;
    };
  }

  readonly again = (): void => {
    this.problem = null;
    this.#asked += 1;
  };

  readonly stop = (): void => {
    this.#run += 1;
    this.problem = stoppedByUser();
  };
}
