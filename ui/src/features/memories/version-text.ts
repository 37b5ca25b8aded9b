import type { VersionInfo } from "$lib/ipc";
import { oneLine } from "$lib/logic/untrusted-text";
import { joinWithCommas, t, word } from "$lib/text";
import { typeName } from "./types";

/** Separates phrases that each begin with a capital letter. */
const SEPARATOR = " · ";

const tagList = (tags: readonly string[]): string => joinWithCommas(tags.map((tag) => `#${oneLine(tag)}`));

/**
 * Says how a version came about, in a separate phrase: `Edited by you`, `Tagged #garden`. `before` is the previous
 * version, or undefined for the first version. If only tags, type or title changed, the phrase names these changes.
 */
export function versionText(version: VersionInfo, before: VersionInfo | undefined): string {
  if (!before) return version.cause === "import" ? t("history.first") : word("cause", version.cause);
  if (version.cause !== "edit" || version.text !== before.text) return word("cause", version.cause);
  const added = version.tags.filter((tag) => !before.tags.includes(tag));
  const removed = before.tags.filter((tag) => !version.tags.includes(tag));
  const changes = [
    added.length > 0 ? t("history.tagged", { tags: tagList(added) }) : null,
    removed.length > 0 ? t("history.untagged", { tags: tagList(removed) }) : null,
    version.type !== before.type ? t("history.typed", { type: typeName(version.type, true) }) : null,
    version.title !== before.title ? t("history.titled") : null,
  ].filter((change) => change !== null);
  return changes.length > 0 ? changes.join(SEPARATOR) : word("cause", version.cause);
}
