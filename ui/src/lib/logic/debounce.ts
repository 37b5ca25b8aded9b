/**
 * After the rows of a search have arrived, the window waits this many milliseconds before it requests counts and
 * further rows, because the person may still be typing.
 */
export const TYPING_PAUSE_MS = 250;

/** Returns a function that calls `run` once it has not been called again for `wait` ms. */
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
