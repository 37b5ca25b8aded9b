import type { ThreadMessage } from "$lib/ipc";
import { plainLine } from "$lib/logic/markdown";

/** Names that assistants give to every conversation before it has one of its own. */
const GENERIC_TITLE = /^(?:new (?:chat|conversation)|untitled(?: (?:chat|conversation))?)$/i;
const MAX_TITLE_LENGTH = 80;

/** Whether a title names nothing, so that the first words of the conversation say more. */
export const isUntitled = (title: string | null): boolean => !title?.trim() || GENERIC_TITLE.test(title.trim());

/** The start of a text as a title. */
export const titleOf = (text: string): string => plainLine(text, MAX_TITLE_LENGTH).trim();

/** The first words that the person wrote in a conversation, or else the assistant; empty if there are none. */
export function firstWordsOf(messages: readonly ThreadMessage[]): string {
  const spoken = messages.filter(
    ({ hidden, role, text }) => !hidden && (role === "user" || role === "assistant") && text.trim() !== "",
  );
  return titleOf((spoken.find(({ role }) => role === "user") ?? spoken[0])?.text ?? "");
}
