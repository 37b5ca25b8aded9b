import type { GrantRequest } from "$lib/ipc";

/** Kinds of records that an agent can be allowed to see besides conversations, in the order in which they are shown. */
export const GRANT_KINDS = ["memory", "profile", "fact", "procedure", "todo"] as const;
export const RIGHTS = ["read", "suggest", "export"] as const;
export type Right = (typeof RIGHTS)[number];

/**
 * The initial request, with what most people want: the client may read memories and suggest changes, sees no
 * conversations, and gets sensitive values masked.
 */
export const emptyRequest = (): GrantRequest => ({
  name: "",
  sources: [],
  kinds: [],
  types: [],
  tags: [],
  since: null,
  until: null,
  conversations: false,
  uncovered: false,
  rights: ["read", "suggest"],
  records_per_call: null,
  records_per_day: null,
  expires: null,
});

/** The rights with `right` added or removed, in display order. */
export function withRight(rights: readonly string[], right: Right, on: boolean): string[] {
  const chosenRights = new Set(rights);
  if (on) chosenRights.add(right);
  else chosenRights.delete(right);
  return RIGHTS.filter((each) => chosenRights.has(each));
}

/** The typed number if it is a whole number of at least 1. Null for everything else, which means the usual limit. */
export function parseLimit(typed: string): number | null {
  const number = Number(typed);
  return Number.isInteger(number) && number >= 1 ? number : null;
}
