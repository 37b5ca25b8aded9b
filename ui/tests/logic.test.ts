import { describe, expect, it } from "vitest";
import { FORMATS } from "$lib/ipc/formats";
import { assistantStyle } from "$lib/logic/assistants";
import { formatsByGroup } from "$lib/state/guides";
import { sources } from "./literals";
import { trimDiff, wordDiff } from "$lib/logic/diff";
import {
  findWords,
  fieldText,
  markedWords,
  codePointOffset,
  selectionSpan,
  splitSegments,
} from "$lib/logic/text-segments";
import { commandFor } from "../src/shell/keymap";

describe("parts", () => {
  it("cut at ranges in code points, not in UTF-16 units", () => {
    expect(splitSegments("🏠 the bathroom", [[6, 14]])).toEqual([
      { kind: "text", text: "🏠 the " },
      { kind: "mark", text: "bathroom" },
    ]);
  });

  it("show redactions as bars of fixed length", () => {
    expect(splitSegments("Lives at [REDACTED:address], first floor")).toEqual([
      { kind: "text", text: "Lives at " },
      { kind: "bar", text: "address" },
      { kind: "text", text: ", first floor" },
    ]);
  });

  it("accept ranges that overlap or lie outside of the text", () => {
    const text = splitSegments("abc", [
      [0, 2],
      [1, 3],
      [7, 9],
    ])
      .map((part) => part.text)
      .join("");
    expect(text).toBe("abc");
  });

  it("transfer the marked words of a snippet to the full text", () => {
    const words = markedWords("the Bathroom comes", [[4, 12]]);
    expect(words).toEqual(["bathroom"]);
    expect(findWords("A bathroom, the bathroom.", words)).toEqual([
      [2, 10],
      [16, 24],
    ]);
  });

  it("convert field offsets, without Windows line ends, to code points of the source", () => {
    const source = "🏠 one\r\ntwo\r\nthree\rfour";
    const shown = "🏠 one\ntwo\nthree\rfour";
    expect(fieldText(source)).toBe(shown);
    for (const word of ["one", "two", "three", "four"]) {
      const index = shown.indexOf(word);
      const [start, end] = [codePointOffset(source, index), codePointOffset(source, index + word.length)];
      expect([...source].slice(start, end).join("")).toBe(word);
    }
    expect(codePointOffset(source, shown.length)).toBe([...source].length);
  });

  it("locate a selection in the source, also among repetitions", () => {
    const source = "🏠 one and one and one";
    expect(selectionSpan(source, "one", "🏠 one and ")).toEqual({ start: 10, end: 13 });
    expect(selectionSpan(source, "two", "")).toBeNull();
    expect(selectionSpan(source, "  ", "")).toBeNull();
  });
});

describe("diff", () => {
  it("pairs removed and added words", () => {
    expect(wordDiff("a house from the 1950s in Sandviken", "a house from 1934 in Sandviken")).toMatchObject([
      { kind: "same" },
      { kind: "removed", text: expect.stringContaining("the 1950s") },
      { kind: "added", text: expect.stringContaining("1934") },
      { kind: "same" },
    ]);
  });

  it("keeps every word of both texts", () => {
    const [older, newer] = ["Bathroom first, then the kitchen.", "Kitchen first; the bathroom is done."];
    const parts = wordDiff(older, newer);
    expect(
      parts
        .filter((part) => part.kind !== "added")
        .map((part) => part.text)
        .join(""),
    ).toBe(older);
    expect(
      parts
        .filter((part) => part.kind !== "removed")
        .map((part) => part.text)
        .join(""),
    ).toBe(newer);
  });

  it("cuts long unchanged text to a few words around the change", () => {
    const long = Array.from({ length: 40 }, (_, index) => `w${index}`).join(" ");
    const [before] = trimDiff(wordDiff(`${long} old`, `${long} new`), 6);
    expect(before?.text.startsWith("…")).toBe(true);
    expect(before?.text.trim().split(" ").length).toBeLessThanOrEqual(8);
  });
});

describe("assistants", () => {
  it("have a name, two letters and a colour, known or not", () => {
    expect(assistantStyle("chatgpt")).toEqual({ name: "ChatGPT", letters: "Gp", tone: 1 });
    expect(assistantStyle("cursor").tone).toBe(4);
    expect(assistantStyle("brand_new")).toEqual({ name: "Brand new", letters: "Br", tone: 6 });
    expect(assistantStyle("claude-code")).toEqual(assistantStyle("claude_code"));
    expect(assistantStyle("claude-code")).toMatchObject({ name: "Claude Code", tone: 4 });
    expect(assistantStyle("meta-ai").name).toBe("Meta AI");
    expect(assistantStyle("me").tone).toBe(5);
    const formats = formatsByGroup().flatMap((group) => group.formats);
    expect(formats.every((format) => assistantStyle(format).letters.length === 2)).toBe(true);
  });

  it("are named like their format", () => {
    const namesOf = (id: string) => [assistantStyle(id).name, FORMATS.find((format) => format.id === id)?.name];
    expect(namesOf("copilot")).toEqual(["Microsoft Copilot", "Microsoft Copilot"]);
    expect(namesOf("gemini_aistudio")).toEqual(["Google AI Studio", "Google AI Studio"]);
  });

  it("of one maker or with similar names have different letters", () => {
    const similarIds = [
      ..."chatgpt claude claude-code cline codex cognee copilot copilot-cli github-copilot gemini gemini-cli".split(
        " ",
      ),
      ..."opencode openclaw openrouter openmemory mistral mif meta-ai me mem mem0 memobase llm llamaindex".split(" "),
      ..."qwen qwen-code grok grok-build zep zeroclaw zaxy aieos aimem".split(" "),
    ];
    const letters = similarIds.map((id) => assistantStyle(id).letters);
    expect(letters.filter((pair, index) => letters.indexOf(pair) !== index)).toEqual([]);
  });
});

describe("keyboard", () => {
  const press = (key: string, more: Partial<KeyboardEvent> = {}, inField = false, mac = false) =>
    commandFor(
      { key, code: "", ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...more },
      { mac, inField },
    );

  it("has a shortcut for each section and action", () => {
    expect(press("1", { ctrlKey: true })).toEqual({ go: "home" });
    expect(press("6", { ctrlKey: true })).toEqual({ go: "activity" });
    expect(press("7", { ctrlKey: true })).toEqual({ go: "trash" });
    expect(press("5", { ctrlKey: true })).toEqual({ go: "sensitive" });
    expect(press("l", { ctrlKey: true })).toBe("lock");
    expect(press("E", { ctrlKey: true, shiftKey: true })).toBe("export-all");
    expect(press("ArrowLeft", { altKey: true })).toBe("back");
    expect(press("F6", { shiftKey: true })).toBe("previous-pane");
  });

  it("leaves keys to fields that use them", () => {
    expect(press("z", { ctrlKey: true }, true)).toBeNull();
    expect(press("z", { ctrlKey: true })).toBe("undo");
    expect(press("v", { ctrlKey: true, shiftKey: true }, true)).toBeNull();
    expect(press("ArrowLeft", { altKey: true }, true)).toBeNull();
  });

  it("uses ⌘ on a Mac and never single letters", () => {
    expect(press("f", { metaKey: true }, false, true)).toBe("search");
    expect(press("f", { ctrlKey: true }, false, true)).toBeNull();
    expect(press("e")).toBeNull();
  });
});

it("no pattern uses lookbehind, which Safari supports from 16.4", () => {
  const found = [...sources()].filter(([, source]) => /\(\?<[=!]/.test(source)).map(([name]) => name);
  expect(found).toEqual([]);
});
