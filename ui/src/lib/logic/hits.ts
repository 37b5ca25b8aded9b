import type { Block } from "./markdown";
import { escapeRegExp, splitSegments } from "./text-segments";

/**
 * Maximum number of marks in one segment; more would block the window. If there are more hits, only those near the
 * current one are marked.
 */
const MAX_MARKS = 1_000;

/** Matches a formula. Formulas are not searched, because their words are not in reading order. */
const FORMULA_PATTERN = /<math[\s>][\s\S]*?<\/math>/g;

/** Elements within which a text run continues, so that a hit may span them. All other elements end the run. */
const INLINE_TAGS = new Set("a b code del em i mark s span strong sub sup".split(" "));

const TAG_PATTERN = /<\/?([a-z][a-z0-9]*)[^>]*>/g;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#34": '"', "#38": "&", "#39": "'" };
const ENTITY_PATTERN = /&(amp|lt|gt|quot|#34|#38|#39);/g;

function matchesIn(text: string, needle: string): RegExpExecArray[] {
  return [...text.matchAll(new RegExp(escapeRegExp(needle), "giu"))];
}

/** Decodes the entities in the text between two tags. */
function decodeEntities(source: string): string {
  if (!source.includes("&")) return source;
  const withoutKnownEntities = source.replace(ENTITY_PATTERN, "");
  if (!withoutKnownEntities.includes("&"))
    return source.replace(ENTITY_PATTERN, (_, name: string) => ENTITIES[name] ?? "");
  // Let the browser decode the two thousand named entities. It loads nothing, because the text contains no tag.
  const area = document.createElement("textarea");
  area.innerHTML = `.${source}`;
  return (area.textContent ?? "").slice(1);
}

/**
 * Splits the displayed text of a segment into runs. A hit must be within one run: it may start in bold text and end in
 * a link, but it does not extend over paragraphs, lines, cells or redactions. `textNodeRuns` must split in the same
 * way. Otherwise the number of hits would differ from the number of marks.
 */
export function textRuns(block: Block): string[] {
  if (block.kind === "code") return [block.text];
  const runs = [""];
  const add = (text: string) => {
    for (const part of splitSegments(text)) {
      if (part.kind === "bar") runs.push("");
      else runs[runs.length - 1] += part.text;
    }
  };
  if (block.kind === "plain") add(block.text);
  else {
    let at = 0;
    const html = block.html.replace(FORMULA_PATTERN, "<math>");
    for (const tag of html.matchAll(TAG_PATTERN)) {
      if (tag.index > at) add(decodeEntities(html.slice(at, tag.index)).replaceAll("\0", ""));
      at = tag.index + tag[0].length;
      if (!INLINE_TAGS.has(tag[1] ?? "")) runs.push("");
    }
    add(decodeEntities(html.slice(at)).replaceAll("\0", ""));
  }
  return runs.filter((run) => run !== "");
}

/** The number of occurrences of `needle` in text runs, ignoring case. */
export function countMatches(runs: readonly string[], needle: string): number {
  if (needle.trim() === "") return 0;
  return runs.reduce((n, run) => n + matchesIn(run, needle).length, 0);
}

/** The segment that contains the `nth` hit (from 0) of all segments, and the index of the hit in that segment. */
export function locateHit(
  segments: readonly Block[],
  needle: string,
  nth: number,
): { segment: number; nth: number } | null {
  let before = 0;
  for (const [segment, block] of segments.entries()) {
    const count = countMatches(textRuns(block), needle);
    if (nth < before + count) return { segment, nth: nth - before };
    before += count;
  }
  return null;
}

/** The text nodes below `root`, grouped into runs in the same way as by `textRuns`. */
function textNodeRuns(root: Node): Text[][] {
  const runs: Text[][] = [[]];
  const visit = (node: Node) => {
    for (const child of node.childNodes) {
      if (child instanceof Text) runs.at(-1)?.push(child);
      else if (child instanceof Element) {
        const bar = child.classList.contains("redaction");
        const endsRun = bar || !INLINE_TAGS.has(child.localName);
        if (endsRun) runs.push([]);
        if (!bar && child.localName !== "math") visit(child);
        if (endsRun) runs.push([]);
      }
    }
  };
  visit(root);
  return runs.filter((run) => run.length > 0);
}

/** Wraps spans of a text node in `<mark>` elements, and adds these elements to `marks` by the index of their hit. */
function markSpans(
  text: Text,
  spans: readonly { from: number; to: number; hit: number }[],
  marks: HTMLElement[][],
): void {
  const segments: (Node | string)[] = [];
  let at = 0;
  for (const { from, to, hit } of spans) {
    if (from > at) segments.push(text.data.slice(at, from));
    const mark = document.createElement("mark");
    mark.textContent = text.data.slice(from, to);
    (marks[hit] ??= []).push(mark);
    segments.push(mark);
    at = to;
  }
  if (at < text.data.length) segments.push(text.data.slice(at));
  text.replaceWith(...segments);
}

/**
 * Marks every occurrence of `needle` in `root` and emphasises the `current` one. If there are more than `MAX_MARKS`,
 * only those near the current one are marked. Returns the marks of each hit: a hit that spans elements has several.
 */
export function markHits(root: Node, needle: string, current: number | null = null): HTMLElement[][] {
  if (needle.trim() === "") return [];
  const found = textNodeRuns(root).map((texts) => ({
    texts,
    matches: matchesIn(texts.map((text) => text.data).join(""), needle),
  }));
  const total = found.reduce((n, { matches }) => n + matches.length, 0);
  const first = Math.max(0, Math.min((current ?? 0) - MAX_MARKS / 2, total - MAX_MARKS));
  const marks: HTMLElement[][] = [];
  let nth = 0;
  for (const { texts, matches } of found) {
    const spans = matches.map((match) => ({ from: match.index, to: match.index + match[0].length, hit: nth++ }));
    const markedSpans = spans.filter(({ hit }) => hit >= first && hit < first + MAX_MARKS);
    let start = 0;
    let next = 0;
    for (const text of texts) {
      const end = start + text.data.length;
      const ranges: typeof spans = [];
      for (let at = next; at < markedSpans.length; at += 1) {
        const { from, to, hit } = markedSpans[at] as (typeof spans)[number];
        if (from >= end) break;
        ranges.push({ from: Math.max(from, start) - start, to: Math.min(to, end) - start, hit });
        if (to <= end) next = at + 1;
      }
      if (ranges.length > 0) markSpans(text, ranges, marks);
      start = end;
    }
  }
  for (const mark of (current === null ? null : marks[current]) ?? []) mark.classList.add("current");
  return marks;
}
