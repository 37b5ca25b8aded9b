/** A tag as it is kept: no hash in front, no outer spaces. */
export function cleanTag(typed: string): string {
  return typed.trim().replace(/^#+/, "").trim();
}
