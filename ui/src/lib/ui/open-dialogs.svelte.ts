import { untrack } from "svelte";

let open = $state.raw<readonly HTMLElement[]>([]);

/** The topmost open dialog. Everything outside it is inert. */
export const topmostDialog = (): HTMLElement | null => open.at(-1) ?? null;

/** Attachment for a dialog: it counts as open while it is mounted. */
export function registerDialog(dialog: HTMLElement): () => void {
  untrack(() => (open = [...open, dialog]));
  return () => (open = open.filter((each) => each !== dialog));
}
