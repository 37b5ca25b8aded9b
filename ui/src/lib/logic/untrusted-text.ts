// Makes untrusted text (names, titles, tags, addresses) safe to show within lines of the interface.

/** Characters that change the writing direction. */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Control characters, lone surrogates and noncharacters. */
// eslint-disable-next-line no-control-regex -- the pattern matches control characters
const INVALID_CHARS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ud800-\udfff\ufffe\uffff]/gu;
const RTL_CHARS = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const MAX_LINE_LENGTH = 300;

const codePointName = (sign: string): string =>
  `[U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`;

/**
 * The first `max` UTF-16 code units of a text and an ellipsis, or the whole text if it is not longer. Used where no
 * more is shown, because processing the whole text would take longer.
 */
export function truncated(text: string, max = MAX_LINE_LENGTH): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max).replace(/[\ud800-\udbff]$/, "")}…`;
}

/**
 * The start of a text as one line. Direction controls and invalid characters are replaced by the names of their code
 * points.
 */
export function oneLine(text: string, max = MAX_LINE_LENGTH): string {
  return truncated(text, max)
    .replace(BIDI_CONTROLS, codePointName)
    .replace(INVALID_CHARS, codePointName)
    .replace(/\s+/g, " ");
}

/** An address in which all characters that are not ASCII are replaced by the names of their code points. */
export function asciiAddress(text: string): string {
  return oneLine(text).replace(/[^\x20-\x7e…]/gu, (sign) => codePointName(sign));
}

/** If the text could change the writing direction of the surrounding sentence, encloses it in an isolate. */
export function bidiIsolated(text: string): string {
  if (!RTL_CHARS.test(text) && text.search(BIDI_CONTROLS) < 0) return text;
  return isClosed(text) && text.startsWith("\u2068")
    ? text
    : `\u2068${isClosed(text) ? text : text.replace(BIDI_CONTROLS, codePointName)}\u2069`;
}

/** Whether all isolates are closed and no other character of the text changes the direction. */
function isClosed(text: string): boolean {
  let depth = 0;
  for (const [sign] of text.matchAll(BIDI_CONTROLS)) {
    if (sign === "\u2068") depth += 1;
    else if (sign === "\u2069" && depth > 0) depth -= 1;
    else return false;
  }
  return depth === 0;
}
