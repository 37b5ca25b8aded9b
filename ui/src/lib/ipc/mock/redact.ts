import type { ListItem, RedactPreview, RedactRequest } from "../backend";
import { sampleThread } from "./thread";

/** Counts how often each value occurs. */
export function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** The preview of a redaction: the number of sample records that it would change, in all and by kind. */
export function redactPlan(
  { id, spans, everywhere }: RedactRequest,
  record: ListItem,
  items: readonly ListItem[],
): RedactPreview {
  const points = [...record.text];
  const words = spans.map((span) => points.slice(span.start, span.end).join("")).filter((each) => each.length > 2);
  const all = [
    ...items.filter((each) => !each.trashed_at),
    ...sampleThread.map((each) => ({ ...each, kind: "message" })),
  ];
  const others = everywhere
    ? all.filter((each) => each.id !== id && words.some((word) => each.text.includes(word)))
    : [];
  return { redacted: others.length + 1, kinds: countBy([record, ...others].map((each) => each.kind)) };
}
