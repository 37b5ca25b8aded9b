import { untrack } from "svelte";

let open = $state.raw<readonly HTMLElement[]>([]);

/** The topmost open dialog. Everything outside it is inert. */
export const topmostDialog = (): HTMLElement | null => open.at(-1) ?? null;

/** A Svelte attachment for a dialog, which counts as open while it is mounted. */
export function registerDialog(dialog: HTMLElement): () => void {
  untrack(() => (open = [...open, dialog]));
  return () => (open = open.filter((each) => each !== dialog));
}
