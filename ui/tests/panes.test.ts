import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import ConversationsView from "../src/features/conversations/ConversationsView.svelte";
import MemoriesView from "../src/features/memories/MemoriesView.svelte";
import App from "../src/shell/App.svelte";
import "../src/shell/Window.svelte";
import { run } from "../src/shell/commands";
import { start, type Mock } from "./start-mock";
import { dialogs } from "$lib/state/dialogs.svelte";
import { conversations, files, memories } from "$lib/state/lists.svelte";
import { nav, type Section } from "$lib/state/nav.svelte";
import { search } from "$lib/state/search-field.svelte";
import { selection } from "$lib/state/selection.svelte";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
  search.attach(null);
  dialogs.close();
});

describe("the focus", () => {
  const isInSection = () => document.querySelector("main")?.contains(document.activeElement);

  it("follows to the section that a link in a dialog opened, and returns if none was opened", async () => {
    nav.go("home");
    render(App);
    const opener = await screen.findByTestId("nav-home");
    const openSheet = async () => {
      opener.focus();
      dialogs.show({ kind: "limits" });
      await screen.findByTestId("limits-sheet");
      await waitFor(() => expect(document.activeElement).not.toBe(opener));
    };
    await openSheet();
    dialogs.close();
    await waitFor(() => expect(document.activeElement).toBe(opener));
    await openSheet();
    dialogs.close();
    nav.go("files");
    await waitFor(() => expect(isInSection()).toBe(true));
    await new Promise((done) => void setTimeout(done, 50));
    expect(isInSection(), "it does not go back later").toBe(true);
  });

  it("is not lost with the link that opened another section, and stays in the sidebar", async () => {
    nav.go("home");
    render(App);
    (await screen.findByTestId("home-total")).focus();
    nav.go("memories");
    await waitFor(() => expect(isInSection()).toBe(true));
    const entry = screen.getByTestId("nav-files");
    entry.focus();
    await fireEvent.click(entry);
    await waitFor(() => expect(nav.section).toBe("files"));
    await new Promise((done) => void setTimeout(done, 50));
    expect(document.activeElement).toBe(entry);
  });
});

describe("export of what is on screen", () => {
  it.each([
    ["memories", memories],
    ["conversations", conversations],
    ["files", files],
  ] as const)("exports the checked rows if there are any (%s)", (section, list) => {
    nav.go(section);
    run("export");
    expect(dialogs.open).toMatchObject({ kind: "export", filter: list.filter });
    dialogs.close();
    selection.toggle(list, "a");
    selection.toggle(list, "b");
    run("export-text");
    expect(dialogs.open).toMatchObject({ found: 2, query: "", format: "transfer_text" });
    expect(dialogs.open).toMatchObject({ filter: { ids: ["a", "b"], kind: null } });
    dialogs.close();
    run("export-all");
    expect(dialogs.open, "Export all ignores the checked rows").toMatchObject({ filter: null });
  });

  it("ignores checked rows of the Trash, which no export contains", () => {
    nav.go("trash");
    selection.toggle(memories, "t-0");
    run("export");
    expect(dialogs.open).toMatchObject({ kind: "export", filter: null });
  });
});

describe.each([
  ["memory", MemoriesView, "memories", "m-8", "detail-trash"],
  ["conversation", ConversationsView, "conversations", "c-bath", "reader-find"],
] as const)("beside the list, an open %s", (_, View, section, id, button) => {
  async function openRecord() {
    const trash = vi.spyOn(mock, "trash");
    nav.go(section, id);
    render(View);
    await screen.findByRole("listbox");
    const focused = await screen.findByTestId(button);
    focused.focus();
    return { trash, focused };
  }

  it("moves to the Trash by Delete and focuses the list", async () => {
    const { trash, focused } = await openRecord();
    await fireEvent.keyDown(focused, { key: "Delete", repeat: true });
    await fireEvent.keyDown(focused, { key: "Delete", ctrlKey: true });
    expect(trash).not.toHaveBeenCalled();
    await fireEvent.keyDown(focused, { key: "Delete" });
    await waitFor(() => expect(trash).toHaveBeenCalledExactlyOnceWith([id]));
    expect(document.activeElement?.getAttribute("role")).toBe("listbox");
  });

  it("opens the erase dialog by Shift Delete", async () => {
    const { trash, focused } = await openRecord();
    await fireEvent.keyDown(focused, { key: "Delete", shiftKey: true });
    expect(dialogs.open).toEqual({ kind: "erase", ids: [id] });
    expect(trash).not.toHaveBeenCalled();
  });
});

it("the key Delete in a form does not move the memory to the Trash", async () => {
  const trash = vi.spyOn(mock, "trash");
  nav.go("memories", "m-8");
  render(MemoriesView);
  await fireEvent.click(await screen.findByTestId("detail-edit"));
  await fireEvent.keyDown(await screen.findByTestId("edit-text"), { key: "Delete" });
  await fireEvent.keyDown(screen.getByTestId("edit-save"), { key: "Delete" });
  expect(trash).not.toHaveBeenCalled();
});

describe("Ctrl F", () => {
  it.each(["sensitive", "trash", "settings"] as Section[])(
    "says in the palette that there is no search (%s)",
    async (s) => {
      nav.go(s);
      render(App);
      await waitFor(() => expect(document.querySelector("h1")).toBeTruthy());
      await fireEvent.keyDown(document.body, { key: "f", ctrlKey: true });
      const note = await screen.findByTestId("palette-note");
      expect(note.textContent).toMatch(/^You can’t search in “(Sensitive|Trash|Settings)”\./);
      const field = screen.getByTestId("palette-field");
      expect(field.getAttribute("aria-describedby")).toBe(note.id);
    },
  );

  it("focuses the field if there is one, and opens no palette", async () => {
    nav.go("memories");
    render(App);
    const field = await screen.findByTestId("search-field");
    await fireEvent.keyDown(document.body, { key: "f", ctrlKey: true });
    expect(document.activeElement).toBe(field);
    expect(dialogs.open).toBeNull();
    await fireEvent.keyDown(document.body, { key: "k", ctrlKey: true });
    await screen.findByTestId("palette");
    expect(screen.queryByTestId("palette-note")).toBeNull();
  });
});
