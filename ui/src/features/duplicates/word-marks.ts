import { wordDiff } from "$lib/logic/diff";
import { truncated } from "$lib/logic/untrusted-text";
import { splitSegments, type TextSegment } from "$lib/logic/text-segments";

/** The start of a text, the only part that is shown and compared. */
export const comparedPart = (text: string): string => truncated(text, 2000);

/** Splits a text into its words and the space and punctuation before and after these words. */
const EDGES = /^([^\p{L}\p{M}\p{N}]*)(.*?)([^\p{L}\p{M}\p{N}]*)$/su;

/** Marks the words of a changed piece of text, but not the space and punctuation around them. */
function markWords(text: string): TextSegment[] {
  const [, before = "", words = "", after = ""] = EDGES.exec(text) ?? [];
  return [before, words, after].flatMap((piece, index): TextSegment[] =>
    piece === "" ? [] : [{ kind: index === 1 ? "mark" : "text", text: piece }],
  );
}

/** Splits `text` into segments, and marks the words that are not in `other`. */
export function markDifferences(text: string, other: string): TextSegment[] {
  return wordDiff(comparedPart(other), comparedPart(text))
    .filter((part) => part.kind !== "removed")
    .flatMap((part): TextSegment[] =>
      part.kind === "added"
        ? splitSegments(part.text).flatMap((piece) => (piece.kind === "bar" ? [piece] : markWords(piece.text)))
        : splitSegments(part.text),
    );
}
