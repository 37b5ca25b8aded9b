/** The fields at the head of a Markdown file, and the text below them. */
export type FrontMatter = { fields: [name: string, value: string][]; body: string };

const FRONT_MATTER_PATTERN = /^\uFEFF?---[ \t]*\r?\n([\s\S]{0,4000}?)\r?\n---[ \t]*(?:\r?\n|$)/;

/**
 * Separates the front matter at the start of a text from the body. If the front matter contains anything but plain
 * fields and lists, the whole text is returned as the body, so that nothing is hidden.
 */
export function splitFrontMatter(text: string): FrontMatter {
  const noFrontMatter: FrontMatter = { fields: [], body: text };
  const [head, fieldLines] = FRONT_MATTER_PATTERN.exec(text) ?? [];
  if (head === undefined || fieldLines === undefined) return noFrontMatter;
  const fields: [string, string][] = [];
  for (const line of fieldLines.split(/\r?\n/)) {
    if (line.trim() === "") continue;
    const [, name, value] = /^([A-Za-z_][\w .-]{0,60}):(?:[ \t]+(.*))?$/.exec(line) ?? [];
    const [, entry] = /^[ \t]*-[ \t]+(.+)$/.exec(line) ?? [];
    const last = fields.at(-1);
    if (name !== undefined) fields.push([name, plainValue(value ?? "")]);
    else if (entry !== undefined && last) last[1] = [last[1], plainValue(entry)].filter(Boolean).join(", ");
    else return noFrontMatter;
  }
  return fields.length > 0 ? { fields, body: text.slice(head.length).replace(/^(?:[ \t]*\r?\n)+/, "") } : noFrontMatter;
}

/** Removes brackets and quotes from a value: `[a, "b"]` becomes `a, b`. */
function plainValue(value: string): string {
  const unquote = (part: string) => part.trim().replace(/^(["'])(.*)\1$/, "$2");
  const list = /^\[(.*)\]$/.exec(value.trim());
  return list ? (list[1] ?? "").split(",").map(unquote).filter(Boolean).join(", ") : unquote(value);
}
