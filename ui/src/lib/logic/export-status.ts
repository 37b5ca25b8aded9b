import { t, word } from "$lib/text";
import { assistantStyle } from "./assistants";

/** `new`, `changed`, `gone from ChatGPT`: status in the newest export of the assistant. */
export function exportStatusName(standing: string, source: string): string {
  return standing === "gone" ? t("standing.goneAt", { name: assistantStyle(source).name }) : word("standing", standing);
}

/** The name of a status as a filter option. */
export const exportStatusFilterName = (standing: string): string => word("standingChoice", standing);
