import { backend, codeOf, type WrittenBackup } from "$lib/ipc";
import { isoDay, joinPath } from "$lib/text/format";
import { JobProgress } from "./job.svelte";
import { UiError } from "./ui-error";
import { onLock, lockGuard } from "./lock-cleanup";
import { session } from "./session.svelte";
import { registerWorkCheck } from "./unfinished-work";

/** The running backup, which continues in the background, or the result of the last one. */
class BackupState {
  job = $state.raw<JobProgress | null>(null);
  result = $state.raw<WrittenBackup | null>(null);
  problem = $state.raw<UiError | null>(null);
  /** When this vault was last backed up, according to its log. Null: never; undefined: not loaded yet. */
  last = $state<string | null | undefined>(undefined);

  async loadLast(): Promise<void> {
    const isUnlocked = lockGuard();
    const { entries } = await backend().audit(false);
    if (isUnlocked()) this.last = entries.findLast((entry) => entry.op === "backup")?.at ?? null;
  }

  /** Asks for a folder and writes a backup of the vault into it. */
  async run(now = new Date()): Promise<void> {
    if (this.job) return;
    const folder = await backend().chooseFolder();
    if (folder === null) return;
    const isUnlocked = lockGuard();
    const twoDigits = (value: number) => String(value).padStart(2, "0");
    const name = `${session.name} ${isoDay(now)} ${twoDigits(now.getHours())}${twoDigits(now.getMinutes())}.mementory`;
    const job = new JobProgress();
    this.job = job;
    this.result = this.problem = null;
    try {
      const result = await backend().backup(job.id, joinPath(folder, name), job.listen);
      if (!isUnlocked()) return;
      this.result = result;
      await this.loadLast();
    } catch (error) {
      session.handleLocked(error);
      if (isUnlocked() && codeOf(error) !== "cancelled") this.problem = new UiError(error);
    } finally {
      if (this.job === job) this.job = null;
    }
  }

  clear(): void {
    this.job = this.result = this.problem = null;
    this.last = undefined;
  }
}

export const backup = new BackupState();
onLock(() => backup.clear());
registerWorkCheck(() => backup.job !== null);
