import type { Filter } from "$lib/ipc";
import { t, word } from "$lib/text";

/** The text for the number of entries in the list: `146 memories`, or for other kinds `Facts: 62`. */
export const listCount = ({ kind }: Filter, n: number): string =>
  kind === "memory" ? t("list.memories", { n }) : t("list.entries", { n, what: word("kinds", kind ?? "") });
