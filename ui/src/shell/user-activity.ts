import { backend } from "$lib/ipc";
import { session } from "$lib/state/session.svelte";

const EVERY = 10_000;
let last = -EVERY;

/** Tell the backend that somebody is there, at most once in ten seconds. Writing down a recovery code takes its time too. */
export function reportActivity(): void {
  const now = performance.now();
  if ((session.phase !== "open" && session.phase !== "create") || now - last < EVERY) return;
  last = now;
  void backend()
    .touch()
    .catch(() => undefined);
}
