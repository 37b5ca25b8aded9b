import { bytes } from "./format";
import { joinSentences, t } from "./index";

/** Limits that the command `mementory import --limit-bytes` raises. */
const RAISED_LIMITS: readonly string[] = [
  "total_bytes",
  "expanded_bytes",
  "element_bytes",
  "line_bytes",
  "tree_bytes",
  "side_file_bytes",
];

/** Limits of the size of one part of an input: an entry, a line, or a file inside an export. */
const PART_LIMITS: readonly string[] = [
  "element_bytes",
  "line_bytes",
  "side_file_bytes",
  "file_bytes",
  "mem_file_bytes",
];

/**
 * What is too large, with the number that the core sent. `figure` is the limit itself, or the size at which reading
 * stopped because it was over the limit. Only for `total_bytes` and `entries` it is always the limit. Null if the core
 * sent no number, as in errors that earlier versions stored.
 */
function limitText(limit: string, figure: number): string | null {
  const size = bytes(figure);
  if (limit === "elements") return t("limit.elements");
  if (!(figure > 0)) return null;
  if (limit === "total_bytes") return t("limit.total", { size });
  if (limit === "entries") return t("limit.entries", { n: figure });
  if (limit === "expanded_bytes") return t("limit.expanded", { size });
  if (limit === "tree_bytes") return t("limit.memory", { size });
  return PART_LIMITS.includes(limit) ? t("limit.part", { size }) : null;
}

/** For an import that was over a limit: what is too large, and what a person can do. */
export function limitAdvice({ limit, figure }: Record<string, string>): string {
  const canBeRaised = limit === undefined || RAISED_LIMITS.includes(limit);
  return joinSentences([limitText(limit ?? "", Number(figure)), t(canBeRaised ? "limit.raise" : "limit.split")]);
}
