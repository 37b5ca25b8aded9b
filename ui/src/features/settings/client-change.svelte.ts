import type { AiClient, ConnectionChange } from "$lib/ipc";
import { oneLine } from "$lib/logic/untrusted-text";
import { agents } from "$lib/state/agents.svelte";
import { dialogs } from "$lib/state/dialogs.svelte";
import { lockGuard } from "$lib/state/lock-cleanup";
import { session } from "$lib/state/session.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { UiError } from "$lib/state/ui-error";
import { t } from "$lib/text";

/** Previews a change to a client's configuration and makes it. */
export class ClientChange {
  /** The change as it would be made. Null until it is known. */
  preview = $state.raw<ConnectionChange | null>(null);
  problem = $state.raw<UiError | null>(null);
  busy = $state(false);

  /** Asks the backend what connecting or disconnecting the client would change. */
  load(client: AiClient, connect: boolean): void {
    agents.preview(client, connect).then((found) => (this.preview = found), this.#fail);
  }

  /** Makes the change, closes the sheet and says that it is done. */
  async make(change: () => Promise<unknown>, done: "connect.done" | "disconnect.done", title: string): Promise<void> {
    const isUnlocked = lockGuard();
    this.busy = true;
    this.problem = null;
    try {
      await change();
      if (!isUnlocked()) return;
      dialogs.close();
      toasts.show(t(done, { name: oneLine(title) }), { icon: "check" });
    } catch (error) {
      this.#fail(error);
    } finally {
      this.busy = false;
    }
  }

  #fail = (error: unknown): void => {
    session.handleLocked(error);
    this.problem = new UiError(error);
  };
}
