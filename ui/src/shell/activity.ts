import { backend } from "$lib/ipc";
import { session } from "$lib/state/session.svelte";

const EVERY = 10_000;
let last = -EVERY;

/** Tell the backend that somebody is there, at most once in ten seconds. */
export function touched(): void {
  const now = performance.now();
  if (session.phase !== "open" || now - last < EVERY) return;
  last = now;
  void backend()
    .touch()
    .catch(() => undefined);
}
