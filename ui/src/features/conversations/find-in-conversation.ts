import type { ThreadMessage } from "$lib/ipc";
import { countMatches, textRuns } from "$lib/logic/hits";
import { blocks, plainLine, plainText, type Block } from "$lib/logic/markdown";
import type { Quote } from "$lib/state/nav.svelte";
import { isCollapsed, isStep, stepsOf } from "./branches";

/** One hit: the id of the message, and the index of the hit among those in the message. */
export type MessageHit = { id: string; nth: number };

/** The text segments in which a message is displayed. */
export function segmentsOf(text: string, code: boolean): Block[] {
  return code ? [{ kind: "code", text, language: "" }] : blocks(text);
}

/** The displayed text of each message as runs. It is cached, so that it is not parsed again after each typed letter. */
const runsByMessage = new WeakMap<ThreadMessage, string[]>();

function runsIn(message: ThreadMessage): string[] {
  const cached = runsByMessage.get(message);
  if (cached) return cached;
  const pieces: Block[] =
    isCollapsed(message) || isStep(message)
      ? [{ kind: "plain", text: message.text }]
      : segmentsOf(message.text, message.content_type === "code");
  const runs = pieces.flatMap(textRuns);
  runsByMessage.set(message, runs);
  return runs;
}

/**
 * A sentence to highlight. `needle` is the displayed text to look for, and `nth` says which of its hits to highlight.
 */
export type QuoteHit = MessageHit & { needle: string };

/** Pieces of a sentence must have at least this length, because shorter ones could occur anywhere in the message. */
const MIN_PIECE_LENGTH = 8;

/**
 * Finds the sentence that a link names in the displayed text of its message. The displayed text has no Markdown marks.
 * If the sentence extends over several lines, its longest piece within a line is found. Null if no piece occurs in the
 * displayed text.
 */
export function locateQuote(message: ThreadMessage, quote: Quote): QuoteHit | null {
  const runs = runsIn(message);
  const pieces = [quote.text.trim(), plainLine(quote.text), ...plainText(quote.text).split("\n")]
    .map((piece) => piece.trim())
    .filter((piece, index) => (index < 2 ? piece !== "" : piece.length >= MIN_PIECE_LENGTH));
  const found = pieces.filter((piece) => countMatches(runs, piece) > 0).sort((a, b) => b.length - a.length);
  const needle = found[0];
  if (needle === undefined) return null;
  const before = [...message.text].slice(0, quote.start).join("");
  const nth = Math.min(countMatches([before], needle), countMatches(runs, needle) - 1);
  return { id: message.id, nth, needle };
}

/** After this many milliseconds of work, the search lets the window handle its events. */
const MAX_BLOCKING_MS = 12;

/**
 * Finds all hits of a text in the displayed messages of all branches, in order. Null if cancelled. If the text is
 * empty, this only fills the cache, so that the hits of the first typed letter are found at once.
 */
export async function findAll(
  messages: readonly ThreadMessage[],
  text: string,
  signal: AbortSignal,
): Promise<MessageHit[] | null> {
  const all: MessageHit[] = [];
  let since = performance.now();
  for (const message of messages) {
    // Search in display order, in which the steps of a message come before its text.
    for (const each of [...stepsOf(message), message]) {
      const n = countMatches(runsIn(each), text);
      for (let nth = 0; nth < n; nth += 1) all.push({ id: each.id, nth });
    }
    if (performance.now() - since < MAX_BLOCKING_MS) continue;
    await new Promise((done) => setTimeout(done));
    if (signal.aborted) return null;
    since = performance.now();
  }
  return all;
}
