import DOMPurify from "dompurify";
import { Marked, type Token, type Tokens } from "marked";
import { splitFrontMatter } from "./front-matter";
import { codePointCount } from "./text-segments";
import { beginText, markdownExtensions, type CitationToken } from "./markdown-extensions";
import { truncated, oneLine } from "./untrusted-text";

/**
 * A top-level block of a message. Code is rendered by its own component, and all other blocks as sanitised HTML or as
 * plain text.
 */
export type Block =
  { kind: "code"; text: string; language: string } | { kind: "html"; html: string } | { kind: "plain"; text: string };

/** Text beyond one of these limits is shown unformatted, because rendering it would block the window. */
const LIMITS = { text: 100_000, blocks: 500, cells: 3_000, depth: 16, links: 1_000, formulas: 300 };

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // Raw HTML is shown as text.
    html: (token) =>
      token.type === "html" && token.block ? `<p>${escapeHtml(token.text)}</p>` : escapeHtml(token.text),
    // The URL is not in `href`, because the person has to confirm before a link opens.
    link({ href, tokens }) {
      return `<a data-href="${escapeHtml(href)}">${this.parser.parseInline(tokens)}</a>`;
    },
    // Remote pictures are never loaded; their alternative text is shown.
    image: ({ text, href }) =>
      `<span class="no-picture" data-href="${escapeHtml(href)}">${escapeHtml(text || href)}</span>`,
    checkbox: ({ checked }) => `<span class="task">${checked ? "☑ " : "☐ "}</span>`,
  },
});
marked.use(markdownExtensions);

/**
 * The options of DOMPurify. They are one shared object, because DOMPurify rebuilds its lists whenever it gets a new
 * object.
 */
const SANITIZE_OPTIONS = {
  RETURN_DOM_FRAGMENT: true as const,
  ALLOWED_TAGS: [
    ..."a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i li ol p pre s span strong sub sup".split(" "),
    ..."table tbody td th thead tr ul mark".split(" "),
    // The elements of formulas (MathML).
    ..."math mrow mi mn mo ms mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover".split(" "),
    ..."mtable mtr mtd mpadded mphantom menclose mstyle mmultiscripts mprescripts".split(" "),
  ],
  ALLOWED_ATTR: [
    ...["data-href", "class", "start", "align"],
    ..."accent accentunder columnalign depth display displaystyle fence form height largeop linethickness".split(" "),
    ..."lspace mathvariant maxsize minsize movablelimits notation rowspacing rspace scriptlevel separator".split(" "),
    ..."stretchy symmetric voffset width".split(" "),
  ],
  ALLOW_DATA_ATTR: false,
};

function exceedsLimits(top: Token): boolean {
  let cells = 0;
  let links = 0;
  let formulaCount = 0;
  const anyExceeds = (tokens: Token[], depth: number): boolean =>
    depth > LIMITS.depth || tokens.some((token) => exceeds(token, depth));
  const exceeds = (token: Token, depth: number): boolean => {
    if (token.type === "table")
      cells += (token as Tokens.Table).header.length * ((token as Tokens.Table).rows.length + 1);
    if (token.type === "link") links += 1;
    if (token.type === "formula" || token.type === "formulaBlock") formulaCount += 1;
    if (cells > LIMITS.cells || links > LIMITS.links || formulaCount > LIMITS.formulas) return true;
    const { tokens = [], items = [] } = token as { tokens?: Token[]; items?: Token[] };
    return anyExceeds(tokens, depth + 1) || anyExceeds(items, depth + 1);
  };
  return exceeds(top, 0);
}

function parseMarkdown(source: string): Token[] | null {
  if (source.length > LIMITS.text) return null;
  beginText(source);
  try {
    const tokens = marked.lexer(source);
    return tokens.length > LIMITS.blocks ? null : tokens;
  } catch {
    // The parser fails if the text is nested too deeply.
    return null;
  }
}

/** Splits Markdown into blocks. */
export function blocks(source: string): Block[] {
  const tokens = parseMarkdown(source);
  if (!tokens) return [{ kind: "plain", text: source }];
  const out: Block[] = [];
  let run: Token[] = [];
  const flush = () => {
    const html = run.length > 0 ? marked.parser(run) : "";
    if (html.trim() !== "") out.push({ kind: "html", html });
    run = [];
  };
  for (const token of tokens) {
    if (token.type === "code") {
      flush();
      const code = token as Tokens.Code;
      out.push({ kind: "code", text: code.text, language: (code.lang ?? "").split(/\s/)[0] ?? "" });
    } else if (exceedsLimits(token)) {
      flush();
      out.push({ kind: "plain", text: token.raw });
    } else run.push(token);
  }
  flush();
  return out;
}

/** The text of a token without Markdown formatting characters. Characters that may be meant literally stay. */
function plainTextOf(token: Token): string {
  const { raw, type } = token;
  const { tokens } = token as { tokens?: Token[] };
  const innerText = () => (tokens ?? []).map(plainTextOf).join("");
  if (type === "heading" || type === "strong" || type === "em") return innerText();
  if (type === "paragraph" || type === "text") return tokens ? innerText() : raw;
  if (type === "codespan" || type === "code" || type === "escape") return (token as Tokens.Codespan).text;
  if (type === "citation") return (token as CitationToken).name;
  if (type === "footnoteMark") return "";
  // A redaction mark is in brackets like a link, but it must stay as it is.
  if (type === "link") return raw.startsWith("[") && !raw.startsWith("[REDACTED:") ? innerText() : raw;
  if (type === "hr") return "";
  if (type !== "list") return raw;
  const { items, ordered } = token as Tokens.List;
  // Keep the number at the start of an entry, because it may be a year.
  const number = (item: Tokens.ListItem) => (ordered ? (/^\s*\d+\S\s/.exec(item.raw)?.[0] ?? "") : "");
  return items.map((item) => number(item) + item.tokens.map(plainTextOf).join("\n")).join("\n");
}

/** The text without Markdown formatting. Offsets into the source, such as those of hits, do not apply to this text. */
export function plainText(source: string): string {
  if (!/[*_`#+[\\\uE200-\uE202【-]/.test(source)) return source;
  const { body } = splitFrontMatter(source);
  return parseMarkdown(body)?.map(plainTextOf).join("\n").trim() || source;
}

const MARKS = /\*\*|__|^#{1,6} +/gm;

/** Whether a match of `MARKS` is formatting. Marks of bold text are at the edge of a word; in `2**3` they are not. */
function isMark(text: string, index: number, mark: string): boolean {
  if (mark.startsWith("#")) return true;
  const [before, after] = [text[index - 1] ?? " ", text[index + mark.length] ?? " "];
  return (!/\w/.test(before) && /\S/.test(after)) || (/\S/.test(before) && !/\w/.test(after));
}

/** Removes the marks of bold text and headings from a snippet, and moves its ranges (in code points) accordingly. */
export function plainSnippet(
  text: string,
  ranges: readonly (readonly [number, number])[],
): { text: string; ranges: [number, number][] } {
  const cuts = [...text.matchAll(MARKS)]
    .filter(({ 0: mark, index }) => isMark(text, index, mark))
    .map(({ 0: mark, index }) => ({ start: codePointCount(text.slice(0, index)), length: mark.length }));
  const movedOffset = (offset: number) =>
    offset - cuts.reduce((sum, { start, length }) => sum + Math.min(Math.max(offset - start, 0), length), 0);
  const plain = text.replaceAll(MARKS, (mark: string, index: number) => (isMark(text, index, mark) ? "" : mark));
  return { text: plain, ranges: ranges.map(([start, end]) => [movedOffset(start), movedOffset(end)]) };
}

/** Whether a text looks the same with and without formatting, because it consists only of paragraphs. */
export function isPlain(source: string): boolean {
  const [first, ...others] = blocks(source);
  if (!first) return true;
  return others.length === 0 && first.kind !== "code" && (first.kind === "plain" || PLAIN_HTML.test(first.html));
}

/** The text without Markdown formatting on one line. It is cut after `maxLength` UTF-16 code units. */
export function plainLine(text: string, maxLength?: number): string {
  return oneLine(plainText(truncated(text, maxLength)), maxLength);
}

/** Matches HTML that needs no sanitising: only paragraphs and line breaks without attributes, as in most messages. */
const PLAIN_HTML = /^(?:<p>[^<]*(?:<br>[^<]*)*<\/p>\n?)+$/;
/** HTML with more UTF-16 code units than this is always sanitised, without testing it against `PLAIN_HTML`. */
const MAX_PLAIN_HTML = 20_000;

/** Returns HTML as sanitised nodes for the page, which load and run nothing. */
export function safeNodes(html: string): DocumentFragment {
  if (html.length <= MAX_PLAIN_HTML && PLAIN_HTML.test(html)) {
    const template = document.createElement("template");
    template.innerHTML = html;
    return template.content;
  }
  const fragment = DOMPurify.sanitize(html, SANITIZE_OPTIONS);
  for (const link of fragment.querySelectorAll("a[data-href]")) {
    link.setAttribute("role", "link");
    link.setAttribute("tabindex", "0");
  }
  // Put each table and code block into a focusable box, so that a wide one can be scrolled with the keyboard too.
  for (const table of fragment.querySelectorAll("table, pre")) {
    const box = document.createElement("div");
    box.className = "wide";
    box.tabIndex = 0;
    table.replaceWith(box);
    box.append(table);
  }
  return fragment;
}

/** Parses a web or mail address that a browser can open. Returns null for all other addresses. */
export function webAddress(href: string): URL | null {
  try {
    const url = new URL(href);
    return url.protocol === "https:" || url.protocol === "http:" || url.protocol === "mailto:" ? url : null;
  } catch {
    return null;
  }
}
