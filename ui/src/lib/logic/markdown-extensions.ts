import type { MarkedExtension, Token, Tokens } from "marked";
import { mathematics } from "./mathematics.svelte";

/** A formula. `raw` is the formula with its delimiters. */
export type FormulaToken = Tokens.Generic & { type: "formula" | "formulaBlock"; tex: string; display: boolean };
/**
 * A mark with which an assistant cites a source. `name` is the text that the mark shows. If it is empty, the mark shows
 * a number or nothing.
 */
export type CitationToken = Tokens.Generic & { type: "citation"; name: string; key: string };

/**
 * Matches a citation of ChatGPT: a private start character, the kind, optionally a private separator and the
 * references, and a private end character.
 */
const CITATION = /^\uE200([^\uE200\uE201\uE202]*)(?:\uE202([^\uE200\uE201]*))?\uE201/;
/** Matches the citation of a file, such as `【4:0†source】`. */
const FILE_CITATION = /^【([^【】\n]{0,80}†[^【】\n]{0,120})】/;
/**
 * Matches a private character outside of a complete citation. Such a character is not displayed, because it has no
 * glyph.
 */
const STRAY_CITATION_CHAR = /^[\uE200-\uE202]/;

const FORMULAS: { pattern: RegExp; display: boolean }[] = [
  { pattern: /^\\\[([\s\S]+?)\\\]/, display: true },
  { pattern: /^\$\$([\s\S]+?)\$\$/, display: true },
  { pattern: /^\\\(([\s\S]+?)\\\)/, display: false },
  // Prices have a dollar sign too, so the text between two dollar signs must look like a formula.
  { pattern: /^\$(?=[^\s$])((?:[A-Za-z]|(?=[^$\n]*[\\^_={])[^$\n]*[^\s$\\]))\$(?!\d)/, display: false },
];

const FOOTNOTE_DEFINITION = /^\[\^([^\]\s]{1,40})\]:[ \t]*([^\n]*(?:\n[ \t]+[^\n]+)*)(?:\n+|$)/;
const FOOTNOTE_MARK = /^\[\^([^\]\s]{1,40})\]/;

/** Labels of the footnotes that the text defines. Without a definition, `[^a-z]` is not a footnote. */
let footnotes = new Set<string>();
/** The number of each cited source by its key, counted in the order in which the sources are cited first. */
let citations = new Map<string, number>();

/** Prepares the extensions for one text. Has to be called before the text is parsed. */
export function beginText(source: string): void {
  citations = new Map();
  footnotes = new Set(
    source.includes("[^") ? [...source.matchAll(/^\[\^([^\]\s]{1,40})\]:/gm)].map(([, label]) => label ?? "") : [],
  );
}

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

function formulaAt(source: string): FormulaToken | undefined {
  for (const { pattern, display } of FORMULAS) {
    const [raw, tex] = pattern.exec(source) ?? [];
    if (raw !== undefined && tex?.trim()) return { type: "formula", raw, tex: tex.trim(), display };
  }
  return undefined;
}

function citationAt(source: string): CitationToken | undefined {
  const [raw, kind = "", references = ""] = CITATION.exec(source) ?? [];
  if (raw !== undefined) return { type: "citation", raw, ...citedName(kind, references), key: references || kind };
  const [file, key = ""] = FILE_CITATION.exec(source) ?? [];
  if (file !== undefined) return { type: "citation", raw: file, name: "", key };
  const [stray] = STRAY_CITATION_CHAR.exec(source) ?? [];
  return stray === undefined ? undefined : { type: "citation", raw: stray, name: "", key: "" };
}

/**
 * The name that a citation shows. Only the citation of an entity has one: in `["city","Bergen",…]`, the second entry.
 */
function citedName(kind: string, references: string): { name: string } {
  if (kind !== "entity") return { name: "" };
  try {
    const parts: unknown = JSON.parse(references);
    const name: unknown = Array.isArray(parts) ? parts[1] : null;
    return { name: typeof name === "string" ? name : "" };
  } catch {
    return { name: "" };
  }
}

function citationHtml({ name, key }: CitationToken): string {
  if (name) return escapeHtml(name);
  if (!key) return "";
  const known = citations.get(key);
  const number = known ?? citations.size + 1;
  citations.set(key, number);
  return `<sup class="citation">[${number}]</sup>`;
}

/** The Markdown extensions for formulas, citation marks and footnotes. */
export const markdownExtensions: MarkedExtension = {
  extensions: [
    {
      name: "formulaBlock",
      level: "block",
      start: (source) => /(?:^|\n)[ \t]*(?:\\\[|\$\$)/.exec(source)?.index,
      tokenizer(source) {
        const indent = /^[ \t]*/.exec(source)?.[0] ?? "";
        const found = formulaAt(source.slice(indent.length));
        const end = found && /^[ \t]*(?:\n+|$)/.exec(source.slice(indent.length + found.raw.length));
        if (!found?.display || !end) return undefined;
        return { ...found, type: "formulaBlock", raw: indent + found.raw + end[0], source: found.raw };
      },
      renderer: (token) => `<p class="formula">${formulaHtml(token as FormulaToken)}</p>\n`,
    },
    {
      name: "formula",
      level: "inline",
      start: (source) => /\\[[(]|\$/.exec(source)?.index,
      tokenizer: formulaAt,
      renderer: (token) => formulaHtml(token as FormulaToken),
    },
    {
      name: "citation",
      level: "inline",
      start: (source) => /[\uE200-\uE202【]/.exec(source)?.index,
      tokenizer: citationAt,
      renderer: (token) => citationHtml(token as CitationToken),
    },
    {
      name: "footnote",
      level: "block",
      start: (source) => (footnotes.size > 0 ? /(?:^|\n)\[\^/.exec(source)?.index : undefined),
      tokenizer(source) {
        const [raw, label = "", text = ""] = FOOTNOTE_DEFINITION.exec(source) ?? [];
        if (raw === undefined || !footnotes.has(label)) return undefined;
        return { type: "footnote", raw, label, tokens: this.lexer.inlineTokens(text.replaceAll(/\n[ \t]+/g, "\n")) };
      },
      renderer(token) {
        const { label, tokens = [] } = token as Tokens.Generic & { label: string; tokens?: Token[] };
        return `<p class="footnote"><sup>${escapeHtml(label)}</sup> ${this.parser.parseInline(tokens)}</p>\n`;
      },
    },
    {
      name: "footnoteMark",
      level: "inline",
      start: (source) => (footnotes.size > 0 ? source.indexOf("[^") : -1),
      tokenizer(source) {
        const [raw, label = ""] = FOOTNOTE_MARK.exec(source) ?? [];
        return raw !== undefined && footnotes.has(label) ? { type: "footnoteMark", raw, label } : undefined;
      },
      renderer: (token) => `<sup>${escapeHtml(String((token as Tokens.Generic).label))}</sup>`,
    },
  ],
};

const formulaHtml = ({ tex, raw, source, display }: FormulaToken): string =>
  mathematics.html(tex, typeof source === "string" ? source : raw, display);
