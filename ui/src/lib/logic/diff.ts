import { diffWordsWithSpace } from "diff";

export type DiffPart = { kind: "same" | "added" | "removed"; text: string };

/** Word by word, from the older text to the newer one. */
export function wordDiff(older: string, newer: string): DiffPart[] {
  return diffWordsWithSpace(older, newer).map(({ added, removed, value }) => ({
    kind: added ? "added" : removed ? "removed" : "same",
    text: value,
  }));
}

/** Keep `words` words around each change; what is cut is shown as an ellipsis. */
export function trimDiff(parts: DiffPart[], words = 6): DiffPart[] {
  return parts.map((part, index) => {
    if (part.kind !== "same") return part;
    const pieces = part.text.split(/(?<=\s)/u);
    const first = index === 0;
    const last = index === parts.length - 1;
    if (pieces.length <= (first || last ? words : words * 2) + 1) return part;
    const head = first ? "" : pieces.slice(0, words).join("");
    const tail = last ? "" : pieces.slice(-words).join("");
    return { kind: "same", text: `${head}…${tail}` };
  });
}
