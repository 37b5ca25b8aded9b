import { untrack } from "svelte";

let open = $state.raw<readonly HTMLElement[]>([]);

/** The topmost dialog that is open. While one is, nothing outside of it is heard or reached by the keyboard. */
export const topmostDialog = (): HTMLElement | null => open.at(-1) ?? null;

/** To be attached to a dialog: it is open as long as it is there. */
export function registerDialog(dialog: HTMLElement): () => void {
  untrack(() => (open = [...open, dialog]));
  return () => (open = open.filter((each) => each !== dialog));
}
