import { wordDiff } from "$lib/logic/diff";
import { beginning } from "$lib/logic/untrusted-text";
import { splitParts, type Part } from "$lib/logic/text-segments";

/** As much of a text as is shown and compared. */
export const cut = (text: string): string => beginning(text, 2000);

/** A text with the words marked that another one does not have. */
export function against(text: string, other: string): Part[] {
  return wordDiff(cut(other), cut(text))
    .filter((part) => part.kind !== "removed")
    .flatMap((part): Part[] =>
      part.kind === "added" && part.text.trim() !== ""
        ? splitParts(part.text).map((piece) => (piece.kind === "bar" ? piece : { kind: "mark", text: piece.text }))
        : splitParts(part.text),
    );
}
