import type { LeftOutFile } from "$lib/state/importing.svelte";
import { oneLine } from "$lib/logic/untrusted-text";
import { joinWithAnd, t } from "$lib/text";
import { fileName } from "$lib/text/format";

/** With more files than this, a line names only the first ones. */
const MAX_NAMES = 5;

/** Why a file is left out, as a clause. */
function reasonOf({ why, problem }: LeftOutFile): string {
  if (why === "no_format") return t("import.leftOut.noFormat");
  if (why === "encrypted") return t("import.leftOut.encrypted");
  if (why === "signature") return t("why.signature_invalid");
  return problem?.reasonClause ?? t("why.unexpected");
}

/** One line for each reason, such as `a.md and b.md: no format was chosen.` */
export function leftOutLines(files: readonly LeftOutFile[]): string[] {
  const namesByReason = new Map<string, string[]>();
  for (const file of files) {
    const reason = reasonOf(file);
    namesByReason.set(reason, [...(namesByReason.get(reason) ?? []), oneLine(fileName(file.path))]);
  }
  return [...namesByReason].map(([reason, names]) => {
    const more = names.length - MAX_NAMES;
    const shown = more > 0 ? [...names.slice(0, MAX_NAMES), t("import.leftOut.more", { n: more })] : names;
    return t("import.leftOut.line", { files: joinWithAnd(shown), reason });
  });
}
