// Tests which words are marked in the hits of a search, and how titles are distinguished from texts.
import { render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import ConversationRow from "../src/features/conversations/ConversationRow.svelte";
import FileCard from "../src/features/files/FileCard.svelte";
import FileLine from "../src/features/files/FileLine.svelte";
import MemoryRow from "../src/features/memories/MemoryRow.svelte";
import { item } from "$lib/ipc/mock/data";
import { findWords, hitWords, wordsOf } from "$lib/logic/text-segments";
import { appearance } from "$lib/state/appearance.svelte";
import { conversations, files, memories } from "$lib/state/lists.svelte";
import { plainRow } from "$lib/state/records.svelte";
import { start } from "./start-mock";

beforeEach(() => start());

const markedTexts = () => [...document.querySelectorAll("mark")].map((mark) => mark.textContent);
const rowProps = { selecting: false, checked: false, oncheck: () => undefined };

describe("the words of a search", () => {
  it("are marked where a word begins", () => {
    expect(findWords("Art of the party, art", ["art"])).toEqual([
      [0, 3],
      [18, 21],
    ]);
    expect(findWords("白い猫と黒い猫", ["猫"]), "no spaces between words").toEqual([
      [2, 3],
      [6, 7],
    ]);
  });

  it("are the typed words, without signs and excluded words, and their other forms in the hit", () => {
    expect(wordsOf('"what is" this fish? -boat')).toEqual(["what", "is", "this", "fish"]);
    const row = { snippet: "Two fishes", highlights: [[4, 10]] as [number, number][] };
    expect(hitWords("fish", row)).toEqual(["fish", "fishes"]);
  });
});

describe("a hit in a title", () => {
  it("is marked in a conversation", async () => {
    conversations.query = "fish";
    const row = plainRow(item("c-1", "conversation", "chatgpt", "", 1, { title: "What is this fish" }));
    render(ConversationRow, { row, ...rowProps });
    expect(markedTexts()).toEqual(["fish"]);
  });

  it("is marked in the name of a file", () => {
    files.query = "rota";
    const row = plainRow(item("f-1", "attachment", "chatgpt", "", 1, { title: "rota-november.csv" }));
    render(FileLine, { row, ...rowProps });
    render(FileCard, { row, checked: false, onopen() {}, oncheck() {} });
    expect(markedTexts()).toEqual(["rota", "rota"]);
  });

  it("is marked in a memory, above the words found in its text", () => {
    memories.query = "charts";
    const row = plainRow(item("m-1", "memory", "claude", "", 1, { title: "print charts" }));
    render(MemoryRow, { row: { ...row, text: "On A4", snippet: "On A4", highlights: [] }, ...rowProps });
    expect(markedTexts()).toEqual(["charts"]);
    expect(screen.getByText("On A4")).toBeTruthy();
  });
});

describe("the title of a memory", () => {
  const row = plainRow(item("m-1", "memory", "claude", "Charts are printed.", 1, { title: "project_print" }));

  it("is shown separately from its text", async () => {
    render(MemoryRow, { row, ...rowProps });
    expect(screen.getByText("project_print").textContent).toBe("project_print");
    expect(screen.getByText("Charts are printed.")).toBeTruthy();
  });

  it("is shown separately in rows of one line too", async () => {
    appearance.listRows = "one";
    render(MemoryRow, { row, ...rowProps });
    await waitFor(() => expect(screen.getByText("project_print").localName).toBe("strong"));
    appearance.listRows = "two";
  });

  it("is the row of a record without text", () => {
    render(MemoryRow, { row: { ...row, text: "" }, ...rowProps });
    expect(screen.getAllByText("project_print")).toHaveLength(1);
  });
});
