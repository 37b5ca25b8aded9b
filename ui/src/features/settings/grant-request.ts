import type { GrantRequest } from "$lib/ipc";

/** Kinds that an agent can ask for besides conversations, in display order. */
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
  const wanted = new Set(rights);
  if (on) wanted.add(right);
  else wanted.delete(right);
  return RIGHTS.filter((each) => wanted.has(each));
}

/** A number of at least 1; null for everything else, which means the usual limit. */
export function limitOf(typed: string): number | null {
  const number = Number(typed);
  return Number.isInteger(number) && number >= 1 ? number : null;
}
