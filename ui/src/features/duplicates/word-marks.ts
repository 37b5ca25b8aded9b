import { wordDiff } from "$lib/logic/diff";
import { truncated } from "$lib/logic/untrusted-text";
import { splitSegments, type TextSegment } from "$lib/logic/text-segments";

/** The part of a text that is shown and compared. */
export const comparedPart = (text: string): string => truncated(text, 2000);

/** The text, with marks at the words that are not in the other text. */
export function markDifferences(text: string, other: string): TextSegment[] {
  return wordDiff(comparedPart(other), comparedPart(text))
    .filter((part) => part.kind !== "removed")
    .flatMap((part): TextSegment[] =>
      part.kind === "added" && part.text.trim() !== ""
        ? splitSegments(part.text).map((piece) => (piece.kind === "bar" ? piece : { kind: "mark", text: piece.text }))
        : splitSegments(part.text),
    );
}
