import DOMPurify from "dompurify";
import { describe, expect, it, vi } from "vitest";
import { blocks, plainLine, plainSnippet, plainText, safeNodes, webAddress } from "$lib/logic/markdown";
import { highlightCode } from "$lib/logic/highlight";
import { countMatches, markHits } from "$lib/logic/hits";

function page(markdown: string): HTMLElement {
  const root = document.createElement("div");
  for (const block of blocks(markdown)) if (block.kind === "html") root.append(safeNodes(block.html));
  return root;
}

it("a snippet has no marks of bold text and headings, and its hits stay on their words", () => {
  const marked = "# Notes\n**Top of mind** 🐈 2**3 and **cut";
  const catIndex = [...marked].indexOf("🐈");
  const { text, ranges } = plainSnippet(marked, [
    [2, 7],
    [catIndex, catIndex + 1],
    [10, 13],
  ]);
  expect(text).toBe("Notes\nTop of mind 🐈 2**3 and cut");
  expect(ranges.map(([start, end]) => [...text].slice(start, end).join(""))).toEqual(["Notes", "🐈", "Top"]);
});

describe("markdown of conversations", () => {
  it("shows raw HTML as text", () => {
    const root = page(
      'before <script>alert(1)</script> <b onclick="x()">bold</b>\n\n<iframe src="https://example.org"></iframe>',
    );
    expect(root.querySelector("script, iframe, b, [onclick]")).toBeNull();
    expect(root.textContent).toContain("<script>alert(1)</script>");
  });

  it("never makes an element that loads an address", () => {
    const root = page("![a cat](https://example.org/cat.png) ![](javascript:alert(1)) <img src=x onerror=alert(1)>");
    expect(root.querySelector("img, [src], [srcset], [style], [background]")).toBeNull();
    expect(root.querySelector(".no-picture")?.textContent).toBe("a cat");
  });

  it("passes plain paragraphs unchanged, and sanitises everything that only resembles them", () => {
    const sanitize = vi.spyOn(DOMPurify, "sanitize");
    const plainHtml = "<p>a &lt;b&gt; &amp; c<br>d</p>\n<p>e</p>\n";
    const box = document.createElement("div");
    box.append(safeNodes(plainHtml));
    expect(box.innerHTML).toBe(plainHtml);
    expect(sanitize).not.toHaveBeenCalled();
    const others = [
      "<p>a<script>b()</script></p>",
      "<p onclick=b()>a</p>",
      "<p>a<br onclick=b()>c</p>",
      "<p>a</p><img src=x onerror=b()>",
      "a<p>b</p>",
      "<p>a</p><!-- b -->",
      `<p>${"a ".repeat(11_000)}</p>`,
    ];
    others.forEach((html) => safeNodes(html));
    expect(sanitize.mock.calls.map(([html]) => html)).toEqual(others);
  });

  it("keeps links without an address that the browser would follow", () => {
    const link = page("[tables](https://example.org/a?b=c)").querySelector("a");
    expect(link?.hasAttribute("href")).toBe(false);
    expect(link?.getAttribute("data-href")).toBe("https://example.org/a?b=c");
    expect(link?.getAttribute("tabindex")).toBe("0");
  });

  it("opens only web and mail addresses", () => {
    expect(webAddress("https://example.org")?.host).toBe("example.org");
    expect([
      webAddress("javascript:alert(1)"),
      webAddress("file:///etc/passwd"),
      webAddress("data:text/html,x"),
      webAddress("/here"),
    ]).toEqual([null, null, null, null]);
  });

  it("extracts code as blocks with their language", () => {
    expect(blocks("Hi\n\n```python extra\nprint(1)\n```\n")).toMatchObject([
      { kind: "html" },
      { kind: "code", language: "python", text: "print(1)" },
    ]);
    expect(highlightCode("print(1)", "python")).toContain("hljs-");
    expect(highlightCode("print(1)", "nothing-known")).toBeNull();
  });

  it("escapes hostile names in attributes", () => {
    const root = page('[x](<https://example.org/" onmouseover="alert(1)>)');
    expect(root.querySelector("[onmouseover]")).toBeNull();
  });

  it("marks hits without touching the text", () => {
    const root = page("The **joist** and the joists.");
    const before = root.textContent;
    expect(markHits(root, "JOIST").map(([mark]) => mark?.textContent)).toEqual(["joist", "joist"]);
    expect(root.textContent).toBe(before);
    expect(countMatches(["a.b a.b axb"], "a.b")).toBe(2);
    expect(countMatches(["anything"], " ")).toBe(0);
  });
});

describe("plain text", () => {
  it.each([
    ["**Name**: Ines", "Name: Ines"],
    ["- *Tea* with `milk`", "Tea with milk"],
    ["# Work\n\nAt [the office](https://example.org) in __Bergen__", "Work\n\n\n\nAt the office in Bergen"],
    // Characters that are not meant as formatting.
    ["snake_case and 2 * 3 * 4", "snake_case and 2 * 3 * 4"],
    ["1934. A house - **old**", "1934. A house - old"],
    ["> 5 years, ~~no~~ **six**", "> 5 years, ~~no~~ **six**"],
    ["**Lives** at [REDACTED:address](x)", "Lives at [REDACTED:address](x)"],
    ["---", "---"],
    ["+1.25 <b>glasses</b> \\* &amp;", "+1.25 <b>glasses</b> * &amp;"],
  ])("%s", (text, words) => {
    expect(plainText(text)).toBe(words);
  });

  it("is one line, truncated before parsing", () => {
    expect(plainLine("## Name\n**Ines**")).toBe("Name Ines");
    expect(plainLine("**a** ".repeat(10_000)).length).toBeLessThan(301);
  });
});
