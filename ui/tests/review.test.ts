import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import ExportSheet from "../src/features/exporting/ExportSheet.svelte";
import { markDifferences } from "../src/features/duplicates/word-marks";
import { missingByAssistant } from "../src/features/home/data";
import HomeView from "../src/features/home/HomeView.svelte";
import { chipsOf } from "../src/features/memories/chips";
import MemoryDetail from "../src/features/memories/MemoryDetail.svelte";
import MemoryRow from "../src/features/memories/MemoryRow.svelte";
import { run } from "../src/shell/commands";
import DialogHost from "../src/shell/DialogHost.svelte";
import Toast from "../src/shell/Toast.svelte";
import type { MockOptions } from "$lib/ipc/mock";
import { item } from "$lib/ipc/mock/data";
import { dialogs } from "$lib/state/dialogs.svelte";
import { duplicates } from "$lib/state/duplicates.svelte";
import { showExport } from "$lib/state/open-export";
import { ANY, isFiltered } from "$lib/state/filter";
import { conversations, memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { plainRow } from "$lib/state/records.svelte";
import { sensitive } from "$lib/state/sensitive.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

async function home(options: MockOptions = {}) {
  mock = await start(options);
  await vault.refresh();
  nav.section = "home";
}

beforeEach(() => home());

describe("things that need attention", () => {
  it("link to findings, duplicates and missing records", async () => {
    await sensitive.count();
    render(HomeView);
    expect((await screen.findByTestId("attention-sensitive")).textContent).toContain("14");
    expect((await screen.findByTestId("attention-duplicates")).textContent).toContain("3");
    // Each number opens a list with that many rows.
    const rows = screen.getAllByTestId("attention-missing");
    const titleAndCount = (row: HTMLElement) => [
      row.querySelector("strong")?.textContent,
      row.querySelector("b")?.textContent,
    ];
    expect(rows.map(titleAndCount)).toEqual([
      ["Memories not in the newest ChatGPT export", "3"],
      ["Conversations not in the newest ChatGPT export", "1"],
    ]);
    const [first, second] = rows as [HTMLElement, HTMLElement];
    await fireEvent.click(first);
    expect(nav.section).toBe("memories");
    await memories.load();
    expect([memories.filter.kind, memories.total]).toEqual(["memory", 3]);
    await fireEvent.click(second);
    expect(nav.section).toBe("conversations");
    await conversations.load();
    expect([conversations.filter.source, conversations.total]).toEqual(["chatgpt", 1]);
  });

  it("have no row without findings", async () => {
    await home({
      items: [item("m-1", "memory", "claude", "Likes tea", 1), item("c-1", "conversation", "claude", "Tea", 1)],
    });
    mock.tombstones = async () => ({ tombstones: [] });
    const queue = { items: [], open: {}, redacted: {}, ignored: {}, scanned_at: null, left: 0 };
    mock.sensitiveQueue = async () => queue;
    mock.duplicates = async () => ({ groups: [] });
    render(HomeView);
    await duplicates.load();
    await sensitive.count();
    expect(screen.queryByTestId("attention-missing")).toBeNull();
    // Nothing was scanned yet.
    expect(screen.queryByText("Nothing needs your attention.")).toBeNull();
    mock.sensitiveQueue = async () => ({ ...queue, scanned_at: "2026-11-22T09:00:00Z" });
    await sensitive.count();
    expect(await screen.findByText("Nothing needs your attention.")).toBeTruthy();
  });

  it("link to the conversations if only those are missing", async () => {
    await home({ items: [item("c-1", "conversation", "claude", "Tea", 1, { export_diff_status: "gone" })] });
    render(HomeView);
    const gone = await screen.findByTestId("attention-missing");
    expect(gone.textContent).toContain("Conversations not in the newest Claude export");
    expect(gone.textContent).toContain("Still in your vault. The export may be");
    await fireEvent.click(gone);
    expect([nav.section, conversations.filter.export_diff_status]).toEqual(["conversations", "gone"]);
  });

  it("add up by assistant, for listed kinds only", () => {
    const one = (platform: string, kind: string, export_diff_status: string, count: number) => ({
      platform,
      kind,
      export_diff_status,
      count,
    });
    expect(
      missingByAssistant([
        one("claude", "profile", "gone", 1),
        one("chatgpt", "memory", "gone", 4),
        one("chatgpt", "conversation", "gone", 2),
        one("chatgpt", "memory", "new", 9),
        one("chatgpt", "message", "gone", 70),
      ]),
    ).toEqual([
      { source: "chatgpt", kind: "memory", n: 4, alone: false },
      { source: "chatgpt", kind: "conversation", n: 2, alone: false },
      { source: "claude", kind: "profile", n: 1, alone: true },
    ]);
  });
});

describe("duplicates", () => {
  const sheet = async () => {
    dialogs.show({ kind: "duplicates" });
    render(DialogHost);
    return screen.findAllByTestId("duplicate-group");
  };

  it("marks the words that differ, and keeps the newest wording by default", async () => {
    const groups = await sheet();
    expect(groups.map((group) => group.querySelector("h3")?.textContent)).toEqual([
      "The same words",
      "Nearly the same",
      "Nearly the same",
    ]);
    const [older, newer] = [...groups[2]!.querySelectorAll("[data-testid=duplicate]")];
    expect(newer?.getAttribute("aria-checked")).toBe("true");
    expect(newer?.textContent).toContain("newest wording");
    expect([...newer!.querySelectorAll("mark")].map((mark) => mark.textContent).join("")).toContain("nearly eight");
    const mergeRecords = vi.spyOn(mock, "merge");
    await fireEvent.click(older!);
    await fireEvent.click(groups[2]!.querySelector("[data-testid=duplicate-keep-one]")!);
    await waitFor(() =>
      expect(mergeRecords).toHaveBeenCalledWith(older!.getAttribute("data-id"), [newer!.getAttribute("data-id")]),
    );
    await waitFor(() => expect(duplicates.groups).toHaveLength(2));
  });

  it("calls no wording the newest if one of them has no date", async () => {
    const undated = { ...item("m-2", "memory", "claude", "Likes green tea", 0), created_at: null };
    mock.duplicates = async () => ({
      groups: [{ same: true, items: [item("m-1", "memory", "chatgpt", "Likes tea", 9), undated] }],
    });
    const [group] = await sheet();
    expect(group!.textContent).not.toContain("newest wording");
    expect(group!.querySelector("[data-id=m-2] .meta")?.textContent?.replaceAll(/\s+/g, " ").trim()).toBe(
      "Claude·no date",
    );
  });

  it("puts the memories that were not kept back by Undo", async () => {
    const groups = await sheet();
    await fireEvent.click(groups[0]!.querySelector("[data-testid=duplicate-keep-one]")!);
    await waitFor(() => expect(toasts.current?.text).toContain("moved to Trash"));
    await waitFor(() => expect(vault.info?.trash).toBe(4));
    await toasts.undo();
    await waitFor(() => expect(duplicates.groups).toHaveLength(3));
    expect(toasts.current?.text).toContain("put back");
  });

  it("restores the tags of the kept record by Undo", async () => {
    await home({
      items: [
        item("m-a", "memory", "claude", "Budget for the bathroom is NOK 240,000", 2, { tags: ["house"] }),
        item("m-b", "memory", "chatgpt", "Budget for the bathroom is NOK 240,000", 1, { tags: ["money"] }),
      ],
    });
    const [group] = await sheet();
    const tags = async () => (await mock.show("m-b", false, false)).record.tags;
    await fireEvent.click(group!.querySelector("[data-testid=duplicate-keep-one]")!);
    await waitFor(() => expect(toasts.canUndo).toBe(true));
    expect(await tags()).toEqual(["house", "money"]);
    await toasts.undo();
    expect(await tags()).toEqual(["money"]);
    expect((await mock.show("m-a", false, false)).record.trashed_at).toBeNull();
  });

  it("can be undone by Ctrl Z or the toast while their sheet is open, and the sheet stays open", async () => {
    const keepOne = async () => {
      await fireEvent.click(screen.getAllByTestId("duplicate-keep-one")[0]!);
      await waitFor(() => expect(duplicates.groups).toHaveLength(2));
    };
    await sheet();
    render(Toast);
    await keepOne();
    run("undo");
    await waitFor(() => expect(duplicates.groups).toHaveLength(3));
    await keepOne();
    const undoButton = await screen.findByTestId("toast-action");
    expect(undoButton.textContent).toContain("Ctrl");
    const pressOn = (on: Element) => fireEvent.pointerDown(on, { button: 0, clientX: 900, clientY: 700 });
    await pressOn(undoButton);
    // The sheet would close only when the next press begins, so press once more to see whether it stays open.
    await pressOn(screen.getByTestId("duplicates-sheet"));
    expect(dialogs.open?.kind).toBe("duplicates");
    await fireEvent.click(undoButton);
    await waitFor(() => expect(duplicates.groups).toHaveLength(3));
    await pressOn(document.body);
    await waitFor(() => expect(dialogs.open).toBeNull());
  });

  it("remembers the choice in a group out of view", async () => {
    const checkedStates = () => screen.getAllByTestId("duplicate").map((each) => each.getAttribute("aria-checked"));
    await sheet();
    const before = checkedStates();
    await fireEvent.click(screen.getAllByTestId("duplicate")[0]!);
    const after = checkedStates();
    expect(after).not.toEqual(before);
    await fireEvent.click(screen.getAllByTestId("duplicate-keep-one")[0]!);
    await waitFor(() => expect(screen.getAllByTestId("duplicate-group")).toHaveLength(2));
    await toasts.undo();
    await waitFor(() => expect(screen.getAllByTestId("duplicate-group")).toHaveLength(3));
    expect(checkedStates()).toEqual(after);
  });

  it("keeps its virtual list when few groups are left, and recognises a reloaded group", async () => {
    const pairOfItems = (n: number) =>
      ["a", "b"].map((side) => item(`m-${n}${side}`, "memory", "claude", `Number ${n}`, n));
    mock.duplicates = async () => ({
      groups: Array.from({ length: 21 }, (_, n) => ({ same: true, items: pairOfItems(n) })),
    });
    dialogs.show({ kind: "duplicates" });
    render(DialogHost);
    await waitFor(() => expect(duplicates.groups).toHaveLength(21));
    const virtualList = () => screen.getByTestId("duplicates-sheet").querySelector(".many");
    await waitFor(() => expect(virtualList()).toBeTruthy());
    mock.duplicates = async () => new Promise(() => undefined);
    await duplicates.keepApart(structuredClone(duplicates.groups![0]!));
    await waitFor(() => expect(duplicates.groups).toHaveLength(20));
    expect(virtualList()).toBeTruthy();
  });

  it("can be kept apart, and the sheet says when none are left", async () => {
    await sheet();
    for (let remaining = 3; remaining > 0; remaining -= 1) {
      await fireEvent.click(screen.getAllByTestId("duplicate-keep-all")[0]!);
      await waitFor(() => expect(screen.queryAllByTestId("duplicate-group")).toHaveLength(remaining - 1));
    }
    expect(screen.getByText("No duplicates found")).toBeTruthy();
  });

  it("are compared word by word", () => {
    expect(markDifferences("likes green tea", "likes tea")).toEqual([
      { kind: "text", text: "likes " },
      { kind: "mark", text: "green" },
      { kind: "text", text: " " },
      { kind: "text", text: "tea" },
    ]);
    const markedWords = markDifferences("A balcony, windy: two pots and a fern.", "A balcony with two pots.")
      .filter((part) => part.kind === "mark")
      .map((part) => part.text);
    expect(markedWords, "without the punctuation around the words").toEqual(["windy", "and a fern"]);
    const long = markDifferences("tea ".repeat(5000), "milk");
    expect(long.reduce((sum, part) => sum + ("text" in part ? part.text.length : 0), 0)).toBeLessThan(2100);
  });
});

describe("the newest export", () => {
  it("marks rows and details", async () => {
    const row = plainRow(item("m-9", "memory", "chatgpt", "Likes tea", 3, { export_diff_status: "gone" }));
    const { unmount } = render(MemoryRow, { row, selecting: false, checked: false, oncheck: () => undefined });
    expect(screen.getByTestId("export-status").textContent).toBe("not in the newest export");
    unmount();
    // This record is in no loaded list.
    render(MemoryDetail, { id: "m-2" });
    expect((await screen.findByTestId("export-status")).textContent).toBe("Added in the newest export");
  });

  it("does not hide the mark of sensitive values in a row", () => {
    const row = plainRow(item("m-9", "memory", "chatgpt", "The key is abc", 3, { sensitive: true }));
    const { container } = render(MemoryRow, { row, selecting: false, checked: false, oncheck: () => undefined });
    expect(container.querySelector(".sensitive")?.textContent).toBe("sensitive");
  });

  it("filters lists and exports", async () => {
    memories.setFilter({ export_diff_status: "changed" });
    expect([isFiltered(memories.filter), isFiltered(ANY)]).toEqual([true, false]);
    expect(chipsOf({ ...ANY, kind: "memory", export_diff_status: "changed" }).map((chip) => chip.label)).toEqual([
      "Changed",
    ]);
    expect(chipsOf({ ...ANY, source: "claude", export_diff_status: "gone" }).map((chip) => chip.label)).toEqual([
      "Claude",
      "Not in the newest export",
    ]);
    await memories.load();
    expect(memories.rows.map((row) => row.id)).toEqual(["m-9"]);
    nav.section = "memories";
    showExport("screen");
    expect(dialogs.open).toMatchObject({ kind: "export", filter: { export_diff_status: "changed" }, found: 1 });
  });
});

describe("an export", () => {
  const sheet = () => render(ExportSheet, { filter: null, query: "", found: null, start: "mem" });
  const findMaskSwitch = async () => {
    const row = await screen.findByTestId("export-cover");
    const found = row.querySelector<HTMLButtonElement>("[role=switch]")!;
    await waitFor(() => expect(found.disabled).toBe(false));
    return found;
  };

  it("masks sensitive values by default, and shows how many", async () => {
    const exportRun = vi.spyOn(mock, "exportRun");
    sheet();
    expect((await findMaskSwitch()).getAttribute("aria-checked")).toBe("true");
    expect(screen.getByTestId("export-cover").textContent).toContain("14 values become [REDACTED] in the file.");
    await fireEvent.click(screen.getByTestId("export-understood"));
    await fireEvent.click(screen.getByTestId("export-save"));
    const review = await screen.findByTestId("export-review");
    expect(exportRun.mock.lastCall?.[1].cover).toBe(true);
    expect(review.closest("dd")?.textContent).toContain("14 sensitive values");
    await fireEvent.click(review);
    expect(nav.section).toBe("sensitive");
  });

  it("asks once before exporting unmasked values", async () => {
    const preview = vi.spyOn(mock, "exportPreview");
    sheet();
    const found = await findMaskSwitch();
    await fireEvent.click(found);
    expect(await screen.findByText("Export 14 sensitive values without masking them?")).toBeTruthy();
    expect(document.activeElement).toBe(screen.getByTestId("uncover-keep"));
    await fireEvent.click(screen.getByTestId("uncover-keep"));
    expect(found.getAttribute("aria-checked")).toBe("true");
    await fireEvent.click(found);
    await fireEvent.click(await screen.findByTestId("uncover-confirm"));
    await waitFor(() => expect(preview.mock.lastCall?.[1].cover).toBe(false));
    expect(found.getAttribute("aria-checked")).toBe("false");
    await fireEvent.click(found);
    await waitFor(() => expect(found.getAttribute("aria-checked")).toBe("true"));
    await fireEvent.click(found);
    expect(screen.queryByTestId("uncover-dialog")).toBeNull();
  });
});
