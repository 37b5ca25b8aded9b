// Tests of formulas, citation markers, footnotes and front matter in assistants’ texts.
import { beforeAll, describe, expect, it } from "vitest";
import { splitFrontMatter } from "$lib/logic/front-matter";
import { countMatches, markHits, textRuns } from "$lib/logic/hits";
import { blocks, isPlain, plainLine, safeNodes } from "$lib/logic/markdown";
import { mathematics } from "$lib/logic/mathematics.svelte";

function page(markdown: string): HTMLElement {
  const root = document.createElement("div");
  // The test environment drops the first element of sanitised HTML, so a dummy element precedes it.
  const withDummy = (html: string) => `<span></span>${html}`;
  for (const block of blocks(markdown))
    if (block.kind === "html") root.append(safeNodes(withDummy(block.html)));
    else root.append(block.text);
  return root;
}
const formulas = (markdown: string) => [...page(markdown).querySelectorAll("math")];

describe("formulas", () => {
  it("are shown as written until the library is loaded", async () => {
    expect(formulas("so \\(a^2\\) is").map((math) => math.textContent)).toEqual(["\\(a^2\\)"]);
    await mathematics.load();
    expect(formulas("so \\(a^2\\) is").map((math) => math.textContent)).toEqual(["a2"]);
  });

  describe("once the library is loaded", () => {
    beforeAll(() => mathematics.load());

    it.each([
      ["inline", "with \\(a^2+b^2=c^2\\).", "a2+b2=c2", false],
      ["on lines of its own", "so\n\n\\[\n- x\n+ \\frac{1}{2}\n\\]\n\nthen", "−x+12", true],
      ["in dollars on lines of its own", "$$\nx_1\n$$", "x1", true],
      ["in dollars", "the span $L = 3.4$ holds", "L=3.4", false],
      ["of one letter", "where $n$ is", "n", false],
    ])("%s", (_, text, words, display) => {
      const [math, ...others] = formulas(text);
      expect([math?.textContent?.replaceAll(/\s/g, ""), others.length]).toEqual([words, 0]);
      expect(math?.getAttribute("display") === "block").toBe(display);
    });

    it.each([
      "It costs $5 and $10, or $5/$10.",
      "`$x$` and \\\\(not\\\\)",
      "```\n$$x$$\n```",
      "$ x $ and $HOME and $PATH_A",
    ])("are not in %s", (text) => expect(formulas(text)).toEqual([]));

    it("that cannot be read are shown as written", () => {
      expect(formulas("\\(\\frac{\\)")[0]?.textContent).toBe("\\(\\frac{\\)");
    });

    it("load and run nothing", () => {
      const root = page(
        "\\(\\href{javascript:alert(1)}{x} \\includegraphics{https://example.org/a.png}\\style{color:red}{y}\\)",
      );
      expect(root.querySelector("[href], [src], [style], img, a, script")).toBeNull();
    });

    it("are left out of search hits: they are neither counted nor marked", () => {
      const text = "a sum \\(a+a\\) and a";
      const [block] = blocks(text);
      expect(countMatches(textRuns(block!), "a")).toBe(3);
      expect(markHits(page(text), "a")).toHaveLength(3);
    });

    it("in great number are not typeset", () => {
      expect(formulas("\\(a\\) ".repeat(301))).toEqual([]);
    });
  });
});

describe("citation marks", () => {
  it("are numbered by what they refer to", () => {
    const root = page(
      "One.\uE200cite\uE202turn0search1\uE201 Two.\uE200cite\uE202turn0search4\uE201 Again.【4:0†source】\uE200cite\uE202turn0search1\uE201",
    );
    expect(root.textContent?.trim()).toBe("One.[1] Two.[2] Again.[3][1]");
    expect(root.querySelectorAll("sup")).toHaveLength(4);
  });

  it("of something named show its name, and incomplete marks disappear", () => {
    expect(page('In \uE200entity\uE202["city","Bergen","Norway"]\uE201 it rains.\uE200').textContent?.trim()).toBe(
      "In Bergen it rains.",
    );
  });

  it("are removed from a plain line, in which Japanese brackets stay", () => {
    expect(plainLine("It rains.\uE200cite\uE202turn0search1\uE201")).toBe("It rains.");
    expect(page("【注意】雨です。").textContent?.trim()).toBe("【注意】雨です。");
  });
});

describe("footnotes", () => {
  it("are shown as small numbers in the text and a line each below it", () => {
    const root = page("It holds.[^1]\n\n[^1]: See the **span** table.\n    Page 4.\n\nMore.");
    expect([...root.querySelectorAll("p")].map((p) => p.textContent)).toEqual([
      "It holds.1",
      "1 See the span table.Page 4.",
      "More.",
    ]);
    expect(root.querySelector(".footnote strong")?.textContent).toBe("span");
  });

  it("without a definition are text", () => {
    expect(page("The pattern [^a-z] matches.").textContent?.trim()).toBe("The pattern [^a-z] matches.");
  });
});

it("tasks have a box and no bullet", () => {
  const root = page("- [x] tub\n- [ ] tiles\n- floor");
  expect(
    [...root.querySelectorAll("li")].map((li) => [li.textContent?.trim(), li.querySelector(".task") !== null]),
  ).toEqual([
    ["☑ tub", true],
    ["☐ tiles", true],
    ["floor", false],
  ]);
});

describe("front matter", () => {
  it("is read as fields above the text", () => {
    expect(
      splitFrontMatter('---\ntags: [garden, "beds"]\ntitle: "Plot: 12"\nplants:\n  - leek\n  - kale\n---\n\n# Plot'),
    ).toEqual({
      fields: [
        ["tags", "garden, beds"],
        ["title", "Plot: 12"],
        ["plants", "leek, kale"],
      ],
      body: "# Plot",
    });
    expect(plainLine("---\ntags: [garden]\n---\nLeeks in *row* two.")).toBe("Leeks in row two.");
  });

  it.each(["---\n\ntext\n\n---\n", "---\na: {b: 1}\n  c: 2\n---\ntext", "text\n---\na: b\n---", "---"])(
    "is not seen in %j",
    (text) => expect(splitFrontMatter(text)).toEqual({ fields: [], body: text }),
  );
});

it("a text without formatting is plain", () => {
  expect(["Likes tea.", "Likes tea.\n\nAnd *more*.", "- tea", "`tea`", "5 < 6", "a\nb"].map(isPlain)).toEqual([
    ...[true, false, false, false, true, true],
  ]);
});
