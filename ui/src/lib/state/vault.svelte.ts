import { backend, type VaultInfo } from "$lib/ipc";
import { stoppedByUser } from "./loading.svelte";
import { UiError } from "./ui-error";
import { onLock } from "./lock-cleanup";
import { session } from "./session.svelte";

/** The counts of the open vault, and a revision number that increases with every change of the vault. */
class Vault {
  info = $state<VaultInfo | null>(null);
  revision = $state(0);
  /** Why the counts could not be loaded. */
  problem = $state.raw<UiError | null>(null);
  #run = 0;

  async refresh(): Promise<void> {
    const run = ++this.#run;
    try {
      const info = await backend().vaultInfo();
      if (session.phase !== "open" || run !== this.#run) return;
      this.info = info;
      this.problem = null;
    } catch (error) {
      session.handleLocked(error);
      if (session.phase === "open" && run === this.#run) this.problem = new UiError(error);
    }
  }

  /** Loads the counts again after an error. */
  readonly retry = (): void => {
    this.problem = null;
    void this.refresh();
  };

  /** Stops waiting for the counts. */
  readonly stop = (): void => {
    this.#run += 1;
    this.problem = stoppedByUser();
  };

  /** Reloads lists and counts. Call this after every change of the vault. */
  changed(): void {
    this.revision += 1;
    void this.refresh();
  }

  count(kind: string): number | null {
    return this.info ? (this.info.counts[kind] ?? 0) : null;
  }

  get empty(): boolean {
    return this.info !== null && Object.values(this.info.counts).every((n) => n === 0);
  }

  clear(): void {
    this.#run += 1;
    this.info = null;
    this.problem = null;
  }
}

export const vault = new Vault();
onLock(() => vault.clear());
