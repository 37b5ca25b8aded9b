import { backend, type VaultInfo } from "$lib/ipc";
import { onLock } from "./scope";
import { session } from "./session.svelte";

/** What is in the open vault, and a number that moves whenever something in it changed. */
class Vault {
  info = $state<VaultInfo | null>(null);
  revision = $state(0);

  async refresh(): Promise<void> {
    try {
      const info = await backend().vaultInfo();
      if (session.phase === "open") this.info = info;
    } catch (error) {
      session.refused(error);
    }
  }

  /** Something was changed: lists and numbers load again. */
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
    this.info = null;
  }
}

export const vault = new Vault();
onLock(() => vault.clear());
