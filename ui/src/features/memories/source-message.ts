import { isCollapsed } from "$features/conversations/branches";
import { backend, codeOf, type LinkInfo, type ThreadMessage } from "$lib/ipc";

/** The id and the text of a message that the provenance section quotes. */
type Quoted = { id: string; text: string };

/**
 * The message from which a memory was made. `linked` is the message to which the export links, which may be a hidden
 * note of the assistant. `own` is the person's message that led to it, or null if there is none.
 */
export type SourceMessage = { linked: Quoted; own: Quoted | null };

const quote = ({ id, text }: ThreadMessage): Quoted => ({ id, text });

/** The nearest visible message that the person wrote, going up from the message `id`. Null if there is none. */
function nearestOwnMessage(messages: readonly ThreadMessage[], id: string): Quoted | null {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const visited = new Set<string>();
  let ancestor = byId.get(id);
  while (ancestor && !visited.has(ancestor.id)) {
    if (ancestor.role === "user" && !isCollapsed(ancestor)) return quote(ancestor);
    visited.add(ancestor.id);
    ancestor = ancestor.parent_id === null ? undefined : byId.get(ancestor.parent_id);
  }
  return null;
}

/**
 * Finds the person's message that led to a linked message. Custom instructions have no such message, because they come
 * from the assistant's settings, not from the message before them.
 */
export async function loadSourceMessage(
  link: LinkInfo,
  conversation: string | null,
  method: string | null,
): Promise<SourceMessage | null> {
  const id = link.id;
  if (id === null) return null;
  const linked = { id, text: link.text ?? "" };
  const messages = conversation === null ? [] : await loadMessages(conversation);
  const found = messages.find((message) => message.id === id);
  if (!found) {
    // No conversation with this message can be shown, so only the role of the message itself is known.
    const { record } = await backend().show(id, false, false);
    return { linked, own: record.role === "user" ? linked : null };
  }
  return { linked: quote(found), own: method === "custom_instructions" ? null : nearestOwnMessage(messages, id) };
}

async function loadMessages(conversation: string): Promise<ThreadMessage[]> {
  try {
    return (await backend().thread(conversation)).messages;
  } catch (error) {
    // Return no messages if the conversation was erased or is in the Trash.
    if (codeOf(error) === "not_found") return [];
    throw error;
  }
}
