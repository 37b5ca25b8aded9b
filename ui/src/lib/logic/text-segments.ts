/** A segment of displayed text: plain, marked as a hit, or a bar for redacted words. */
export type TextSegment = { kind: "text" | "mark" | "bar"; text: string };

/**
 * Maximum number of marked ranges, and of segments in the text between two ranges. More segments would block the
 * window, so the remaining text becomes one segment.
 */
const MAX_SEGMENTS = 1_000;

const REDACTION_PATTERN = /\[REDACTED:([A-Za-z0-9_-]+)\]/g;

/** Splits `text` at ranges in code points (as the backend counts) and at redaction marks. */
export function splitSegments(text: string, ranges: readonly (readonly [number, number])[] = []): TextSegment[] {
  const units = toUtf16Ranges(text, ranges);
  const segments: TextSegment[] = [];
  let at = 0;
  const addPlain = (from: number, to: number) => {
    if (to > from) segments.push(...redactionSegments(text.slice(from, to)));
  };
  for (const [start, end] of units.slice(0, MAX_SEGMENTS)) {
    if (start < at || end <= start) continue;
    addPlain(at, start);
    segments.push({ kind: "mark", text: text.slice(start, end) });
    at = end;
  }
  addPlain(at, text.length);
  return segments;
}

function redactionSegments(text: string): TextSegment[] {
  const segments: TextSegment[] = [];
  let at = 0;
  for (const match of text.matchAll(REDACTION_PATTERN)) {
    if (segments.length >= MAX_SEGMENTS) break;
    if (match.index > at) segments.push({ kind: "text", text: text.slice(at, match.index) });
    segments.push({ kind: "bar", text: match[1] ?? "" });
    at = match.index + match[0].length;
  }
  if (at < text.length) segments.push({ kind: "text", text: text.slice(at) });
  return segments;
}

/** Converts ranges in code points to sorted ranges in UTF-16 units. */
function toUtf16Ranges(text: string, ranges: readonly (readonly [number, number])[]): [number, number][] {
  if (ranges.length === 0) return [];
  const offsets: number[] = [];
  let unit = 0;
  for (const point of text) {
    offsets.push(unit);
    unit += point.length;
  }
  offsets.push(unit);
  const clamp = (value: number) => offsets[Math.min(Math.max(value, 0), offsets.length - 1)] ?? 0;
  return ranges.map(([start, end]): [number, number] => [clamp(start), clamp(end)]).sort((a, b) => a[0] - b[0]);
}

/**
 * The text on one line, for a toast or a menu: redactions become blocks, and after `maxLength` code points it ends with
 * an ellipsis.
 */
export function shortLine(text: string, maxLength: number): string {
  const plain = text.replaceAll(REDACTION_PATTERN, "█████").replaceAll(/\s+/g, " ").trim();
  const codePoints = [...plain];
  return codePoints.length > maxLength ? `${codePoints.slice(0, maxLength).join("").trimEnd()}…` : plain;
}

/** The length of a text in code points. */
export function codePointCount(text: string): number {
  let n = 0;
  for (const _ of text) n += 1;
  return n;
}

/** The text as an input field stores it, with `\n` instead of Windows line ends. */
export function fieldText(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** An offset in a field's text (UTF-16 units) as an offset in the original text, in code points. */
export function codePointOffset(text: string, offset: number): number {
  let unit = 0;
  for (let n = 0; n < offset; n += 1) unit += text.startsWith("\r\n", unit) ? 2 : 1;
  return codePointCount(text.slice(0, unit));
}

/** The words that the backend marked in a snippet, each once and in lower case. */
export function markedWords(snippet: string, ranges: readonly (readonly [number, number])[]): string[] {
  const words = toUtf16Ranges(snippet, ranges).map(([start, end]) => snippet.slice(start, end).toLocaleLowerCase());
  return [...new Set(words)].filter((word) => word.trim() !== "");
}

/** The words of a query, and the words that the backend marked in a found row. */
export function hitWords(
  query: string,
  row: { snippet: string | null; highlights: readonly (readonly [number, number])[] },
): string[] {
  return [...new Set([...wordsOf(query), ...markedWords(row.snippet ?? "", row.highlights)])];
}

/**
 * The words of a query without punctuation around them. Words that begin with `-` are left out, because a hit must not
 * contain them.
 */
export function wordsOf(query: string): string[] {
  return query
    .split(/\s+/)
    .filter((word) => !word.startsWith("-"))
    .map((word) => word.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""))
    .filter(Boolean);
}

/** Matches a word in a script without spaces, where a word may begin anywhere in a text. */
const SCRIPT_WITHOUT_SPACES =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const ENDS_WITH_LETTER = /[\p{L}\p{N}\p{M}]$/u;

/** Finds where a word of `text` begins with one of `words`. Returns the ranges of these beginnings in code points. */
export function findWords(text: string, words: readonly string[]): [number, number][] {
  if (words.length === 0) return [];
  const pattern = words
    .map(escapeRegExp)
    .sort((a, b) => b.length - a.length)
    .join("|");
  const beginsWord = ({ 0: found, index }: RegExpExecArray) =>
    SCRIPT_WITHOUT_SPACES.test(found) || !ENDS_WITH_LETTER.test(text.slice(Math.max(0, index - 2), index));
  // Count the code points from the previous match, not from the start, because a text may have thousands of matches.
  let [unit, start] = [0, 0];
  return [...text.matchAll(new RegExp(pattern, "giu"))].filter(beginsWord).map((match) => {
    start += codePointCount(text.slice(unit, match.index));
    unit = match.index;
    return [start, start + codePointCount(match[0])];
  });
}

export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/**
 * Returns the span of a selection in the source text, in code points. `selected` is the selected text as displayed, and
 * `before` is the displayed text in front of it. Null if the source does not contain the displayed words.
 */
export function selectionSpan(source: string, selected: string, before: string): { start: number; end: number } | null {
  if (selected.trim() === "") return null;
  let nth = occurrences(before + selected, selected) - 1;
  let at = source.indexOf(selected);
  if (at < 0) return null;
  while (nth > 0) {
    const next = source.indexOf(selected, at + 1);
    if (next < 0) break;
    at = next;
    nth -= 1;
  }
  const start = codePointCount(source.slice(0, at));
  return { start, end: start + codePointCount(selected) };
}

function occurrences(text: string, needle: string): number {
  let n = 0;
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) n += 1;
  return n;
}
