import type { Block } from "./markdown";
import { escapeRegExp, splitSegments } from "./text-segments";

/** More marks than this in one piece hold up the window: those around the current hit are shown. */
const MOST_MARKS = 1_000;

/** Elements that a hit goes across; at all others, and at what was redacted, a run of text ends. */
const INLINE = new Set("a b code del em i mark s span strong sub sup".split(" "));

const TAG = /<\/?([a-z][a-z0-9]*)[^>]*>/g;
const SIGNS: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#34": '"', "#38": "&", "#39": "'" };
const SIGN = /&(amp|lt|gt|quot|#34|#38|#39);/g;

function matchesIn(text: string, needle: string): RegExpExecArray[] {
  return [...text.matchAll(new RegExp(escapeRegExp(needle), "giu"))];
}

/** What stands between two tags, as it is read. */
function read(source: string): string {
  if (!source.includes("&")) return source;
  const rest = source.replace(SIGN, "");
  if (!rest.includes("&")) return source.replace(SIGN, (_, name: string) => SIGNS[name] ?? "");
  // Of the two thousand names the browser has the list. No tag begins in this text.
  const area = document.createElement("textarea");
  area.innerHTML = `.${source}`;
  return (area.textContent ?? "").slice(1);
}

/**
 * The text of a piece in runs, as it is shown: a hit may begin in bold and end in a link, and does not go across
 * paragraphs, lines, cells or what was redacted. Has to cut as `textsOf` does, so that what is counted is what is marked.
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
    for (const tag of block.html.matchAll(TAG)) {
      if (tag.index > at) add(read(block.html.slice(at, tag.index)).replaceAll("\0", ""));
      at = tag.index + tag[0].length;
      if (!INLINE.has(tag[1] ?? "")) runs.push("");
    }
    add(read(block.html.slice(at)).replaceAll("\0", ""));
  }
  return runs.filter((run) => run !== "");
}

/** How often `needle` stands in runs of text, letters of either case. */
export function countIn(runs: readonly string[], needle: string): number {
  if (needle.trim() === "") return 0;
  return runs.reduce((n, run) => n + matchesIn(run, needle).length, 0);
}

/** In which of the pieces of a text its `nth` hit stands, and the how-manieth it is there. */
export function locateHit(
  pieces: readonly Block[],
  needle: string,
  nth: number,
): { piece: number; nth: number } | null {
  let before = 0;
  for (const [piece, block] of pieces.entries()) {
    const here = countIn(textRuns(block), needle);
    if (nth < before + here) return { piece, nth: nth - before };
    before += here;
  }
  return null;
}

/** The runs of `root` as they stand in the page. */
function textsOf(root: Node): Text[][] {
  const runs: Text[][] = [[]];
  const visit = (node: Node) => {
    for (const child of node.childNodes) {
      if (child instanceof Text) runs.at(-1)?.push(child);
      else if (child instanceof Element) {
        const bar = child.classList.contains("redaction");
        const ends = bar || !INLINE.has(child.localName);
        if (ends) runs.push([]);
        if (!bar) visit(child);
        if (ends) runs.push([]);
      }
    }
  };
  visit(root);
  return runs.filter((run) => run.length > 0);
}

/** Put marks around a part of each text node. */
function wrap(text: Text, spans: readonly { from: number; to: number; hit: number }[], marks: HTMLElement[][]): void {
  const pieces: (Node | string)[] = [];
  let at = 0;
  for (const { from, to, hit } of spans) {
    if (from > at) pieces.push(text.data.slice(at, from));
    const mark = document.createElement("mark");
    mark.textContent = text.data.slice(from, to);
    (marks[hit] ??= []).push(mark);
    pieces.push(mark);
    at = to;
  }
  if (at < text.data.length) pieces.push(text.data.slice(at));
  text.replaceWith(...pieces);
}

/**
 * Mark every place of `needle` in the text of `root`, the `current` one more than the others; of more than a thousand,
 * those around it. Returns the marks of each hit: several where it goes across elements.
 */
export function markHits(root: Node, needle: string, current: number | null = null): HTMLElement[][] {
  if (needle.trim() === "") return [];
  const found = textsOf(root).map((texts) => ({
    texts,
    matches: matchesIn(texts.map((text) => text.data).join(""), needle),
  }));
  const total = found.reduce((n, { matches }) => n + matches.length, 0);
  const first = Math.max(0, Math.min((current ?? 0) - MOST_MARKS / 2, total - MOST_MARKS));
  const marks: HTMLElement[][] = [];
  let nth = 0;
  for (const { texts, matches } of found) {
    const spans = matches.map((match) => ({ from: match.index, to: match.index + match[0].length, hit: nth++ }));
    const wanted = spans.filter(({ hit }) => hit >= first && hit < first + MOST_MARKS);
    let start = 0;
    let next = 0;
    for (const text of texts) {
      const end = start + text.data.length;
      const here: typeof spans = [];
      for (let at = next; at < wanted.length; at += 1) {
        const { from, to, hit } = wanted[at] as (typeof spans)[number];
        if (from >= end) break;
        here.push({ from: Math.max(from, start) - start, to: Math.min(to, end) - start, hit });
        if (to <= end) next = at + 1;
      }
      if (here.length > 0) wrap(text, here, marks);
      start = end;
    }
  }
  for (const mark of (current === null ? null : marks[current]) ?? []) mark.classList.add("current");
  return marks;
}
