import { backend } from "$lib/ipc";
import { session } from "$lib/state/session.svelte";

const INTERVAL_MS = 10_000;
let lastReportTime = -INTERVAL_MS;

/**
 * Reports to the backend that the person is active, at most every ten seconds, while a vault is open or being created.
 */
export function reportActivity(): void {
  const now = performance.now();
  if ((session.phase !== "open" && session.phase !== "create") || now - lastReportTime < INTERVAL_MS) return;
  lastReportTime = now;
  void backend()
    .recordInput()
    .catch(() => undefined);
}
