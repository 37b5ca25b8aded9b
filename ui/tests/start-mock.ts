import { useBackend } from "$lib/ipc";
import { mockBackend, type MockOptions } from "$lib/ipc/mock";
import { clearContent } from "$lib/state/lock-cleanup";
import { session } from "$lib/state/session.svelte";

/** The sample backend as tests use it. */
export type Mock = ReturnType<typeof mockBackend>;

/** Installs the sample backend without rendering anything. The vault is open unless `options` has `open: false`. */
export async function start(options: MockOptions = {}): Promise<Mock> {
  clearContent();
  const mock = mockBackend({ open: true, ...options });
  useBackend(mock);
  session.phase = "starting";
  const state = await mock.sessionState();
  if (state.open) session.opened(state);
  return mock;
}
