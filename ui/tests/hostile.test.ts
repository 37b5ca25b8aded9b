import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { wordDiff } from "$lib/logic/diff";
import { asciiAddress, truncated, bidiIsolated, oneLine } from "$lib/logic/untrusted-text";
import { blocks, safeNodes, webAddress } from "$lib/logic/markdown";
import { mathematics } from "$lib/logic/mathematics.svelte";
import { splitSegments } from "$lib/logic/text-segments";
import { fill } from "$lib/text";

type Part = string | { repeat: string; times: number };
type Case = { name: string; text: string | Part[]; expect?: { shows?: string[] } };

const folder = resolve(import.meta.dirname, "../../fixtures/hostile");
const expandText = (text: Case["text"]) =>
  typeof text === "string"
    ? text
    : text.map((part) => (typeof part === "string" ? part : part.repeat.repeat(part.times))).join("");
// Small texts only. Large ones are tested in a real browser (tests/screens/hostile.mjs).
const cases = readdirSync(folder).flatMap((file) =>
  (JSON.parse(readFileSync(`${folder}/${file}`, "utf8")) as { cases: Case[] }).cases
    .map(({ name, text, expect: wanted }): [string, string, string[]] => [
      `${file.replace(".json", "")}: ${name}`,
      expandText(text),
      wanted?.shows ?? [],
    ])
    .filter(([, text]) => text.length < 10_000),
);

function page(markdown: string): HTMLElement {
  const root = document.createElement("div");
  for (const block of blocks(markdown)) root.append(block.kind === "html" ? safeNodes(block.html) : block.text);
  return root;
}

/** Attributes of formulas, none of which loads or runs anything. */
const FORMULA = [
  "display",
  "width",
  "height",
  "lspace",
  "rspace",
  "fence",
  "form",
  "stretchy",
  "mathvariant",
  "movablelimits",
];

// Load the library, because formulas are shown as their source until it is loaded.
beforeAll(() => mathematics.load());

describe("hostile content", () => {
  it("has cases of every kind", () => {
    expect(readdirSync(folder).length).toBeGreaterThanOrEqual(10);
    expect(cases.length).toBeGreaterThan(90);
  });

  it.each(cases)("is shown as text only, %s", (_, text, shows) => {
    const root = page(text);
    const known =
      "a b blockquote br code del div em h1 h2 h3 h4 h5 h6 hr i li ol p pre s span strong sub sup table tbody";
    const formula = "math mrow mi mn mo mtext mspace msup msub msubsup mfrac msqrt";
    const tags = new Set([...known.split(" "), "td", "th", "thead", "tr", "ul", ...formula.split(" ")]);
    for (const node of root.querySelectorAll("*")) {
      expect(tags).toContain(node.localName);
      const names = [
        "class",
        "data-href",
        "role",
        "tabindex",
        "align",
        "start",
        ...(node.closest("math") ? FORMULA : []),
      ];
      for (const { name } of node.attributes) expect(names).toContain(name);
    }
    for (const words of shows) expect(root.textContent).toContain(words);
  });

  it("opens only web and mail addresses, in ASCII form", () => {
    const hosts = ["https://\u0430pple.example/", "https://ban\u200bk.example/", "http://0x7f.1/"];
    expect(hosts.map((href) => webAddress(href)?.host)).toEqual(["xn--pple-43d.example", "bank.example", "127.0.0.1"]);
    expect(webAddress("https://hostile.example/\u202egpj.exe")?.href).toBe("https://hostile.example/%E2%80%AEgpj.exe");
    expect(webAddress("https://\u202ehostile.example/")).toBeNull();
    expect(asciiAddress("javascript:\u202e\u0430")).toBe("javascript:[U+202E][U+0430]");
  });

  it("shows text beyond the limits unformatted", () => {
    const kinds = (text: string) => [...new Set(blocks(text).map(({ kind }) => kind))];
    expect(kinds("a".repeat(100_001))).toEqual(["plain"]);
    expect(kinds(`${"> ".repeat(40)}deep`)).toEqual(["plain"]);
    expect(kinds(`${"|a".repeat(80)}|\n${"|-".repeat(80)}|\n${`${"|1".repeat(80)}|\n`.repeat(80)}`)).toEqual(["plain"]);
    expect(kinds("```\na\n```\n\n".repeat(600))).toEqual(["plain"]);
    expect(kinds("> > a quote in a quote\n\n- a\n  - b\n    - c\n\n|a|b|\n|-|-|\n|1|2|")).toEqual(["html"]);
    // Text that is nested too deep is shown whole, but unformatted.
    const deepText = `${"> ".repeat(40)}deep`;
    expect(blocks(deepText)).toEqual([{ kind: "plain", text: deepText }]);
  });

  it("renders no more segments than the limit", () => {
    const segments = splitSegments("[REDACTED:phone] ".repeat(5_000));
    expect(segments.length).toBeLessThan(1_010);
    expect(segments.at(-1)?.text).toContain("[REDACTED:phone]");
    const started = "word ".repeat(60_000);
    expect(wordDiff(started, `${started}x`)).toEqual([
      { kind: "removed", text: started },
      { kind: "added", text: `${started}x` },
    ]);
  });
});

describe("untrusted text in a line", () => {
  it("spells out bidi controls, invisible and invalid characters", () => {
    expect(oneLine("holiday\u202egpj.exe")).toBe("holiday[U+202E]gpj.exe");
    expect(oneLine("a\u0000b\u0007c\ud800d")).toBe("a[U+0000]b[U+0007]c[U+D800]d");
    expect(oneLine("a\nb\r\nc\u2028d")).toBe("a b c d");
    expect(oneLine("\u0645\u0631\u062d\u0628\u0627 \u{1f468}\u200d\u{1f469}")).toBe(
      "\u0645\u0631\u062d\u0628\u0627 \u{1f468}\u200d\u{1f469}",
    );
  });

  it("is cut between characters, not within one", () => {
    expect(truncated("short")).toBe("short");
    expect(truncated(`a${"\u{1f600}".repeat(10)}`, 4)).toBe("a\u{1f600}…");
  });

  it("is isolated in direction within a sentence", () => {
    expect(bidiIsolated("plain")).toBe("plain");
    expect(bidiIsolated("\u05e9\u05dc\u05d5\u05dd")).toBe("\u2068\u05e9\u05dc\u05d5\u05dd\u2069");
    expect(bidiIsolated("a\u202eb\u2069")).toBe("\u2068a[U+202E]b[U+2069]\u2069");
    // Text that is isolated already is not isolated again.
    expect(bidiIsolated(bidiIsolated("\u05e9"))).toBe(bidiIsolated("\u05e9"));
    expect(fill("Moved {name} away", { name: "x\u202ey" })).toBe("Moved \u2068x[U+202E]y\u2069 away");
  });
});
