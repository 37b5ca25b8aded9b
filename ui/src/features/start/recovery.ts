/** Splits a recovery code into its groups, whatever separators and letter case were typed or pasted. */
export function groupsOf(code: string): string[] {
  const letters = code.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
  return letters.match(/.{1,4}/g) ?? [];
}

/** Normalises a group of a recovery code, so that it can be compared with another one. */
export function normalisedGroup(typed: string): string {
  return typed.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
}

/**
 * Chooses two of the eight groups at random, which the person has to type. Returns their numbers, the lower one first.
 */
export function twoGroups(): [number, number] {
  const random = crypto.getRandomValues(new Uint8Array(2));
  const first = (random[0] ?? 0) % 8;
  const second = (first + 1 + ((random[1] ?? 0) % 7)) % 8;
  return first < second ? [first + 1, second + 1] : [second + 1, first + 1];
}
