import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import MessageView from "../src/features/conversations/MessageView.svelte";
import Window from "../src/shell/Window.svelte";
import { commandFor, keysOf, SHORTCUTS } from "../src/shell/keymap";
import { sampleThread } from "$lib/ipc/mock/thread";
import { appearance } from "$lib/state/appearance.svelte";
import { detail } from "$lib/state/detail.svelte";
import { dialogs } from "$lib/state/dialogs.svelte";
import { conversations, files, memories, trash } from "$lib/state/lists.svelte";
import { nav, type Section } from "$lib/state/nav.svelte";
import { selection } from "$lib/state/selection.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

// Each test renders the whole window, which is slow on a busy machine.
vi.setConfig({ testTimeout: 20_000 });

let mock: Mock;
const lists = { memories, conversations, trash };

async function show(section: Section) {
  mock = await start();
  nav.section = section;
  await vault.refresh();
  render(Window);
}

async function openList(section: keyof typeof lists) {
  await show(section);
  const box = await screen.findByRole("listbox");
  await waitFor(() => expect(lists[section].rows.length).toBeGreaterThan(2));
  box.focus();
  return { box, ids: lists[section].rows.map((row) => row.id) };
}

/** Shows the files as a list. Only its active row is rendered, because without layout the list has no height. */
async function openFileList() {
  await show("files");
  await fireEvent.click(await screen.findByText("List"));
  const box = await screen.findByRole("listbox");
  box.focus();
  return box;
}

const activeId = (box: HTMLElement) =>
  document.getElementById(box.getAttribute("aria-activedescendant") ?? "")?.dataset.id ?? null;
const checked = () => [...selection.ids];

beforeEach(() => void (appearance.letterKeys = true));

describe.each(["memories", "conversations", "trash"] as const)("the list of %s", (section) => {
  it("supports moving, checking, checking all and clearing by keys", async () => {
    const { box, ids } = await openList(section);
    const key = (name: string, more = {}) => fireEvent.keyDown(box, { key: name, ...more });
    await key("Home");
    expect(activeId(box)).toBe(ids[0]);
    await key("ArrowDown", { shiftKey: true });
    await key("ArrowDown", { shiftKey: true });
    expect(checked()).toEqual(ids.slice(0, 3));
    await key("ArrowUp", { shiftKey: true });
    expect(checked()).toEqual(ids.slice(0, 2));
    await key("Escape");
    expect(checked()).toEqual([]);
    await key(" ");
    expect(checked()).toEqual([ids[1]]);
    await key("a", { ctrlKey: true });
    await waitFor(() => expect(selection.ids.size).toBe(lists[section].total));
    await key("Escape");
    await key("PageDown");
    expect(activeId(box)).toBe(ids[2]);
    await key("PageUp");
    expect(activeId(box)).toBe(ids[1]);
    await key("End");
    // Wait until the list has loaded its other rows.
    await waitFor(() => expect(lists[section].rows).toHaveLength(lists[section].total ?? -1));
    await waitFor(() => expect(activeId(box)).toBe(lists[section].rows.at(-1)?.id));
    expect(nav.section).toBe(section);
  });
});

describe.each(["memories", "conversations"] as const)("the detail beside %s", (section) => {
  it("follows the active row after 80 ms", async () => {
    const { box, ids } = await openList(section);
    await waitFor(() => expect(nav.id).toBe(ids[0]));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await fireEvent.keyDown(box, { key: "ArrowDown" });
    await fireEvent.keyDown(box, { key: "ArrowDown" });
    await vi.advanceTimersByTimeAsync(79);
    expect(nav.id).toBe(ids[0]);
    await vi.advanceTimersByTimeAsync(1);
    vi.useRealTimers();
    expect(nav.id).toBe(ids[2]);
  });

  it("is replaced by the selection, whose rows move to the Trash together", async () => {
    const { box, ids } = await openList(section);
    await fireEvent.keyDown(box, { key: "Home" });
    await fireEvent.keyDown(box, { key: "ArrowDown", shiftKey: true });
    expect(await screen.findByTestId("selection-trash")).toBeTruthy();
    const trashRecords = vi.spyOn(mock, "trash");
    await fireEvent.keyDown(box, { key: "Delete" });
    expect(trashRecords).toHaveBeenCalledWith(ids.slice(0, 2));
    await waitFor(() => expect(checked()).toEqual([]));
    await fireEvent.keyDown(box, { key: "Delete", shiftKey: true });
    expect(dialogs.open).toMatchObject({ kind: "erase" });
  });
});

describe("files", () => {
  it("are previewed by Space, checked by Ctrl A, and moved to the Trash", async () => {
    const box = await openFileList();
    const ids = files.rows.map((row) => row.id);
    await fireEvent.keyDown(box, { key: "Home" });
    await fireEvent.keyDown(box, { key: " " });
    expect(await screen.findByTestId("file-sheet")).toBeTruthy();
    expect(checked()).toEqual([]);
    await fireEvent.keyDown(box, { key: "ArrowDown", shiftKey: true });
    expect(checked()).toEqual(ids.slice(0, 2));
    expect(box.querySelector("[data-testid=row-check].on")).toBeTruthy();
    await fireEvent.keyDown(box, { key: "a", ctrlKey: true });
    await waitFor(() => expect(selection.ids.size).toBe(files.total));
    const trashRecords = vi.spyOn(mock, "trash");
    await fireEvent.click(screen.getByTestId("files-trash"));
    expect(trashRecords).toHaveBeenCalledWith(ids);
  });

  it("select the next file when one is moved to the Trash", async () => {
    const box = await openFileList();
    const ids = files.rows.map((row) => row.id);
    const trashRecords = vi.spyOn(mock, "trash");
    await fireEvent.keyDown(box, { key: "Home" });
    // Press the second Delete before the list has reloaded.
    await fireEvent.keyDown(box, { key: "Delete" });
    await fireEvent.keyDown(box, { key: "Delete" });
    expect(trashRecords.mock.calls).toEqual([[[ids[0]]], [[ids[1]]]]);
    await waitFor(() => expect(files.rows).toHaveLength(ids.length - 2));
    expect(activeId(box)).toBe(ids[2]);
    // Remove the record by a call, not by a key press in the list.
    await mock.trash([ids[2]!]);
    vault.changed();
    await waitFor(() => expect(activeId(box)).toBe(ids[3]));
  });

  it("move the focus to the next file in the grid, too", async () => {
    const box = await openFileList();
    const ids = files.rows.map((row) => row.id);
    await fireEvent.keyDown(box, { key: "Home" });
    await fireEvent.click(screen.getByText("Grid"));
    const focusedCard = () => document.activeElement as HTMLElement;
    document.querySelector<HTMLElement>(`[data-testid=file-card][data-id="${ids[0]}"]`)!.focus();
    await fireEvent.keyDown(focusedCard(), { key: "Delete" });
    await waitFor(() => expect(focusedCard().dataset.id).toBe(ids[1]));
    await waitFor(() => expect(files.rows).toHaveLength(ids.length - 1));
    await waitFor(() => expect(focusedCard().dataset.id).toBe(ids[1]));
    await mock.trash([ids[1]!]);
    vault.changed();
    await waitFor(() => expect(focusedCard().dataset.id).toBe(ids[2]));
  });
});

describe("a menu on a row", () => {
  const entry = (name: RegExp) => screen.findByRole("menuitem", { name });
  const menuOn = async (id: string) => {
    const row = document.querySelector<HTMLElement>(`[data-id="${id}"]`);
    if (!row) throw new Error(`no row ${id}`);
    await fireEvent.contextMenu(row, { button: 2 });
    await screen.findByTestId("context-menu");
  };
  const moveTo = async (box: HTMLElement, steps: number) => {
    await fireEvent.keyDown(box, { key: "Home" });
    for (let n = 0; n < steps; n += 1) await fireEvent.keyDown(box, { key: "ArrowDown" });
  };

  it("acts on the row under the pointer, not on others that are checked", async () => {
    const { box, ids } = await openList("memories");
    selection.toggle(memories, ids[0]!);
    await moveTo(box, 2);
    await menuOn(ids[2]!);
    await fireEvent.click(await entry(/Erase for good/));
    await waitFor(() => expect(dialogs.open).toEqual({ kind: "erase", ids: [ids[2]] }));
    expect(checked()).toEqual([ids[0]]);
  });

  it("acts on all checked rows if it is opened on one of them, and has the actions for several rows", async () => {
    const { box, ids } = await openList("memories");
    for (const id of ids.slice(0, 2)) selection.toggle(memories, id);
    await moveTo(box, 1);
    await menuOn(ids[1]!);
    expect(screen.queryByTestId("menu-edit")).toBeNull();
    const trashRecords = vi.spyOn(mock, "trash");
    await fireEvent.click(await entry(/Move to Trash/));
    await waitFor(() => expect(trashRecords).toHaveBeenCalledWith(ids.slice(0, 2)));
  });

  it("opens by the Menu key and by Shift F10 for the row that has the focus, and edits it", async () => {
    const { box, ids } = await openList("memories");
    await fireEvent.keyDown(box, { key: "Home" });
    await fireEvent.keyDown(box, { key: "ContextMenu" });
    expect((await entry(/^Edit/)).textContent).toContain("E");
    await fireEvent.keyDown(screen.getByTestId("context-menu"), { key: "Escape" });
    await waitFor(() => expect(screen.queryByTestId("context-menu")).toBeNull());
    box.focus();
    await fireEvent.keyDown(box, { key: "F10", shiftKey: true });
    await fireEvent.click(await screen.findByTestId("menu-edit"));
    expect(await screen.findByTestId("edit-text")).toBeTruthy();
    expect(nav.id).toBe(ids[0]);
    await fireEvent.keyDown(screen.getByTestId("edit-text"), { key: "Escape" });
    await waitFor(() => expect(document.activeElement).toBe(box));
  });

  it("leaves the window usable after closing", async () => {
    const { box } = await openList("memories");
    await fireEvent.keyDown(box, { key: "Home" });
    await fireEvent.keyDown(box, { key: "ContextMenu" });
    await waitFor(() => expect(document.body.style.pointerEvents).toBe("none"));
    await fireEvent.keyDown(screen.getByTestId("context-menu"), { key: "Escape" });
    await waitFor(() => expect(document.body.style.pointerEvents).toBe(""));
  });

  it("of a conversation, a file and the Trash offers the actions of their bars", async () => {
    const names = () => screen.getAllByRole("menuitem").map((item) => item.querySelector(".label")?.textContent);
    const { box } = await openList("conversations");
    await moveTo(box, 2);
    await menuOn("c-tide");
    expect(names()).toEqual(["Open", "Export this…", "Move to Trash", "Erase for good…"]);
    cleanup();
    const list = await openFileList();
    await moveTo(list, 0);
    await menuOn("f-3");
    expect(names()).toEqual(["Open", "Open the conversation", "Export this…", "Move to Trash", "Erase for good…"]);
    cleanup();
    await moveTo((await openList("trash")).box, 0);
    await menuOn("t-1");
    expect(names()).toEqual(["Put back", "Erase for good…"]);
    const restoreRecords = vi.spyOn(mock, "restore");
    await fireEvent.click(screen.getByTestId("menu-restore"));
    await waitFor(() => expect(restoreRecords).toHaveBeenCalledWith(["t-1"]));
  });
});

describe("single-letter shortcuts", () => {
  it("can be switched off, in the list, in its menu and in the list of shortcuts", async () => {
    appearance.letterKeys = false;
    const { box, ids } = await openList("memories");
    await fireEvent.keyDown(box, { key: "Home" });
    await fireEvent.keyDown(box, { key: "e" });
    expect(screen.queryByTestId("edit-text")).toBeNull();
    await fireEvent.contextMenu(document.querySelector(`[data-id="${ids[0]}"]`)!, { button: 2 });
    expect((await screen.findByTestId("menu-edit")).querySelector("kbd")).toBeNull();
    dialogs.show({ kind: "shortcuts" });
    const sheet = within(await screen.findByRole("dialog"));
    expect(sheet.getByText("Lock")).toBeTruthy();
    expect(sheet.queryByText("Redact")).toBeNull();
    expect(sheet.getByText(/switched off/)).toBeTruthy();
  });
});

describe("a single-letter shortcut of the screen", () => {
  const focus = (find: () => HTMLElement | null) => async () => {
    const at = await waitFor(() => find() ?? Promise.reject(new Error("not there")));
    at.focus();
    return at;
  };
  const at = (id: string) => focus(() => screen.queryByTestId(id));
  const focusedElement = () => document.activeElement as HTMLElement;
  const menu = async () => {
    await fireEvent.contextMenu(activeRow()!, { button: 2 });
    (await screen.findByTestId("context-menu")).focus();
  };
  const activeRow = () => document.querySelector<HTMLElement>("[role=listbox] [role=option].active");

  it.each([
    ["on nothing", async () => ((document.activeElement as HTMLElement | null)?.blur(), document.body)],
    ["in the list", focus(() => screen.queryByRole("listbox"))],
    ["on a button of the detail", at("detail-more")],
    ["in the navigation", at("nav-memories")],
  ])("works with the focus %s", async (_, focusedElement) => {
    await openList("memories");
    await waitFor(() => expect(activeRow()).toBeTruthy());
    await screen.findByTestId("detail-text");
    await fireEvent.keyDown(await focusedElement(), { key: "e" });
    expect(await screen.findByTestId("edit-text")).toBeTruthy();
  });

  it.each([
    ["a field", at("search-field"), {}],
    ["a menu", async () => (await menu(), focusedElement()), {}],
    [
      "a sheet",
      async () => (dialogs.show({ kind: "shortcuts" }), await screen.findByRole("dialog"), document.body),
      {},
    ],
    ["a command", focus(() => screen.queryByRole("listbox")), { ctrlKey: true }],
  ])("leaves the key to %s", async (_, where, more) => {
    await openList("memories");
    await waitFor(() => expect(activeRow()).toBeTruthy());
    await fireEvent.keyDown(await where(), { key: "t", ...more });
    expect(screen.queryByTestId("tag-field")).toBeNull();
    expect(detail.pending).toBeNull();
  });
});

it.each(["reader-message", "message-redact"])("a message is redacted by R on %s", async (at) => {
  mock = await start();
  const message = sampleThread.find((each) => each.id === "msg-a2")!;
  const props = { collapsed: [], source: "chatgpt", needle: "", current: null, wanted: null, showRedactButton: true };
  render(MessageView, { ...props, onbranch: vi.fn(), menus: new Map(), message });
  await fireEvent.keyDown(screen.getByTestId(at), { key: "r" });
  await waitFor(() => expect(dialogs.open).toMatchObject({ kind: "redact", id: "msg-a2" }));
});

describe("the list of shortcuts", () => {
  it("has every shortcut of the window, and no unused one", () => {
    const pressed = (shown: string) => {
      const parts = shown.split(" ");
      const key = parts.at(-1) ?? "";
      return commandFor(
        {
          key: { "←": "ArrowLeft", "→": "ArrowRight" }[key] ?? key,
          code: "",
          ctrlKey: parts.includes("Ctrl"),
          shiftKey: parts.includes("Shift"),
          altKey: parts.includes("Alt"),
          metaKey: false,
        },
        { mac: false, inField: false },
      );
    };
    const all = SHORTCUTS.flatMap((shortcut) => shortcut.keys);
    // The window handles shortcuts with Ctrl, Alt or F6. The shortcuts of lists, editor and reader are tested above.
    const ofWindow = all.filter(
      (each) => /^(Ctrl|Alt|F6|Shift F6)/.test(each) && !["Ctrl A", "Ctrl Enter"].includes(each),
    );
    expect(ofWindow.filter((each) => pressed(each) === null)).toEqual([]);
    for (const name of [
      "palette",
      "search",
      "import",
      "paste",
      "export",
      "export-all",
      "write",
      "lock",
      "shortcuts",
      "undo",
    ] as const) {
      const shown = keysOf(name) ?? "";
      expect([name, all.includes(shown), pressed(shown)]).toEqual([name, true, name]);
    }
    expect(keysOf({ go: "trash" })).toBe("Ctrl 7");
  });
});
