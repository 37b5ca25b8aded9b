import { codeOf } from "$lib/ipc";
import { JobProgress } from "./job.svelte";
import { stoppedByUser } from "./loading.svelte";
import { lockGuard } from "./lock-cleanup";
import { session } from "./session.svelte";
import { UiError } from "./ui-error";
import { vault } from "./vault.svelte";

/** Base class for the result of a backend job that searches the vault. The result is loaded once per revision. */
export abstract class JobResult {
  failed = $state.raw<UiError | null>(null);
  /** The running job. */
  job = $state.raw<JobProgress | null>(null);
  #loadedRevision = -1;

  /** Whether an earlier load has returned a result, which stays visible during the next load. */
  protected abstract get hasResult(): boolean;

  /** Increases when data that the job reads has changed. */
  protected get revision(): number {
    return vault.revision;
  }

  /** Runs the job and stores its result, unless `isCurrent()` is false by then. */
  protected abstract run(job: JobProgress, isCurrent: () => boolean): Promise<void>;

  async load(): Promise<void> {
    const { revision } = this;
    if (this.#loadedRevision === revision) return;
    this.#loadedRevision = revision;
    this.job?.cancelSilently();
    const isUnlocked = lockGuard();
    const job = (this.job = new JobProgress());
    const isCurrent = () => isUnlocked() && job === this.job;
    if (!this.hasResult) this.failed = null;
    try {
      await this.run(job, isCurrent);
      if (!isCurrent()) return;
      this.failed = null;
      this.job = null;
    } catch (error) {
      session.handleLocked(error);
      if (!isCurrent()) return;
      this.#loadedRevision = -1;
      this.job = null;
      if (codeOf(error) !== "cancelled") this.failed = new UiError(error);
    }
  }

  /** Cancels the job and shows that the person stopped it. */
  readonly stop = (): void => {
    this.#cancel();
    this.failed = stoppedByUser();
  };

  readonly retry = (): void => {
    this.failed = null;
    void this.load();
  };

  /** Cancels the job and clears its error, because the vault was locked. Subclasses also clear their results. */
  clear(): void {
    this.#cancel();
    this.failed = null;
  }

  #cancel(): void {
    this.job?.cancelSilently();
    this.job = null;
    this.#loadedRevision = -1;
  }
}
