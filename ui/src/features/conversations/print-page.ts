import type { PrintMessage, Thread, ThreadMessage } from "$lib/ipc";
import { assistantStyle } from "$lib/logic/assistants";
import { oneLine } from "$lib/logic/untrusted-text";
import { printRequest, type Printable } from "$lib/state/printing.svelte";
import { firstWordsOf, isUntitled } from "$lib/state/untitled";
import { t } from "$lib/text";
import { dayTime, isoDay } from "$lib/text/format";
import type { Entry, MessageTree } from "./branches";

/** The title of a conversation, or its first words if it has none. */
export function titleOf({ conversation, messages }: Thread): string {
  const { title } = conversation;
  return oneLine((isUntitled(title) && firstWordsOf(messages)) || title || t("conversation.untitled"));
}

/**
 * The shown branch of a conversation as a page. `leaf` is the id of the last message of the branch. Collapsed steps are
 * not on the page, which only gives their number.
 */
export function conversationPage(
  thread: Thread,
  tree: MessageTree,
  leaf: string | null,
  entries: readonly Entry[],
): Printable {
  const { id, source } = thread.conversation;
  const assistant = assistantStyle(source.platform).name;
  const messages = entries.flatMap(({ message }) => (message ? [pageMessage(message, assistant)] : []));
  const steps = entries.reduce((sum, { collapsed }) => sum + collapsed.length, 0);
  const lead = [
    t("reader.messages", { n: messages.length }),
    tree.leaves.length > 1 && leaf
      ? t("reader.branch", { i: tree.leaves.indexOf(leaf) + 1, n: tree.leaves.length })
      : "",
    steps > 0 ? t("print.steps", { n: steps }) : "",
    t("print.masked"),
  ];
  return {
    // The title may contain a sensitive value, so it is not part of the name.
    name: `${t("print.conversation")} ${isoDay()}.html`,
    records: messages.length,
    request: printRequest(titleOf(thread), lead, { conversation: { id, messages } }),
  };
}

function pageMessage(message: ThreadMessage, assistant: string): PrintMessage {
  const { id, role, created_at, model, attachments } = message;
  const files = attachments.map(({ name }) => oneLine(name));
  const details = [dayTime(created_at), model ? oneLine(model, 80) : "", ...files].filter(Boolean);
  return { id, heading: role === "user" ? t("reader.you") : assistant, details };
}
