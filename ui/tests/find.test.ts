// Tests that the number of hits equals the number of marks, and that each hit can be shown.
import { cleanup, render } from "@testing-library/svelte";
import { describe, expect, it, vi } from "vitest";
import { findAll } from "../src/features/conversations/find-in-conversation";
import MessageText from "../src/features/conversations/MessageText.svelte";
import type { ThreadMessage } from "$lib/ipc";
import { sampleThread } from "$lib/ipc/mock/thread";

// Hundreds of texts are rendered, which is slow on a busy machine.
vi.setConfig({ testTimeout: 20_000 });

const sample = sampleThread[1] as ThreadMessage;
const neverAborted = new AbortController().signal;

async function countedHits(text: string, needle: string, more: Partial<ThreadMessage> = {}): Promise<number> {
  return (await findAll([{ ...sample, text, ...more }], needle, neverAborted))?.length ?? -1;
}

type Marks = { all: string[]; current: string[]; inBars: number };
function markedHits(text: string, needle: string, current: number | null, code = false): Marks {
  const { container } = render(MessageText, { text, code, needle, current });
  const words = (selector: string) => [...container.querySelectorAll(selector)].map((mark) => mark.textContent ?? "");
  const marks = { all: words("mark"), current: words("mark.current"), inBars: words(".redaction mark").length };
  cleanup();
  return marks;
}

/** Fragments of text. Each formats, splits, hides or encodes a word in a different way. */
const PIECES = [
  ..."tide Tide TIDE **tide** ti**de** _ti_de `tide` ~~ti~~de t*id*e [tide](https://tide.example/tide) ti[de](tide:x)".split(
    " ",
  ),
  ..."<https://tide.example> https://tide.example/tide ![tide](tide.png) &tide; ti&shy;de t&#105;de ti\\de \\*tide\\*".split(
    " ",
  ),
  ..."<b>tide</b> <!--tide--> [REDACTED:tide] ti[REDACTED:x]de **[REDACTED:tide]**tide & < > \" ' x\0y &amp;tide é".split(
    " ",
  ),
  ...["\n", "\n\n", "\n\n# ", "\n- ", "\n- [x] ", "\n3. ", "\n> ", "\n\n---\n\n", "  \n", "\\\n", " ", " ", "", "\r\n"],
  ...[
    "\n\n```\ntide = 'tide'\n```\n\n",
    "\n\n```python\nprint('tide', tide)  # [REDACTED:tide]\n```\n\n",
    "\n\n    tide\n\n",
  ],
  "\n\n| tide | ti**de** |\n|---|:-:|\n| a tide | x |\n\n",
  "\n\n<div>\ntide\n</div>\n\n",
  `\n\n${"> ".repeat(20)}tide in the deep tide\n\n`,
];
const NEEDLES = ["tide", "TIDE", "e", "ti", "tide tide", "*", "<b>", "&", "REDACTED", "de ", "'tide", "print('t"];

/** A deterministic random number generator. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("hits", () => {
  it("are as many as the marks, of which one is current, for any text", async () => {
    const next = randomNumbers(7);
    const randomPiece = () => PIECES[next(PIECES.length)] ?? "";
    let hits = 0;
    for (let round = 0; round < 100; round += 1) {
      const text = Array.from({ length: 1 + next(12) }, randomPiece).join(next(2) ? "" : " ");
      const needle = NEEDLES[round % NEEDLES.length] ?? "";
      const isCode = next(10) === 0;
      const hitCount = await countedHits(text, needle, isCode ? { content_type: "code" } : {});
      const all = markedHits(text, needle, null, isCode).all.join("");
      expect(all.toLowerCase(), JSON.stringify({ text, needle, isCode })).toBe(needle.toLowerCase().repeat(hitCount));
      hits += hitCount;
      if (hitCount === 0) continue;
      const { current, inBars } = markedHits(text, needle, next(hitCount), isCode);
      expect(current.join("").toLowerCase(), JSON.stringify({ text, needle, isCode })).toBe(needle.toLowerCase());
      expect(inBars).toBe(0);
    }
    expect(hits).toBeGreaterThan(150);
  });

  it("are numbered across code and plain segments", async () => {
    const text = "A tide.\n\n```rust\nlet tide = 1;\n```\n\nNo other **ti**de.";
    expect(await countedHits(text, "tide")).toBe(3);
    expect(markedHits(text, "tide", 1).all).toEqual(["tide", "tide", "ti", "de"]);
    const { container } = render(MessageText, { text, code: false, needle: "tide", current: 1 });
    expect([...container.querySelectorAll("mark.current")].map((mark) => mark.closest("pre") !== null)).toEqual([true]);
    expect(markedHits(text, "tide", 2).current).toEqual(["ti", "de"]);
    // This text is nested too deep to be formatted.
    expect(markedHits(`${"> ".repeat(20)}tide`, "tide", 0).current).toEqual(["tide"]);
    expect(markedHits("let tide", "tide", 0, true).current).toEqual(["tide"]);
  });

  it("exclude text that is in the source but is not displayed", async () => {
    expect(await countedHits("[tables](https://example.org/span)", "span")).toBe(0);
    expect(await countedHits("call [REDACTED:phone]", "phone")).toBe(0);
    expect(await countedHits("one\n\ntwo", "onetwo")).toBe(0);
  });

  it("are marked only around the current one if there are thousands", async () => {
    const text = "ha ".repeat(40_000);
    expect(await countedHits(text, "ha")).toBe(40_000);
    const marks = markedHits(text, "ha", 20_000);
    expect([marks.all.length, marks.current]).toEqual([1_000, ["ha"]]);
    expect(markedHits(text, "ha", 39_999).current).toEqual(["ha"]);
  });

  it("in steps are counted in the text as displayed", async () => {
    const step = { role: "tool", content_type: "tool_result" };
    expect(await countedHits("**tide** [REDACTED:tide] `ti`de", "tide", step)).toBe(1);
    expect(await countedHits("**tide**", "**", step)).toBe(2);
  });
});
