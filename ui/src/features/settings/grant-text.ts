import type { ConnectedProgram, GrantInfo } from "$lib/ipc";
import { assistantStyle } from "$lib/logic/assistants";
import { oneLine } from "$lib/logic/untrusted-text";
import { joinSentences, joinWithAnd, joinWithCommas, t, word } from "$lib/text";
import { day } from "$lib/text/format";

/** A text that says what a grant allows. */
export function grantSummary(grant: GrantInfo): string {
  const rights = joinWithAnd(grant.rights.map((right) => word("right", right)));
  const names = (values: string[]) => joinWithAnd(values.map((each) => oneLine(each, 40)));
  const restrictions = joinWithCommas([
    grant.sources.length > 0 ? joinWithAnd(grant.sources.map((each) => assistantStyle(each).name)) : null,
    grant.kinds.length > 0 ? joinWithAnd(grant.kinds.map((each) => word("kind", each))) : null,
    grant.types.length > 0 ? joinWithAnd(grant.types.map((each) => word("type", each))) : null,
    grant.tags.length > 0 ? names(grant.tags.map((tag) => `#${tag}`)) : null,
    grant.since ? t("grant.since", { day: day(grant.since) }) : null,
    grant.until ? t("grant.until", { day: day(grant.until) }) : null,
  ]);
  const reads = grant.conversations ? t("grant.withConversations") : t("grant.memoriesOnly");
  return joinSentences([
    t("grant.rights", { rights }),
    grant.rights.includes("read") ? reads : null,
    restrictions ? t("grant.only", { what: restrictions }) : null,
    grant.rights.includes("read") && !grant.covered ? t("grant.uncovered") : null,
    grant.expires_at ? t("grant.ends", { day: day(grant.expires_at) }) : null,
  ]);
}

/** The path of the connected program. If the program only runs a script, the path of the script. */
export const programPath = ({ path, script }: ConnectedProgram): string => script ?? path;
