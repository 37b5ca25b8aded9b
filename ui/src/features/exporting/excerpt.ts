/** Maximum number of characters shown of a text, because rendering megabytes would block the window. */
export const EXCERPT_LENGTH = 20_000;

/** The start of a text up to a line end; short texts are returned whole. */
export function excerpt(text: string, most = EXCERPT_LENGTH): string {
  if (text.length <= most) return text;
  const end = text.lastIndexOf("\n", most - 1) + 1;
  // A single long line is cut, but not inside a surrogate pair.
  return end > 0 ? text.slice(0, end) : text.slice(0, most).replace(/[\ud800-\udbff]$/, "");
}
