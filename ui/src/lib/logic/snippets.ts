import { codePointCount } from "./text-segments";

type Found = { title: string | null; text: string; snippet: string | null; highlights: [number, number][] };

/** Number of code points that two lines of a list row show, also in a narrow list. */
const CODE_POINTS_IN_TWO_LINES = 80;
/** Number of code points that one line of a list row shows. */
const CODE_POINTS_IN_ONE_LINE = 36;

/**
 * The row with a snippet that begins where the text begins, if the first hit is then still within the visible lines.
 * The backend cuts the beginning of every text whose hit is not near its start. Returns the same row if the snippet is
 * not from the row's own text, as in conversations.
 */
export function withWholeBeginning<T extends Found>(row: T, singleLine = false): T {
  const { snippet, highlights, text } = row;
  const hitEnd = highlights[0]?.[1];
  if (!snippet?.startsWith("…") || hitEnd === undefined) return row;
  const visibleCount = singleLine || (row.title && text) ? CODE_POINTS_IN_ONE_LINE : CODE_POINTS_IN_TWO_LINES;
  const shownText = snippet.slice(1);
  const excerpt = shownText.endsWith("…") ? shownText.slice(0, -1) : shownText;
  // The backend shows each white-space and control character as a space.
  const offset = text.replaceAll(/[\s\p{Cc}]/gu, " ").indexOf(excerpt);
  if (offset < 0) return row;
  const beginning = text.slice(0, offset);
  const shift = codePointCount(beginning) - 1;
  if (hitEnd + shift > visibleCount) return row;
  return {
    ...row,
    snippet: beginning + shownText,
    highlights: highlights.map(([start, end]): [number, number] => [start + shift, end + shift]),
  };
}
