import { backend, codeOf, type LockedBy, type SessionState } from "$lib/ipc";
import { vaultName } from "$lib/text/format";
import { clearContent } from "./lock-cleanup";

export type Phase = "starting" | "welcome" | "create" | "unlock" | "open";

/** Wrong passphrases before a pause, and its milliseconds. */
const TRIES = 5;
const PAUSE = 5000;

/** Which stage the window is at, and the vault it is about. Holds no content and no secret. */
class Session {
  phase = $state<Phase>("starting");
  path = $state<string | null>(null);
  name = $state("");
  vaultId = $state<string | null>(null);
  autoLockMinutes = $state(0);
  lockedAt = $state<number | null>(null);
  /** Null: a refused call told that it is locked, and nobody why. */
  lockedBy = $state<LockedBy | "person" | null>(null);
  /** Locked, but something that was still running has to end first. */
  finishing = $state(false);
  /** Wrong passphrases in a row and the end of the pause after them, for each vault: leaving for another ends neither. */
  #attempts = $state<Record<string, { failures: number; until: number }>>({});

  async start(): Promise<void> {
    const state = await backend().sessionState();
    if (state.open) {
      this.opened(state);
      return;
    }
    const recent = (await backend().recentVaults()).find((vault) => vault.present);
    if (recent) this.showUnlock(recent.path, recent.name);
    else this.phase = "welcome";
  }

  showUnlock(path: string, name = vaultName(path)): void {
    this.path = path;
    this.name = name;
    this.phase = "unlock";
  }

  get failures(): number {
    return this.#attempts[this.path ?? ""]?.failures ?? 0;
  }

  /** When the next passphrase may be tried; a time that is over when there is nothing to wait for. */
  get pausedUntil(): number {
    return this.#attempts[this.path ?? ""]?.until ?? 0;
  }

  /** That passphrase opened nothing: after every fifth there is a pause. */
  wrongPassphrase(now = Date.now()): void {
    const failures = this.failures + 1;
    const until = failures % TRIES === 0 ? now + PAUSE : this.pausedUntil;
    this.#attempts[this.path ?? ""] = { failures, until };
  }

  opened(state: SessionState): void {
    this.path = state.path;
    this.name = state.name ?? vaultName(state.path ?? "");
    this.vaultId = state.vault_id;
    this.autoLockMinutes = state.auto_lock_minutes;
    if (this.path !== null) delete this.#attempts[this.path];
    this.lockedAt = null;
    this.phase = "open";
  }

  /** The person locks. */
  async lock(): Promise<void> {
    this.locked("person");
    // With nothing under way there is nothing to say.
    const slow = setTimeout(() => (this.finishing = true), 200);
    try {
      await backend().lock();
    } finally {
      clearTimeout(slow);
      this.finishing = false;
    }
  }

  /** The vault is locked: nothing of it stays in the window. */
  locked(by: LockedBy | "person" | null): void {
    // The reason may come after the first call that was refused for it.
    if (this.phase === "unlock" && this.lockedAt !== null) this.lockedBy ??= by;
    if (this.phase !== "open") return;
    this.phase = "unlock";
    this.lockedAt = Date.now();
    this.lockedBy = by;
    clearContent();
  }

  /** For refusals of any call: `locked` means that the vault closed behind our back. */
  handleLocked(error: unknown): void {
    if (codeOf(error) === "locked") this.locked(null);
  }
}

export const session = new Session();
