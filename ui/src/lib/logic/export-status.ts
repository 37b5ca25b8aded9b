import { t, word } from "$lib/text";
import { assistantStyle } from "./assistants";

/** `new`, `changed`, `gone at ChatGPT`: by the newest export of its assistant. */
export function exportStatusName(standing: string, source: string): string {
  return standing === "gone" ? t("standing.goneAt", { name: assistantStyle(source).name }) : word("standing", standing);
}

/** As a choice of a filter. */
export const exportStatusFilterName = (standing: string): string => word("standingChoice", standing);
