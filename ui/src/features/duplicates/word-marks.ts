import { wordDiff } from "$lib/logic/diff";
import { truncated } from "$lib/logic/untrusted-text";
import { splitSegments, type TextSegment } from "$lib/logic/text-segments";

/** The part of a text that is shown and compared. */
export const comparedPart = (text: string): string => truncated(text, 2000);

/** Space and punctuation around the words of a change. */
const EDGES = /^([^\p{L}\p{M}\p{N}]*)(.*?)([^\p{L}\p{M}\p{N}]*)$/su;

/** Marks the words of a text that the other text does not have, but not the space and punctuation around them. */
function markWords(text: string): TextSegment[] {
  const [, before = "", words = "", after = ""] = EDGES.exec(text) ?? [];
  return [before, words, after].flatMap((piece, index): TextSegment[] =>
    piece === "" ? [] : [{ kind: index === 1 ? "mark" : "text", text: piece }],
  );
}

/** The text, with marks at the words that are not in the other text. */
export function markDifferences(text: string, other: string): TextSegment[] {
  return wordDiff(comparedPart(other), comparedPart(text))
    .filter((part) => part.kind !== "removed")
    .flatMap((part): TextSegment[] =>
      part.kind === "added"
        ? splitSegments(part.text).flatMap((piece) => (piece.kind === "bar" ? [piece] : markWords(piece.text)))
        : splitSegments(part.text),
    );
}
