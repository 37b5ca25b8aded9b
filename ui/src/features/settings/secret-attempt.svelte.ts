import { codeOf } from "$lib/ipc";
import { session } from "$lib/state/session.svelte";
import { UiError } from "$lib/state/ui-error";

/**
 * The state of an action that needs the current passphrase or recovery code: the typed secret, whether the action is
 * running, and why it failed.
 */
export class SecretAttempt {
  secret = $state("");
  busy = $state(false);
  wrong = $state(false);
  problem = $state.raw<UiError | null>(null);

  async run(action: (secret: string) => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.wrong = false;
    this.problem = null;
    try {
      await action(this.secret);
    } catch (error) {
      session.handleLocked(error);
      this.wrong = codeOf(error) === "wrong_passphrase";
      this.problem = this.wrong ? null : new UiError(error);
    } finally {
      this.busy = false;
    }
  }
}
