import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import ExportSheet from "../src/features/exporting/ExportSheet.svelte";
import { handleLetterKey } from "../src/features/memories/keys";
import { visibleList } from "../src/features/layout/row-actions";
import MemoryList from "../src/features/memories/MemoryList.svelte";
import MemoryDetail from "../src/features/memories/MemoryDetail.svelte";
import SelectionView from "../src/features/memories/SelectionView.svelte";
import TrashView from "../src/features/removal/TrashView.svelte";
import { item } from "$lib/ipc/mock/data";
import { detail } from "$lib/state/detail.svelte";
import { dialogs } from "$lib/state/dialogs.svelte";
import { showExport } from "$lib/state/open-export";
import { facets } from "$lib/state/facets.svelte";
import { ANY } from "$lib/state/filter";
import { conversations, memories, trash } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { allMatchingIds } from "$lib/state/records.svelte";
import { search } from "$lib/state/search-field.svelte";
import { selection } from "$lib/state/selection.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
});

const manyItems = (n: number) =>
  Array.from({ length: n }, (_, index) => item(`m-${index}`, "memory", "claude", `Number ${index} likes tea`, index));

describe("a changed list", () => {
  it("loads as many rows as before; a new query starts with its first page", async () => {
    mock = await start({ items: manyItems(250) });
    await memories.load();
    await memories.loadNextPage();
    await memories.load();
    expect([memories.rows.length, memories.more]).toEqual([200, true]);
    await memories.loadNextPage();
    expect(memories.rows).toHaveLength(250);
    memories.sort = "oldest";
    await memories.load();
    expect(memories.rows).toHaveLength(100);
    memories.sort = "newest";
  });

  it("loads as many rows as before while searching, too", async () => {
    mock = await start({ items: manyItems(250) });
    memories.query = "tea";
    await memories.load();
    await memories.loadNextPage();
    const loadedCount = memories.rows.length;
    await memories.load();
    expect([memories.rows.length, memories.more]).toEqual([loadedCount, true]);
  });

  it("prefetches while waiting for the next key, one request at a time", async () => {
    mock = await start({ items: manyItems(250) });
    const searchRows = vi.spyOn(mock, "searchRows");
    const words = () => searchRows.mock.calls.map(([request]) => request.query);
    memories.prefetch("te");
    memories.prefetch("tea");
    expect(words()).toEqual(["te"]);
    // "tea" was typed while the request for "te" was running, so it is requested next.
    await vi.waitFor(() => expect(words()).toEqual(["te", "tea"]));
    await searchRows.mock.results[1]?.value;
    memories.query = "tea";
    await memories.load();
    expect(words()).toEqual(["te", "tea"]);
    expect(memories.rows[0]?.snippet).toContain("tea");
    // Prefetching another query discards the answer for "like", so "like" is requested again. Only the first
    // load uses a prefetched answer.
    memories.prefetch("like");
    await searchRows.mock.results[2]?.value;
    memories.prefetch("likes");
    await searchRows.mock.results[3]?.value;
    memories.prefetch("like");
    memories.query = "like";
    await memories.load();
    await memories.load();
    expect(words().slice(2)).toEqual(["like", "likes", "like", "like"]);
  });

  it("keeps its list in the page while nothing is found", async () => {
    mock = await start({ items: manyItems(3) });
    render(MemoryList, { messages: null });
    await memories.load();
    const list = await screen.findByRole("listbox");
    const find = async (query: string) => {
      memories.query = query;
      await memories.load();
    };
    await find("no such words");
    await screen.findByText("No memory contains “no such words”");
    expect(document.querySelector("[role=listbox]")).toBe(list);
    expect(list.closest(".unseen")).not.toBeNull();
    // The keyboard cannot reach the hidden list.
    expect(visibleList(document)).toBeNull();
    await find("tea");
    await waitFor(() => expect(list.closest(".unseen")).toBeNull());
    expect(screen.queryByText("No memory contains “no such words”")).toBeNull();
    expect(visibleList(document)).toBe(list);
  });

  it("reports the error of a prefetch when its answer is used", async () => {
    mock = await start({ items: manyItems(3) });
    vi.spyOn(mock, "searchRows").mockRejectedValueOnce({ code: "bug", message: "It broke." });
    memories.prefetch("tea");
    await Promise.resolve();
    memories.query = "tea";
    await memories.load();
    expect(memories.failed).not.toBeNull();
    await memories.load();
    expect(memories.failed).toBeNull();
  });

  it("requests at most a thousand rows per call", async () => {
    mock = await start({ items: manyItems(1300) });
    await memories.load();
    while (memories.more) await memories.loadNextPage();
    const requests = vi.spyOn(mock, "list");
    await memories.load();
    expect(memories.rows).toHaveLength(1300);
    expect(requests.mock.calls.map(([request]) => request.limit)).toEqual([1000, 300]);
  });

  it("remembers, after a failed load, how many rows it had before", async () => {
    mock = await start({ items: manyItems(250) });
    await memories.load();
    await memories.loadNextPage();
    const list = mock.list;
    mock.list = async () => Promise.reject(new Error("disk"));
    await memories.load();
    mock.list = list;
    await memories.load();
    expect(memories.rows).toHaveLength(200);
  });
});

describe("a search while typing", () => {
  it("treats the last word as incomplete, everywhere", async () => {
    const searched = [vi.spyOn(mock, "searchRows"), vi.spyOn(mock, "search")];
    const countCalls = vi.spyOn(mock, "facets");
    memories.query = "waterpr";
    await memories.load();
    conversations.query = "waterpr";
    await conversations.load();
    await facets.load({ ...ANY, kind: "memory", source: "claude" }, "waterpr");
    expect(memories.rows.map((row) => row.id)).toEqual(["m-3"]);
    expect(conversations.rows.map((row) => row.id)).toEqual(["c-bath"]);
    expect(await allMatchingIds(mock, memories.filter, "waterpr")).toEqual(["m-3"]);
    expect(searched.map((spy) => spy.mock.calls.length)).toEqual([2, 1]);
    expect(searched.flatMap((spy) => spy.mock.calls).every(([request]) => request.typing)).toBe(true);
    expect(countCalls.mock.calls.map(([, query, typing]) => [query, typing])).toEqual([
      ["waterpr", true],
      [null, false],
      ["waterpr", true],
    ]);
  });
});

describe("the numbers next to the filters", () => {
  it("have all names, also if the search before was still being counted", async () => {
    const filter = { ...ANY, kind: "memory" };
    const { facets: count } = mock;
    let finishFirst = () => {};
    let countedAll = false;
    mock.facets = async (filter, query, typing) => {
      if (query === "first") await new Promise<void>((resolve) => (finishFirst = resolve));
      const numbers = await count(filter, query, typing);
      countedAll ||= query === null;
      return numbers;
    };
    facets.clear();
    const first = facets.load(filter, "first");
    await waitFor(() => expect(countedAll).toBe(true));
    await facets.load(filter, "second");
    finishFirst();
    await first;
    expect(Object.keys(facets.all.sources)).not.toEqual([]);
    expect(facets.all).toEqual(await count(filter, null, false));
  });
});

describe("the export of a search for conversations", () => {
  it("contains the conversations on screen, found by message or title", async () => {
    conversations.query = "joists";
    await conversations.load();
    expect(conversations.rows.map((row) => row.id)).toEqual(["c-bath"]);
    expect(await allMatchingIds(mock, conversations.filter, "joists")).toEqual(["c-bath"]);
    expect(await allMatchingIds(mock, conversations.filter, "tidebook")).toEqual(["c-tide"]);
  });

  it("counts conversations, not the messages that were found", async () => {
    const requests = vi.spyOn(mock, "exportPreview");
    nav.section = "conversations";
    search.text = conversations.query = "joists";
    await conversations.load();
    expect(conversations.total).toBeGreaterThan(1);
    showExport("screen");
    if (dialogs.open?.kind !== "export") throw new Error("no export");
    const { filter, query, found, format } = dialogs.open;
    render(ExportSheet, { filter, query, found, start: format });
    expect(await screen.findByText(/What’s on screen \(1\)/)).toBeTruthy();
    expect(requests.mock.calls[0]?.[1].filter).toEqual({ ...ANY, ids: ["c-bath"] });
  });
});

describe("a letter pressed in the list", () => {
  const press = (key: string, active: string | null) =>
    handleLetterKey(new KeyboardEvent("keydown", { key, cancelable: true }), active);

  it("applies to the active row at once", async () => {
    nav.choose("m-0");
    press("e", "m-1");
    expect([nav.id, detail.pending]).toEqual(["m-1", { action: "edit", id: "m-1" }]);
    render(MemoryDetail, { id: "m-1" });
    expect(await screen.findByTestId("edit-text")).toBeTruthy();
    expect(detail.pending).toBeNull();
  });

  it("starts the action neither in another record nor when this record is opened again", async () => {
    press("e", "m-1");
    const other = render(MemoryDetail, { id: "m-0" });
    await screen.findByTestId("detail-text");
    expect([screen.queryByTestId("edit-text"), detail.pending?.id]).toEqual([null, "m-1"]);
    other.unmount();
    render(MemoryDetail, { id: "m-1" }).unmount();
    expect(detail.pending).toBeNull();
  });

  it("tags or redacts all rows if several are checked, and then edits none", async () => {
    selection.toggle(memories, "m-1");
    selection.toggle(memories, "m-2");
    press("e", "m-1");
    expect(detail.pending).toBeNull();
    render(SelectionView);
    expect(screen.queryByTestId("selection-tag")).toBeNull();
    press("t", "m-1");
    expect(await screen.findByTestId("selection-tag")).toBeTruthy();
    expect(detail.pending).toBeNull();
    press("r", "m-1");
    await waitFor(() => expect(dialogs.open).toEqual({ kind: "redact-kinds", ids: ["m-1", "m-2"] }));
    expect(detail.pending).toBeNull();
  });
});

describe("the Trash", () => {
  const eraseButton = () => screen.getByTestId("trash-erase") as HTMLButtonElement;

  async function activate() {
    render(TrashView);
    await fireEvent.keyDown(await screen.findByRole("listbox"), { key: "ArrowDown" });
    expect(eraseButton().disabled).toBe(false);
  }

  it("lists what was deleted last first, and selects the next row when a record is put back", async () => {
    await activate();
    expect(trash.rows.map((row) => row.id)).toEqual(["t-1", "t-0", "t-2"]);
    await fireEvent.click(screen.getByTestId("trash-restore"));
    await waitFor(() => expect(trash.rows).toHaveLength(2));
    await fireEvent.click(eraseButton());
    expect(dialogs.open).toEqual({ kind: "erase", ids: ["t-0"] });
  });

  it("erases only records that are still in the Trash", async () => {
    await activate();
    await mock.restore(["t-1"]);
    vault.changed();
    await waitFor(() => expect(trash.rows).toHaveLength(2));
    expect(eraseButton().disabled).toBe(true);
  });

  it("unchecks all rows after a change, because checked rows may have left it", async () => {
    await activate();
    await selection.checkAll(trash);
    await mock.restore(["t-1"]);
    vault.changed();
    await waitFor(() => expect(trash.rows).toHaveLength(2));
    expect(selection.ids.size).toBe(0);
  });
});
