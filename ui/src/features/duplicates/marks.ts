import { wordDiff } from "$lib/logic/diff";
import { splitParts, type Part } from "$lib/logic/parts";

/** A text with the words marked that another one does not have. */
export function against(text: string, other: string): Part[] {
  return wordDiff(other, text)
    .filter((part) => part.kind !== "removed")
    .flatMap((part): Part[] =>
      part.kind === "added" && part.text.trim() !== ""
        ? splitParts(part.text).map((piece) => (piece.kind === "bar" ? piece : { kind: "mark", text: piece.text }))
        : splitParts(part.text),
    );
}
