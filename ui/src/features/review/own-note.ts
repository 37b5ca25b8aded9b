import type { EvidenceMessage } from "$lib/ipc";

/** Normalises a text, so that texts that differ only in punctuation, case or spaces become the same. */
const comparable = (text: string): string => (text.toLocaleLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(" ");

/**
 * The evidence without the assistant's own note of the memory. The note is no evidence, because it is the memory
 * itself. If there is no other evidence, the note stays, because it leads to the conversation.
 */
export function withoutOwnNote(messages: readonly EvidenceMessage[], text: string): readonly EvidenceMessage[] {
  const memory = comparable(text);
  const isOwnNote = (message: EvidenceMessage) =>
    message.said_by !== "user" && message.how === "linked" && comparable(message.text) === memory;
  const others = messages.filter((message) => !isOwnNote(message));
  return others.length > 0 ? others : messages;
}
