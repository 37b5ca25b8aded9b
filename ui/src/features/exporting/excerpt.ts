/** At most this many UTF-16 code units of a text are shown, because rendering megabytes would block the window. */
export const EXCERPT_LENGTH = 20_000;

/** The start of a text up to a line end; short texts are returned whole. */
export function excerpt(text: string, maxLength = EXCERPT_LENGTH): string {
  if (text.length <= maxLength) return text;
  const end = text.lastIndexOf("\n", maxLength - 1) + 1;
  // A single long line is cut, but not inside a surrogate pair.
  return end > 0 ? text.slice(0, end) : text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "");
}
