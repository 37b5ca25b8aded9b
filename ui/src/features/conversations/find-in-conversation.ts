import type { ThreadMessage } from "$lib/ipc";
import { countIn, textRuns } from "$lib/logic/hits";
import { blocks, type Block } from "$lib/logic/markdown";
import { isCollapsed, isStep, stepsOf } from "./branches";

/** One hit: the message, and the how-manieth place in it. */
export type MessageHit = { id: string; nth: number };

/** The pieces that a message is shown in. */
export function segmentsOf(text: string, code: boolean): Block[] {
  return code ? [{ kind: "code", text, language: "" }] : blocks(text);
}

/** What was read of a message once is not read again for the next letter. */
const read = new WeakMap<ThreadMessage, string[]>();

function runsIn(message: ThreadMessage): string[] {
  const known = read.get(message);
  if (known) return known;
  const pieces: Block[] =
    isCollapsed(message) || isStep(message)
      ? [{ kind: "plain", text: message.text }]
      : segmentsOf(message.text, message.content_type === "code");
  const runs = pieces.flatMap(textRuns);
  read.set(message, runs);
  return runs;
}

/** Milliseconds for which the window waits for us at a time. */
const SLICE = 12;

/**
 * Every place of a text in a conversation as it is shown, all branches, in order. Null when it was given up. Asked for
 * nothing it reads ahead, so that the first letter is answered at once.
 */
export async function findAll(
  messages: readonly ThreadMessage[],
  text: string,
  signal: AbortSignal,
): Promise<MessageHit[] | null> {
  const all: MessageHit[] = [];
  let since = performance.now();
  for (const message of messages) {
    // As they are shown: what was done for a message stands before it.
    for (const each of [...stepsOf(message), message]) {
      const n = countIn(runsIn(each), text);
      for (let nth = 0; nth < n; nth += 1) all.push({ id: each.id, nth });
    }
    if (performance.now() - since < SLICE) continue;
    await new Promise((done) => setTimeout(done));
    if (signal.aborted) return null;
    since = performance.now();
  }
  return all;
}
