import type { Backend } from "./backend";

export * from "./backend";

let current: Backend | undefined;

/** The active backend. Throws if neither `connect` nor `useBackend` ran before. */
export function backend(): Backend {
  if (!current) throw new Error("no backend connected");
  return current;
}

/** Makes `next` the active backend. Tests call this directly. */
export function useBackend(next: Backend): void {
  current = next;
}

/**
 * Chooses the backend: the sample data if it is requested (by `?mock` in development, or by VITE_MOCK=1 in a build),
 * else Tauri.
 */
export async function connect(): Promise<void> {
  if (import.meta.env.VITE_MOCK === "1" || (import.meta.env.DEV && new URLSearchParams(location.search).has("mock"))) {
    const { sampleWindow } = await import("./mock/window");
    useBackend(sampleWindow());
    return;
  }
  const { tauriBackend } = await import("./tauri");
  useBackend(tauriBackend);
}
