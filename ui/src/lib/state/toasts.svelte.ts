import type { Warning } from "$lib/ipc";
import { hasText, t } from "$lib/text";
import { onLock } from "./lock-cleanup";

export type Toast = {
  id: number;
  text: string;
  icon?: "trash" | "check" | "alert" | "import" | undefined;
  /** Whether the toast is a warning: the change was made, but a step after the change failed. */
  warning?: boolean | undefined;
  action?: { label: string; run: () => void | Promise<void>; undo: boolean } | undefined;
};

/** The text of a warning, chosen by its code. Some texts name the place or the number of what the warning is about. */
function warningText({ code, place, count }: Warning): string {
  const key = `warning.${code}`;
  return hasText(key) ? t(key, { place, n: count }) : t("warning.other");
}

/** Shows one toast at a time, and stores the last action that Ctrl Z can undo. */
class Toasts {
  current = $state<Toast | null>(null);
  #nextId = 1;
  /** Texts of warnings that wait until the current toast is gone. */
  #waiting: string[] = [];
  #undo = $state.raw<(() => void | Promise<void>) | null>(null);

  get canUndo(): boolean {
    return this.#undo !== null;
  }

  show(text: string, options: Omit<Toast, "id" | "text"> = {}): void {
    // A warning about a change may be shown before the toast about the change. That toast then replaces the warning, so
    // show the warning again afterwards.
    if (this.current?.warning) this.#waiting.unshift(this.current.text);
    this.current = { id: this.#nextId++, text, ...options };
    if (options.action?.undo) this.#undo = options.action.run;
  }

  /** Shows a toast that says what was done and has an Undo button. */
  showWithUndo(text: string, label: string, undo: () => void | Promise<void>, icon: Toast["icon"] = "check"): void {
    this.show(text, { icon, action: { label, run: undo, undo: true } });
  }

  /** Shows warnings about a change that was made: at once, or after the toast that is shown now. */
  warn(warnings: Warning[]): void {
    this.#waiting.push(...warnings.map(warningText));
    if (!this.current) this.#showWaiting();
  }

  dismiss(): void {
    this.current = null;
    this.#showWaiting();
  }

  #showWaiting(): void {
    const text = this.#waiting.shift();
    if (text !== undefined) this.show(text, { icon: "alert", warning: true });
  }

  async runAction(): Promise<void> {
    const action = this.current?.action;
    this.dismiss();
    if (!action) return;
    if (action.undo) this.#undo = null;
    await action.run();
  }

  async undo(): Promise<boolean> {
    const undo = this.#undo;
    if (!undo) return false;
    this.#undo = null;
    this.dismiss();
    await undo();
    return true;
  }

  clear(): void {
    this.#waiting = [];
    this.current = null;
    this.#undo = null;
  }
}

export const toasts = new Toasts();
onLock(() => toasts.clear());
