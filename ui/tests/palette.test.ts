import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import Window from "../src/shell/Window.svelte";
import { finder } from "../src/shell/palette/finder.svelte";
import { bestMatches, matchName } from "../src/shell/palette/match";
import { item } from "$lib/ipc/mock/data";
import { appearance } from "$lib/state/appearance.svelte";
import { dialogs } from "$lib/state/dialogs.svelte";
import { memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { plainRow } from "$lib/state/records.svelte";
import { search } from "$lib/state/search-field.svelte";
import { session } from "$lib/state/session.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
  nav.section = "home";
  await vault.refresh();
});

const press = (key: string, more = {}) => fireEvent.keyDown(document.activeElement ?? document.body, { key, ...more });
const type = (value: string) => fireEvent.input(screen.getByTestId("palette-field"), { target: { value } });
const ids = () => screen.queryAllByTestId("palette-item").map((row) => row.dataset.id);

async function open(typed = "") {
  if (!document.querySelector(".window")) render(Window);
  await press("k", { ctrlKey: true });
  await screen.findByTestId("palette-field");
  if (typed) await type(typed);
}

/** Types a query and chooses the row with this id. */
async function choose(typed: string, id: string) {
  await open(typed);
  const row = await waitFor(() => screen.getAllByTestId("palette-item").find((each) => each.dataset.id === id)!);
  await fireEvent.click(row);
  await waitFor(() => expect(screen.queryByTestId("palette")).toBeNull());
}

describe("the palette", () => {
  it("shows commands, memories, conversations and places, in that order, the best five of each", async () => {
    await open("the");
    await waitFor(() => expect(ids().length).toBeGreaterThan(10));
    const groups = within(screen.getByTestId("palette")).getAllByRole("group");
    expect(
      groups.map((group) => document.getElementById(group.getAttribute("aria-labelledby") ?? "")?.textContent),
    ).toEqual(["Commands", "Memories", "Conversations", "Go to"]);
    expect(groups.map((group) => within(group).getAllByRole("option").length)).toEqual([5, 5, 5, 1]);
    expect([...groups[0]!.querySelectorAll("mark")].map((mark) => mark.textContent)).toContain("The");
    expect(groups[0]!.textContent).toContain("Ctrl L");
  });

  it("calls a conversation without a title by its first words, as the list does", async () => {
    const originalSearch = mock.searchRows;
    mock.searchRows = async (request) => {
      const found = await originalSearch(request);
      return { ...found, rows: found.rows.map((row) => (row.id === "c-bath" ? { ...row, title: null } : row)) };
    };
    await open("joists");
    const row = () => screen.getAllByTestId("palette-item").find(({ dataset }) => dataset.id === "c-bath");
    await waitFor(() => expect(row()?.textContent).toContain("The joists are 48 × 198"), { timeout: 10_000 });
    expect(row()?.querySelector("mark")?.textContent, "marked as in a title").toBe("joists");
  });

  it("shows why a conversation was found whose title doesn't have the word", async () => {
    await open("joists");
    const row = () => screen.getAllByTestId("palette-item").find(({ dataset }) => dataset.id === "c-bath");
    await waitFor(() => expect(row()).toBeTruthy());
    expect(finder.conversations.find(({ id }) => id === "c-bath")?.text).not.toContain("joists");
    expect(row()?.querySelector(".excerpt mark")?.textContent).toBe("joists");
    await type("bath");
    await waitFor(() => expect(row()?.querySelector("mark")?.textContent?.toLowerCase()).toContain("bath"));
    expect(row()?.querySelector(".excerpt"), "the title says it").toBeNull();
  });

  it("waits 120 ms before it asks the vault, and drops the answer to an older question", async () => {
    const requests = vi.spyOn(mock, "searchRows");
    await open();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await type("bath");
    await vi.advanceTimersByTimeAsync(119);
    expect(requests).not.toHaveBeenCalled();
    let release: () => void = () => undefined;
    const gate = new Promise<void>((done) => (release = done));
    const originalSearch = mock.searchRows;
    mock.searchRows = async (request) => {
      if (request.query === "bath") await gate;
      return originalSearch(request);
    };
    await vi.advanceTimersByTimeAsync(1);
    await type("tidebook");
    await vi.advanceTimersByTimeAsync(120);
    vi.useRealTimers();
    await waitFor(() => expect(finder.memories.map((found) => found.id)).toEqual(["m-14"]));
    release();
    await gate;
    await new Promise((done) => setTimeout(done));
    expect(finder.memories.map((found) => found.id)).toEqual(["m-14"]);
    expect(finder.conversations[0]?.id).toBe("c-tide");
  });

  it("shows only commands after >, tags after #, assistants after @, and asks the vault for nothing then", async () => {
    const requests = vi.spyOn(mock, "searchRows");
    await open(">the");
    expect(ids()).toContain("theme-light");
    expect(ids()).toHaveLength(5);
    await type("> export");
    expect(ids()).toEqual(["export", "export-all", "export-text"]);
    await type("#ho");
    await waitFor(() => expect(ids()).toEqual(["tag-house"]));
    await type("@");
    await waitFor(() => expect(ids()).toHaveLength(5));
    await type("@cla");
    expect(ids()).toEqual(["source-claude"]);
    await press("Enter");
    await waitFor(() => expect(nav.section).toBe("memories"));
    expect(memories.filter).toMatchObject({ kind: "memory", source: "claude", tag: null });
    expect(requests).not.toHaveBeenCalled();
  });

  it("offers the most common commands at first, then the last five commands until the vault locks", async () => {
    await open();
    expect(ids()).toEqual(["import", "guides", "paste", "export", "export-all"]);
    await press("Escape");
    await waitFor(() => expect(screen.queryByTestId("palette")).toBeNull());
    for (const [typed, id] of [
      [">dark", "theme-dark"],
      [">light", "theme-light"],
      ["files", "go-files"],
      ["changes", "go-activity-changes"],
      ["deletion rec", "go-activity-tombstones"],
      [">system", "theme-system"],
      ["files", "go-files"],
    ] as const)
      await choose(typed, id);
    expect([nav.section, appearance.theme]).toEqual(["files", "system"]);
    await open();
    const last = ["go-files", "theme-system", "go-activity-tombstones", "go-activity-changes", "theme-light"];
    expect(ids()).toEqual(last);
    session.locked("person");
    expect([finder.recent, finder.memories, finder.names.tags, dialogs.open]).toEqual([[], [], {}, null]);
  });

  it("opens the memory or the message that was found, without the search of the bar", async () => {
    search.text = "something else";
    await choose("Sandviken", "m-0");
    expect([nav.section, nav.id, search.text]).toEqual(["memories", "m-0", ""]);
    await choose("joists", "c-bath");
    expect([nav.section, nav.id]).toEqual(["conversations", "c-bath"]);
    expect(nav.message).toMatch(/^msg-/);
  });

  it("does nothing irreversible: it opens the dialog", async () => {
    const [erase, trash] = [vi.spyOn(mock, "erase"), vi.spyOn(mock, "trash")];
    await choose(">empty", "empty-trash");
    await waitFor(() => expect(dialogs.open).toEqual({ kind: "erase", ids: ["t-1", "t-2", "t-0"] }));
    expect(document.activeElement?.hasAttribute("data-cancel") ?? false).toBe(true);
    dialogs.close();
    await waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());
    await choose(">passphrase", "passphrase");
    expect(dialogs.open).toEqual({ kind: "passphrase" });
    expect([erase, trash].some((spy) => spy.mock.calls.length > 0)).toBe(false);
  });

  it("offers only what can be done: no Trash to empty, nothing to undo, nothing to export", async () => {
    mock = await start({ items: [] });
    await vault.refresh();
    for (const typed of [">empty", ">undo", ">export"]) {
      await open(typed);
      expect(ids()).toEqual([]);
      expect(screen.getByText(/Nothing matches/)).toBeTruthy();
      dialogs.close();
      await waitFor(() => expect(screen.queryByTestId("palette")).toBeNull());
    }
  });

  it("says so when the vault can't be searched, and shows the commands nevertheless", async () => {
    mock.searchRows = async () => Promise.reject(new Error("disk"));
    await open("zzz");
    expect(await screen.findByText(/Something unexpected/)).toBeTruthy();
    await type("theme");
    expect(ids()[0]).toBe("theme-light");
  });

  it("is closed by its own shortcut, and not opened over a sheet", async () => {
    await open();
    await press("k", { ctrlKey: true });
    expect(dialogs.open).toBeNull();
    dialogs.show({ kind: "write" });
    await press("k", { ctrlKey: true });
    expect(dialogs.open).toEqual({ kind: "write" });
  });

  it("shows a redacted value as a bar", async () => {
    mock = await start({
      items: [item("m-9", "memory", "gemini", "Lives at [REDACTED:address], upstairs.", 3)],
    });
    await open("upstairs");
    const row = await screen.findByTestId("palette-item");
    expect(row.textContent).not.toContain("REDACTED");
    expect(within(row).getByRole("img")).toBeTruthy();
  });

  it("says that nothing was found before it offers what is similar", async () => {
    mock.searchRows = async () => ({ rows: [], total: 0, next_offset: null }) as never;
    const similar = plainRow(item("m-1", "memory", "claude", "Is godmother to Ida.", 1));
    mock.similar = async () => ({ rows: [similar], weights: "ready" }) as never;
    await open("xqzzv");
    await waitFor(() => expect(ids()).toEqual(["m-1"]));
    const [group] = within(screen.getByTestId("palette")).getAllByRole("group");
    expect(document.getElementById(group!.getAttribute("aria-labelledby") ?? "")?.textContent).toBe(
      "Nothing contains “xqzzv”. Similar in meaning:",
    );
  });
});

describe("matching", () => {
  it("needs every word, prefers word starts, and marks the letters", () => {
    expect(matchName("Export everything as .mem…", "exp")).toEqual({ rank: 0, ranges: [[0, 3]] });
    expect(matchName("Export everything as .mem…", "every exp")).toEqual({
      rank: 1,
      ranges: [
        [7, 12],
        [0, 3],
      ],
    });
    expect(matchName("Import…", "exp")).toBeNull();
    expect(matchName("Import…", "add", "open add")).toEqual({ rank: 3, ranges: [] });
    expect(matchName("書き出す…", "出す")?.ranges).toEqual([[2, 4]]);
    const names = ["Unlock it", "A lock", "Lock"];
    expect(bestMatches(names, 2, (name) => matchName(name, "lock")).map((each) => each.one)).toEqual([
      "Lock",
      "A lock",
    ]);
  });
});
