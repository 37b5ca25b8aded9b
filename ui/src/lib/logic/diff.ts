import { diffWordsWithSpace } from "diff";

export type DiffPart = { kind: "same" | "added" | "removed"; text: string };

const MAX_TOTAL_LENGTH = 200_000;
const MAX_EDITS = 2_000;

/**
 * Compares two texts by words and returns the removed, added and unchanged parts. If the texts are too long or too
 * different, the whole older text counts as removed and the whole newer text as added.
 */
export function wordDiff(older: string, newer: string): DiffPart[] {
  // Limit the number of differences, because the running time grows with the square of that number.
  const changes =
    older.length + newer.length > MAX_TOTAL_LENGTH
      ? undefined
      : diffWordsWithSpace(older, newer, { maxEditLength: MAX_EDITS });
  if (!changes)
    return [
      { kind: "removed", text: older },
      { kind: "added", text: newer },
    ];
  const parts = changes.map(({ added, removed, value }): DiffPart => ({
    kind: added ? "added" : removed ? "removed" : "same",
    text: value,
  }));
  return mergeChanges(parts);
}

/** Merges changes that have only white space between them. The removed words come first, then the added words. */
function mergeChanges(parts: DiffPart[]): DiffPart[] {
  const out: DiffPart[] = [];
  let removed = "";
  let added = "";
  const flush = () => {
    if (removed) out.push({ kind: "removed", text: removed });
    if (added) out.push({ kind: "added", text: added });
    removed = added = "";
  };
  parts.forEach((part, index) => {
    const between =
      part.kind === "same" && part.text.trim() === "" && (removed || added) && parts[index + 1] !== undefined;
    if (part.kind === "same" && !between) {
      flush();
      out.push(part);
      return;
    }
    if (part.kind !== "added") removed += part.text;
    if (part.kind !== "removed") added += part.text;
  });
  flush();
  return out;
}

/** Keeps `words` unchanged words before and after each change. An ellipsis replaces the other unchanged words. */
export function trimDiff(parts: DiffPart[], words = 6): DiffPart[] {
  return parts.map((part, index) => {
    if (part.kind !== "same") return part;
    const pieces = part.text.match(/\S*\s|\S+/gu) ?? [];
    const isFirst = index === 0;
    const isLast = index === parts.length - 1;
    if (pieces.length <= (isFirst || isLast ? words : words * 2) + 1) return part;
    const head = isFirst ? "" : pieces.slice(0, words).join("");
    const tail = isLast ? "" : pieces.slice(-words).join("");
    return { kind: "same", text: `${head}…${tail}` };
  });
}
