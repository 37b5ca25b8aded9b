import type { EvidenceMessage } from "$lib/ipc";

/** The words of a text, so that texts can be compared that differ only in punctuation, case or spaces. */
const wordsOf = (text: string): string => (text.toLocaleLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(" ");

/**
 * The evidence without the assistant's own note of the memory. The note is no evidence, because it is the memory
 * itself. It stays only if there is no other evidence, because it leads to the conversation.
 */
export function withoutOwnNote(messages: readonly EvidenceMessage[], text: string): readonly EvidenceMessage[] {
  const memory = wordsOf(text);
  const isOwnNote = (message: EvidenceMessage) =>
    message.said_by !== "user" && message.how === "linked" && wordsOf(message.text) === memory;
  const others = messages.filter((message) => !isOwnNote(message));
  return others.length > 0 ? others : messages;
}
