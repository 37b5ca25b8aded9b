import { codePointCount } from "$lib/logic/text-segments";

/** How well a name matches the query (0 is best), and the matching ranges in code points. */
export type NameMatch = { rank: number; ranges: [number, number][] };

const LETTER = /[\p{L}\p{N}]/u;

/**
 * Matches a name with the typed words. The name matches if each typed word occurs in the name or is the start of a
 * synonym. Returns null if the name does not match.
 */
export function matchName(name: string, typed: string, synonyms = ""): NameMatch | null {
  const ranges: [number, number][] = [];
  let rank = 0;
  for (const word of typed.toLocaleLowerCase().split(/\s+/).filter(Boolean)) {
    const position = wordPosition(name.toLocaleLowerCase(), word);
    if (position >= 0) {
      const start = codePointCount(name.slice(0, position));
      ranges.push([start, start + codePointCount(word)]);
      rank += position === 0 ? 0 : startsWord(name, position) ? 1 : 2;
    } else if (
      synonyms
        .toLocaleLowerCase()
        .split(/\s+/)
        .some((other) => other.startsWith(word))
    ) {
      rank += 3;
    } else return null;
  }
  return { rank, ranges };
}

/** The position of `word` in the name, preferably at the start of a word of the name. -1 if it does not occur. */
function wordPosition(name: string, word: string): number {
  const first = name.indexOf(word);
  for (let position = first; position >= 0; position = name.indexOf(word, position + 1))
    if (startsWord(name, position)) return position;
  return first;
}

const startsWord = (name: string, position: number): boolean =>
  position === 0 || !LETTER.test(name.charAt(position - 1));

/** The `maxCount` best matches. Matches of equal rank keep their order. */
export function bestMatches<T>(
  all: readonly T[],
  maxCount: number,
  match: (one: T) => NameMatch | null,
): { one: T; match: NameMatch }[] {
  return all
    .flatMap((one) => {
      const found = match(one);
      return found ? [{ one, match: found }] : [];
    })
    .sort((a, b) => a.match.rank - b.match.rank)
    .slice(0, maxCount);
}
