// Tests that conversations without a title are listed under their first words, and that memories in Markdown are shown
// formatted.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import ConversationRow from "../src/features/conversations/ConversationRow.svelte";
import ConversationTitle from "../src/features/layout/ConversationTitle.svelte";
import CollapsedSteps from "../src/features/conversations/CollapsedSteps.svelte";
import MemoryDetail from "../src/features/memories/MemoryDetail.svelte";
import { handleLetterKey } from "../src/features/memories/keys";
import type { LinkInfo, ThreadMessage } from "$lib/ipc";
import { sampleThread } from "$lib/ipc/mock/thread";
import { ANY } from "$lib/state/filter";
import { firstWordsOf, isUntitled } from "$lib/state/untitled";
import { clearContent } from "$lib/state/lock-cleanup";
import { nav } from "$lib/state/nav.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
});

describe("a conversation", () => {
  it("is untitled if it has no name, or the name that every new conversation gets", () => {
    expect([null, "", " ", "New chat", "Untitled conversation", "New chat rooms"].map(isUntitled)).toEqual([
      ...[true, true, true, true, true, false],
    ]);
    expect(firstWordsOf(sampleThread)).toMatch(/^The joists are 48 × 198/);
    expect(firstWordsOf([])).toBe("");
  });

  it("without a title is called by the first words of its messages, until the vault is locked", async () => {
    const thread = vi.spyOn(mock, "thread");
    render(ConversationTitle, { id: "c-bath", title: "New chat" });
    expect(document.body.textContent).toContain("New chat");
    await waitFor(() => expect(document.body.textContent).toContain("The joists are 48 × 198"));
    render(ConversationTitle, { id: "c-bath", title: null });
    expect(thread, "loaded once").toHaveBeenCalledTimes(1);
    clearContent();
    await waitFor(() => expect(document.body.textContent).not.toContain("joists"));
  });

  it("with a title shows its first words below it, because most exports give a conversation no text", async () => {
    const thread = vi.spyOn(mock, "thread");
    const { items } = await mock.list({
      filter: { ...ANY, kind: "conversation" },
      sort: null,
      limit: 1,
      cursor: null,
    });
    const row = {
      ...items[0]!,
      id: "c-bath",
      title: "Bathroom",
      text: "",
      snippet: null,
      highlights: [],
      message: null,
    };
    const { rerender } = render(ConversationRow, { row, selecting: false, checked: false, oncheck: () => undefined });
    await waitFor(() => expect(document.querySelector(".text")?.textContent).toContain("The joists are 48 × 198"));
    expect(thread).toHaveBeenCalledTimes(1);
    await rerender({ row: { ...row, title: "New chat" } });
    expect(document.querySelector(".text"), "the first words are the title already").toBeNull();
  });

  it("with a title, or whose first words are known, is not loaded", async () => {
    const thread = vi.spyOn(mock, "thread");
    render(ConversationTitle, { id: "c-bath", title: "Bathroom" });
    render(ConversationTitle, { id: "c-bath", title: "", text: "**Can** they take a tub?" });
    expect(document.body.textContent).toContain("Can they take a tub?");
    await new Promise((done) => setTimeout(done, 150));
    expect(thread).not.toHaveBeenCalled();
  });
});

describe("a memory in Markdown", () => {
  const TEXT = "---\ntags: [garden]\n---\n# Plot\n\n- **leek**\n- kale";
  const openMemory = async (text: string) => {
    const { show } = mock;
    mock.show = async (...args) => {
      const shown = await show(...args);
      return { ...shown, record: { ...shown.record, text } };
    };
    nav.go("memories", "m-0");
    render(MemoryDetail, { id: "m-0" });
    return screen.findByTestId("detail-text");
  };

  it("is formatted, with its front matter as fields, and one key shows it as it is written", async () => {
    const textElement = await openMemory(TEXT);
    expect(screen.getByTestId("detail-fields").textContent).toMatch(/tags\s*garden/);
    expect([...textElement.querySelectorAll("li")].map((item) => item.textContent)).toEqual(["leek", "kale"]);
    expect(textElement.textContent).not.toMatch(/[*#]|---/);
    handleLetterKey(new KeyboardEvent("keydown", { key: "v" }), "m-0");
    await waitFor(() => expect(textElement.textContent).toBe(TEXT));
    expect(screen.queryByTestId("detail-fields")).toBeNull();
    expect(screen.getByTestId("detail-source").getAttribute("aria-pressed")).toBe("true");
    await fireEvent.click(screen.getByTestId("detail-source"));
    await waitFor(() => expect(textElement.querySelector("strong")?.textContent).toBe("leek"));
  });

  it("without formatting has no switch between the two views", async () => {
    const textElement = await openMemory("Likes tea, 2 * 3 cups.");
    expect(textElement.textContent).toBe("Likes tea, 2 * 3 cups.");
    expect(screen.queryByTestId("detail-source")).toBeNull();
  });
});

it("collapsed steps say that a memory was saved in them", async () => {
  const [sample] = sampleThread as [ThreadMessage];
  const step = (id: string, change: Partial<ThreadMessage>) => ({ ...sample, id, content_type: "code", ...change });
  render(CollapsedSteps, {
    ...{ needle: "", current: null, wanted: null },
    messages: [
      step("a", { role: "assistant", hidden: true, memories: [{} as LinkInfo] }),
      step("b", { role: "tool", hidden: true, text: "Model set context updated." }),
    ],
  });
  expect(screen.getByRole("button").textContent).toContain("Memory saved");
  expect(screen.getByRole("button").textContent).not.toContain("Hidden message");
});
