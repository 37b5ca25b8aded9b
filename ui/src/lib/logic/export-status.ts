import { t, word } from "$lib/text";
import { look } from "./assistants";

/** `new`, `changed`, `gone at ChatGPT`: by the newest export of its assistant. */
export function standingName(standing: string, source: string): string {
  return standing === "gone" ? t("standing.goneAt", { name: look(source).name }) : word("standing", standing);
}

/** As a choice of a filter. */
export const standingChoice = (standing: string): string => word("standingChoice", standing);
