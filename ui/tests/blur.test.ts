// Tests of the setting "Blur text until I point at it": texts of the vault are marked, so that the style can blur them.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import MessageView from "../src/features/conversations/MessageView.svelte";
import DuplicatesSheet from "../src/features/duplicates/DuplicatesSheet.svelte";
import FileCard from "../src/features/files/FileCard.svelte";
import FileLine from "../src/features/files/FileLine.svelte";
import FileSheet from "../src/features/files/FileSheet.svelte";
import PeopleAndTopics from "../src/features/home/PeopleAndTopics.svelte";
import SuggestionsView from "../src/features/suggestions/SuggestionsView.svelte";
import CommandPalette from "../src/shell/palette/CommandPalette.svelte";
import { item } from "$lib/ipc/mock/data";
import { plainRow } from "$lib/state/records.svelte";
import { subjects } from "$lib/state/subjects.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

beforeEach(async () => {
  mock = await start({ stepMs: 0 });
});

/** Which of these texts the window shows, and which of those it shows outside an element that can be blurred. */
function shownAndSharp(texts: readonly string[]): { shown: number; sharp: string[] } {
  const shown = new Set<string>();
  const sharp = new Set<string>();
  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest(".visually-hidden")) continue;
    const ownText = [...element.childNodes]
      .filter((node) => node.nodeType === Node.TEXT_NODE)
      .map((node) => node.textContent);
    for (const text of texts.filter((each) => ownText.join("").includes(each))) {
      shown.add(text);
      if (!element.closest(".veil")) sharp.add(text);
    }
  }
  return { shown: shown.size, sharp: [...sharp] };
}

/** A word that no text of the window itself contains. */
const NAME = "qxzw-photo.png";

describe("what can be blurred", () => {
  it("includes the texts of duplicates", async () => {
    mock.duplicates = async () => ({
      groups: [
        {
          same: false,
          items: [item("m-a", "memory", "claude", "Qxzw", 2), item("m-b", "memory", "chatgpt", "Wzxq", 1)],
        },
      ],
    });
    render(DuplicatesSheet);
    await screen.findAllByTestId("duplicate");
    expect(shownAndSharp(["Qxzw", "Wzxq"])).toEqual({ shown: 2, sharp: [] });
  });

  it("includes the texts of suggestions and their reasons, but not the name of the agent", async () => {
    mock = await start({ stepMs: 0, agents: true });
    const { items } = await mock.suggestions();
    const [first] = items;
    const added = { ...first!, op: "new", before: null, text: "Qxzw", reason: "Wzxq", client: "Yqzx" };
    const changed = { ...first!, id: "s-2", op: "change", before: "Vqxz old", text: "Vqxz new" };
    mock.suggestions = async () => ({ items: [added, changed] as typeof items });
    render(SuggestionsView);
    await screen.findAllByTestId("suggestion");
    expect(shownAndSharp(["Qxzw", "Wzxq", "Yqzx", "Vqxz"])).toEqual({ shown: 4, sharp: ["Yqzx"] });
  });

  it("includes what the palette found in the vault, but not its commands", async () => {
    render(CommandPalette);
    await fireEvent.input(screen.getByTestId("palette-field"), { target: { value: "the" } });
    await waitFor(() => expect(screen.getAllByTestId("palette-item").length).toBeGreaterThan(10));
    const names = (group: string) => [
      ...screen.getByText(group).closest('[role="group"], [data-command-group]')!.querySelectorAll(".name"),
    ];
    expect(names("Memories").filter((name) => !name.classList.contains("veil"))).toEqual([]);
    expect(names("Conversations").filter((name) => !name.classList.contains("veil"))).toEqual([]);
    expect(names("Commands").filter((name) => name.classList.contains("veil"))).toEqual([]);
  });

  it("includes the names and pictures of files", async () => {
    const row = plainRow(
      item("f-1", "attachment", "chatgpt", "", 1, { title: NAME, media_type: "image/png", present: true }),
    );
    render(FileCard, { row, checked: false, onopen: () => undefined, oncheck: () => undefined });
    render(FileLine, { row, selecting: false, checked: false, oncheck: () => undefined });
    render(FileSheet, { row, onclose: () => undefined });
    expect(shownAndSharp([NAME])).toEqual({ shown: 1, sharp: [] });
    await waitFor(() => expect(document.querySelectorAll("img")).toHaveLength(2));
    expect([...document.querySelectorAll("img")].filter((image) => !image.classList.contains("veil"))).toEqual([]);
  });

  it("includes the attachments of a message", async () => {
    const { messages } = await mock.thread("c-bath");
    const attachment = { id: "f-1", name: NAME, media_type: "image/png", size: 9, present: true };
    const document_ = { id: "f-2", name: "wzxq.pdf", media_type: "application/pdf", size: 9, present: true };
    const message = { ...messages[0]!, attachments: [attachment, document_] };
    const rest = {
      collapsed: [],
      source: "chatgpt",
      needle: "",
      current: null,
      wanted: null,
      showRedactButton: false,
    };
    render(MessageView, { ...rest, message, onbranch: () => undefined, menus: new Map() });
    expect(shownAndSharp([NAME, "wzxq.pdf"])).toEqual({ shown: 2, sharp: [] });
  });

  it("includes what people on Home are to the person", async () => {
    await vault.refresh();
    subjects.clear();
    await subjects.load();
    render(PeopleAndTopics);
    await screen.findAllByTestId("home-subject");
    expect(shownAndSharp(["Liv", "daughter"])).toEqual({ shown: 2, sharp: [] });
  });
});
