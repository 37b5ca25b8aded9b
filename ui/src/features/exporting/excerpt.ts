/** So many characters of a text are shown: the window does not lay out megabytes. */
export const EXCERPT_LENGTH = 20_000;

/** The beginning of a text, up to the end of a line; all of it when it is short. */
export function excerpt(text: string, most = EXCERPT_LENGTH): string {
  if (text.length <= most) return text;
  const end = text.lastIndexOf("\n", most - 1) + 1;
  // One line without an end: in the middle of it, but not of a sign.
  return end > 0 ? text.slice(0, end) : text.slice(0, most).replace(/[\ud800-\udbff]$/, "");
}
