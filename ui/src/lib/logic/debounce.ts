/** Milliseconds after the rows of a search before the rest follows: the next letter may come. */
export const TYPING_PAUSE = 250;

/** Call `run` once things have been quiet for `wait` ms. */
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
