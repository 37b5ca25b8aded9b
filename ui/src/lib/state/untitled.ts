import type { ThreadMessage } from "$lib/ipc";
import { plainLine } from "$lib/logic/markdown";

/** Matches the placeholder titles that assistants give to new conversations. */
const GENERIC_TITLE = /^(?:new (?:chat|conversation)|untitled(?: (?:chat|conversation))?)$/i;
const MAX_TITLE_LENGTH = 80;
/** The largest number of characters in a preview. Two lines of a list row have room for fewer. */
const MAX_PREVIEW_LENGTH = 200;

/** Whether a title is empty or a placeholder, so that the first words of the conversation are shown instead. */
export const isUntitled = (title: string | null): boolean => !title?.trim() || GENERIC_TITLE.test(title.trim());

/** Shortens a text to a title on one line. */
export const titleOf = (text: string): string => plainLine(text, MAX_TITLE_LENGTH).trim();

/** The person's first words in a conversation, or else the assistant's, as a title. Empty if there are none. */
export const firstWordsOf = (messages: readonly ThreadMessage[]): string => titleOf(previewOf(messages));

/** The person's first words in a conversation, or else the assistant's, as many as a list row can show. */
export function previewOf(messages: readonly ThreadMessage[]): string {
  const visibleMessages = messages.filter(
    ({ hidden, role, text }) => !hidden && (role === "user" || role === "assistant") && text.trim() !== "",
  );
  const firstMessage = visibleMessages.find(({ role }) => role === "user") ?? visibleMessages[0];
  return plainLine(firstMessage?.text ?? "", MAX_PREVIEW_LENGTH).trim();
}
