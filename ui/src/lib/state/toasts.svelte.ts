import { onLock } from "./lock-cleanup";

export type Toast = {
  id: number;
  text: string;
  icon?: "trash" | "check" | "alert" | "import" | undefined;
  action?: { label: string; run: () => void | Promise<void>; undo: boolean } | undefined;
};

/** One toast at a time, and the last action that Ctrl Z can undo. */
class Toasts {
  current = $state<Toast | null>(null);
  #nextId = 1;
  #undo = $state.raw<(() => void | Promise<void>) | null>(null);

  get canUndo(): boolean {
    return this.#undo !== null;
  }

  show(text: string, options: Omit<Toast, "id" | "text"> = {}): void {
    this.current = { id: this.#nextId++, text, ...options };
    if (options.action?.undo) this.#undo = options.action.run;
  }

  /** Shows a toast about what was done, with an Undo button. */
  undoable(text: string, label: string, undo: () => void | Promise<void>, icon: Toast["icon"] = "check"): void {
    this.show(text, { icon, action: { label, run: undo, undo: true } });
  }

  dismiss(): void {
    this.current = null;
  }

  async run(): Promise<void> {
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
    this.current = null;
    this.#undo = null;
  }
}

export const toasts = new Toasts();
onLock(() => toasts.clear());
