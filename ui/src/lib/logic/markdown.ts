import DOMPurify from "dompurify";
import { Marked, type Token, type Tokens } from "marked";
import { truncated, oneLine } from "./untrusted-text";

/** A top-level piece of a message: code is shown by its own component, everything else as checked HTML. */
export type Block =
  { kind: "code"; text: string; language: string } | { kind: "html"; html: string } | { kind: "plain"; text: string };

/** Beyond these nobody reads a text as it was laid out, and laying it out would hold up the window: it is shown plain. */
const MOST = { text: 100_000, blocks: 500, cells: 3_000, deep: 16, links: 1_000 };

const escape = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // Raw HTML is text.
    html: (token) => (token.type === "html" && token.block ? `<p>${escape(token.text)}</p>` : escape(token.text)),
    // No address in an attribute that the browser would follow: the reader asks first.
    link({ href, tokens }) {
      return `<a data-href="${escape(href)}">${this.parser.parseInline(tokens)}</a>`;
    },
    // Pictures by address are never loaded; their description stays.
    image: ({ text, href }) => `<span class="no-picture" data-href="${escape(href)}">${escape(text || href)}</span>`,
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

/** One and the same object for every text: of another one, DOMPurify makes its lists anew. */
const ALLOWED = {
  RETURN_DOM_FRAGMENT: true as const,
  ALLOWED_TAGS: [
    ..."a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i li ol p pre s span strong sub sup".split(" "),
    ..."table tbody td th thead tr ul mark".split(" "),
  ],
  ALLOWED_ATTR: ["data-href", "class", "start", "align"],
  ALLOW_DATA_ATTR: false,
};

/** Whether a piece is deeper, or holds more, than is laid out. */
function tooMuch(top: Token): boolean {
  let cells = 0;
  let links = 0;
  const within = (tokens: Token[], deep: number): boolean =>
    deep > MOST.deep || tokens.some((token) => over(token, deep));
  const over = (token: Token, deep: number): boolean => {
    if (token.type === "table")
      cells += (token as Tokens.Table).header.length * ((token as Tokens.Table).rows.length + 1);
    if (token.type === "link") links += 1;
    if (cells > MOST.cells || links > MOST.links) return true;
    const { tokens = [], items = [] } = token as { tokens?: Token[]; items?: Token[] };
    return within(tokens, deep + 1) || within(items, deep + 1);
  };
  return over(top, 0);
}

function lexed(source: string): Token[] | null {
  if (source.length > MOST.text) return null;
  try {
    const tokens = marked.lexer(source);
    return tokens.length > MOST.blocks ? null : tokens;
  } catch {
    // Nested deeper than the parser can follow.
    return null;
  }
}

/** Cut Markdown into blocks. */
export function blocks(source: string): Block[] {
  const tokens = lexed(source);
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
    } else if (tooMuch(token)) {
      flush();
      out.push({ kind: "plain", text: token.raw });
    } else run.push(token);
  }
  flush();
  return out;
}

/** Without the signs that only lay it out; others may be meant. */
function wordsOf(token: Token): string {
  const { raw, type } = token;
  const { tokens } = token as { tokens?: Token[] };
  const inner = () => (tokens ?? []).map(wordsOf).join("");
  if (type === "heading" || type === "strong" || type === "em") return inner();
  if (type === "paragraph" || type === "text") return tokens ? inner() : raw;
  if (type === "codespan" || type === "code" || type === "escape") return (token as Tokens.Codespan).text;
  // What was redacted stands in brackets as well.
  if (type === "link") return raw.startsWith("[") && !raw.startsWith("[REDACTED:") ? inner() : raw;
  if (type === "hr") return "";
  if (type !== "list") return raw;
  const { items, ordered } = token as Tokens.List;
  // A number before an entry may be a year.
  const number = (item: Tokens.ListItem) => (ordered ? (/^\s*\d+\S\s/.exec(item.raw)?.[0] ?? "") : "");
  return items.map((item) => number(item) + item.tokens.map(wordsOf).join("\n")).join("\n");
}

/**
 * The words of a text without the signs of Markdown, for a line that is not laid out. Places in the text (hits, spans)
 * are not places in this.
 */
export function plainText(source: string): string {
  if (!/[*_`#+[\\-]/.test(source)) return source;
  return lexed(source)?.map(wordsOf).join("\n").trim() || source;
}

/** The same on one line. */
export function plainLine(text: string, most?: number): string {
  return oneLine(plainText(truncated(text, most)), most);
}

/** Paragraphs and line breaks without attributes, as nearly all messages are: there is nothing to check in them. */
const PLAIN = /^(?:<p>[^<]*(?:<br>[^<]*)*<\/p>\n?)+$/;
/** Characters up to which that is looked for. */
const PLAIN_MOST = 20_000;

/** Checked nodes, ready to be put into the page. Nothing in them loads or runs anything. */
export function safeNodes(html: string): DocumentFragment {
  if (html.length <= PLAIN_MOST && PLAIN.test(html)) {
    const template = document.createElement("template");
    template.innerHTML = html;
    return template.content;
  }
  const fragment = DOMPurify.sanitize(html, ALLOWED);
  for (const link of fragment.querySelectorAll("a[data-href]")) {
    link.setAttribute("role", "link");
    link.setAttribute("tabindex", "0");
  }
  // A wide table scrolls in a box of its own, also by the keyboard.
  for (const table of fragment.querySelectorAll("table, pre")) {
    const box = document.createElement("div");
    box.className = "wide";
    box.tabIndex = 0;
    table.replaceWith(box);
    box.append(table);
  }
  return fragment;
}

/** Only addresses that a browser opens; everything else stays text. */
export function webAddress(href: string): URL | null {
  try {
    const url = new URL(href);
    return url.protocol === "https:" || url.protocol === "http:" || url.protocol === "mailto:" ? url : null;
  } catch {
    return null;
  }
}
