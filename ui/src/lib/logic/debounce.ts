/** After the rows of a search, the window waits this many milliseconds before further requests, because another key may
 * follow. */
export const TYPING_PAUSE_MS = 250;

/** Calls `run` after `wait` ms without another call. */
export function debounced<A extends unknown[]>(
  run: (...args: A) => void,
  wait: number,
): { (...args: A): void; cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const call = (...args: A) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...args), wait);
  };
  call.cancel = () => clearTimeout(timer);
  return call;
}
