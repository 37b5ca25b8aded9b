/**
 * Milliseconds that the window waits after the rows of a search arrived before it requests more (counts, further rows),
 * because the person may go on typing.
 */
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
