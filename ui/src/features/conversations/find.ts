import type { ThreadMessage } from "$lib/ipc";
import { occurrences } from "$lib/logic/markdown";

/** One hit: the message, and the how-manieth place in it. */
export type Found = { id: string; nth: number };

/** Every place of a text in a conversation, all branches, in order. */
export function findAll(messages: readonly ThreadMessage[], text: string): Found[] {
  return messages.flatMap((message) =>
    Array.from({ length: occurrences(message.text, text) }, (_, nth) => ({ id: message.id, nth })),
  );
}
