import { backend, codeOf, type LockedBy, type SessionState } from "$lib/ipc";
import { vaultName } from "$lib/text/format";
import { clearContent } from "./lock-cleanup";
import { nav } from "./nav.svelte";

export type Phase = "starting" | "welcome" | "create" | "unlock" | "open";

/** After every five failed attempts in a row, unlocking pauses for five seconds. */
const ATTEMPTS_BEFORE_PAUSE = 5;
const PAUSE_MS = 5000;

/** The phase of the window, and which vault is open. Contains neither records nor secrets. */
class Session {
  phase = $state<Phase>("starting");
  path = $state<string | null>(null);
  name = $state("");
  vaultId = $state<string | null>(null);
  /** Whether the open vault is a demonstration. */
  demonstration = $state(false);
  /** Whether the demonstration on this computer is incomplete or damaged, so that it has to be made again. */
  demonstrationUnusable = $state(false);
  autoLockMinutes = $state(0);
  lockedAt = $state<number | null>(null);
  /** Why the vault was locked. Null if the window knows only from a failed call that the vault is locked. */
  lockedBy = $state<LockedBy | "person" | null>(null);
  /** Whether the window is locked, but the backend still waits for a running job to end. */
  finishing = $state(false);
  /**
   * Maps the path of a vault to the number of failed attempts in a row and the end of the pause. Attempts are counted
   * for each vault, so that switching to another vault and back does not reset the number.
   */
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

  /** When the next attempt is allowed, in milliseconds since 1970. 0 or in the past if there is no pause. */
  get pausedUntil(): number {
    return this.#attempts[this.path ?? ""]?.until ?? 0;
  }

  /** Counts a failed attempt. Every fifth one starts a pause. */
  wrongPassphrase(now = Date.now()): void {
    const failures = this.failures + 1;
    const until = failures % ATTEMPTS_BEFORE_PAUSE === 0 ? now + PAUSE_MS : this.pausedUntil;
    this.#attempts[this.path ?? ""] = { failures, until };
  }

  opened(state: SessionState): void {
    this.path = state.path;
    this.name = state.name ?? vaultName(state.path ?? "");
    // Open Home if another vault was open before, because the section that was open belongs to that vault.
    if (this.vaultId !== null && this.vaultId !== state.vault_id) nav.section = "home";
    this.vaultId = state.vault_id;
    this.demonstration = state.demonstration;
    this.autoLockMinutes = state.auto_lock_minutes;
    if (this.path !== null) delete this.#attempts[this.path];
    this.lockedAt = null;
    this.phase = "open";
  }

  /** Opens the demonstration. If it can't be used, the welcome screen offers to make it again (`remake`). */
  async openDemonstration(remake = false): Promise<void> {
    try {
      this.opened(await backend().openDemonstration(remake));
      this.demonstrationUnusable = false;
    } catch (error) {
      if (codeOf(error) !== "demonstration_unusable") throw error;
      this.demonstrationUnusable = true;
      this.phase = "welcome";
    }
  }

  /** Deletes the open demonstration and goes back to the welcome screen. */
  async deleteDemonstration(withOwnContent = false): Promise<void> {
    await backend().deleteDemonstration(withOwnContent);
    clearContent();
    this.path = null;
    this.demonstration = false;
    this.phase = "welcome";
  }

  /** Locks the vault at the person's request. */
  async lock(): Promise<void> {
    this.locked("person");
    // Locking takes long only if it has to wait for a running job. Show after 200 ms that it waits.
    const slowTimer = setTimeout(() => (this.finishing = true), 200);
    try {
      await backend().lock();
    } finally {
      clearTimeout(slowTimer);
      this.finishing = false;
    }
  }

  /** Called when the vault is locked: clears all content from the window. */
  locked(by: LockedBy | "person" | null): void {
    // If a failed call has already locked the window, the reason arrives only now.
    if (this.phase === "unlock" && this.lockedAt !== null) this.lockedBy ??= by;
    if (this.phase !== "open") return;
    // A demonstration is opened again from the welcome screen, where it needs no passphrase.
    this.phase = this.demonstration ? "welcome" : "unlock";
    this.lockedAt = Date.now();
    this.lockedBy = by;
    clearContent();
  }

  /** Locks the window if the error says that the backend has locked the vault. Call it with every backend error. */
  handleLocked(error: unknown): void {
    if (codeOf(error) === "locked") this.locked(null);
  }
}

export const session = new Session();
