// Tests that no screen is a dead end: wherever a person could get stuck, the window offers a way to go on.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import VaultImage from "../src/features/layout/VaultImage.svelte";
import ImportSheet from "../src/features/importing/ImportSheet.svelte";
import { cutOffFiles, placeText } from "../src/features/importing/outcomes";
import DroppedPreview from "../src/features/start/DroppedPreview.svelte";
import MemoriesView from "../src/features/memories/MemoriesView.svelte";
import App from "../src/shell/App.svelte";
import "../src/shell/Window.svelte";
import Bar from "../src/shell/Bar.svelte";
import { run } from "../src/shell/commands";
import { commandFor } from "../src/shell/keymap";
import { selectAllInside } from "../src/shell/select-all";
import { appearance } from "$lib/state/appearance.svelte";
import { dialogs } from "$lib/state/dialogs.svelte";
import { importing } from "$lib/state/importing.svelte";
import { memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { search } from "$lib/state/search-field.svelte";
import { sensitive } from "$lib/state/sensitive.svelte";
import { vault } from "$lib/state/vault.svelte";
import { clearContent } from "$lib/state/lock-cleanup";
import { start, type Mock } from "./start-mock";

let mock: Mock;
beforeEach(async () => {
  mock = await start();
  await vault.refresh();
});

it("a section opens with the record that was open in it, until the vault is locked", () => {
  nav.go("conversations", "c-bath");
  nav.open("conversations");
  expect(nav.id, "its own key changes nothing").toBe("c-bath");
  nav.open("memories");
  nav.choose("m-3");
  nav.open("conversations");
  expect(nav.id).toBe("c-bath");
  nav.open("memories");
  expect(nav.id).toBe("m-3");
  clearContent();
  nav.open("conversations");
  expect(nav.id).toBeNull();
});

it("the find shortcut searches the open conversation, and pressed again in its field all conversations", async () => {
  nav.go("conversations", "c-bath");
  render(App);
  const list = await screen.findByRole("listbox");
  await screen.findByRole("heading", { level: 2, name: /Waterproofing/ });
  list.focus();
  await fireEvent.keyDown(list, { key: "f", ctrlKey: true });
  const findField = await screen.findByTestId("find-field");
  await waitFor(() => expect(document.activeElement).toBe(findField));
  await fireEvent.keyDown(findField, { key: "f", ctrlKey: true });
  expect(document.activeElement).toBe(screen.getByTestId("search-field"));
});

it.each([
  [{ key: "+", shiftKey: true }, "larger-text"],
  [{ key: "=" }, "larger-text"],
  [{ key: "-" }, "smaller-text"],
  [{ key: "0" }, "normal-text"],
] as const)("%j with Ctrl is %s", (key, command) => {
  const keyEvent = { ...{ code: "", ctrlKey: true, metaKey: false, shiftKey: false, altKey: false }, ...key };
  expect(commandFor(keyEvent, { mac: false, inField: true })).toBe(command);
});

it("the text size goes up and down in steps, also over a dialog", () => {
  dialogs.show({ kind: "shortcuts" });
  const sizes = (["larger-text", "larger-text", "larger-text", "smaller-text", "normal-text"] as const).map(
    (command) => {
      run(command);
      return appearance.textSize;
    },
  );
  expect(sizes).toEqual(["large", "larger", "larger", "large", "normal"]);
});

it("Ctrl A selects the text that has the focus, never the window", () => {
  document.body.innerHTML = '<p>window</p><div class="selectable" tabindex="0">words</div><input />';
  const selectAllIn = (target: Element | null) => {
    const event = new KeyboardEvent("keydown", { key: "a", ctrlKey: true, cancelable: true });
    Object.defineProperty(event, "target", { value: target });
    getSelection()?.removeAllRanges();
    selectAllInside(event);
    return [event.defaultPrevented, String(getSelection())];
  };
  expect(selectAllIn(document.body)).toEqual([true, ""]);
  expect(selectAllIn(document.querySelector(".selectable"))).toEqual([true, "words"]);
  expect(selectAllIn(document.querySelector("input"))[0], "fields select their own text").toBe(false);
});

it("a picture that cannot be decoded is replaced by an icon of this window", async () => {
  const { container } = render(VaultImage, { id: "f-0", name: "joists.jpg", type: "image/jpeg" });
  await waitFor(() => expect(container.querySelector("img")).not.toBeNull());
  await fireEvent.error(container.querySelector("img")!);
  expect(container.querySelector("img")).toBeNull();
  expect(container.querySelector(".lucide-image")).not.toBeNull();
});

describe("a search", () => {
  it("is named by what it searches", () => {
    const label = () => screen.getByTestId("search-field").getAttribute("aria-label");
    nav.section = "memories";
    render(Bar);
    expect(label()).toBe("Search memories");
    nav.section = "files";
    return waitFor(() => expect(label()).toBe("Search files"));
  });

  it("without hits and without filters offers to clear the search, not filters", async () => {
    search.text = "xylophone";
    render(MemoriesView);
    expect(await screen.findByRole("button", { name: "Clear the search" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Clear filters" })).toBeNull();
    memories.setFilter({ tag: "house" });
    expect(await screen.findByRole("button", { name: "Clear filters" })).toBeTruthy();
  });
});

describe("an import", () => {
  it.each([
    ["a.zip!/conversations.json#/10/mapping/1509bb0a", "conversations.json, entry 11, 1509bb0a"],
    ["a.zip!/memories.json#/0", "memories.json, entry 1"],
    ["/home/ines/notes/tea.md", "tea.md"],
    ["a.zip!/b.tar!/c.json#/conversations/3", "c.json, entry 4"],
  ])("names the place of an item in words: %s", (place, words) => expect(placeText(place)).toBe(words));

  it("leads from its report to the values that wait for review", async () => {
    await sensitive.count();
    await importing.inspect(["/d/chatgpt-export.zip"]);
    await importing.run();
    dialogs.show({ kind: "import" });
    render(ImportSheet);
    await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("import-done")));
    await fireEvent.click(screen.getByTestId("import-sensitive"));
    expect([nav.section, dialogs.open]).toEqual(["sensitive", null]);
  });

  it("of a file that ends early says so, and advises to repeat the download", async () => {
    const preview = mock.importPreview;
    const warning = (code: string, place: string) => ({ code, place, message: "the file ends early", count: 1 });
    mock.importPreview = async (...args) => ({
      ...(await preview(...args)),
      ...{ added: 0, updated: 0 },
      warnings: [
        warning("truncated_archive", "/d/chatgpt-export.zip"),
        warning("truncated", "chatgpt-export.zip!/conversations.json@986621"),
      ],
    });
    await importing.inspect(["/d/chatgpt-export.zip"]);
    render(ImportSheet);
    const note = await screen.findByTestId("import-cut-off");
    expect(note.textContent).toContain("The end of chatgpt-export.zip is missing");
    expect(note.textContent).toContain("repeat the download");
    expect(screen.getByTestId("import-file").textContent).toContain("Cut off");
    expect(screen.getByTestId("import-file").textContent).not.toContain("Recognised");
    expect(screen.queryByTestId("import-missing"), "what did not arrive was not left out by the assistant").toBeNull();
    expect(screen.getByTestId("import-none-new").textContent).toContain("Nothing in it is new");
  });

  it("names a file that ends early by the file that was dropped", () => {
    const report = (...places: string[]) =>
      ({ warnings: places.map((place) => ({ code: "truncated", place, message: "", count: 1 })) }) as never;
    expect(cutOffFiles(report("/d/chats.json@986621", "a.zip!/inner.json@7", "b.jsonl#/3"))).toEqual([
      ...["chats.json", "b.jsonl"],
    ]);
  });

  it("of a damaged file says so in words of this window, and whom to ask", async () => {
    const message = "checksum mismatch: items/episode.jsonl";
    mock.checkFile = async () =>
      ({
        ...{ checked: true, ok: false, signer: null },
        signature: { present: true, valid: null, algorithm: null, trusted: null, key: null, tombstones: [] },
        errors: [{ code: "checksum", place: "forged.mem/items/episode.jsonl", message }],
      }) as never;
    await importing.inspect(["/d/about.mem"]);
    render(ImportSheet);
    const check = await screen.findByTestId("import-check");
    expect(check.textContent).toContain("Ask the sender for a new copy.");
    const list = check.parentElement?.querySelector("ul") ?? check;
    expect(list.textContent).toContain("A checksum is missing or doesn’t match.");
    expect(list.textContent, "only under Details").not.toContain(message);
    await fireEvent.click(screen.getByRole("button", { name: "Details" }));
    expect(list.textContent).toContain(message);
  });

  it("of a file that is not recognised does not say that it can be read once a vault is open", async () => {
    await start({ open: false });
    await importing.inspect(["/d/poem.txt"]);
    render(DroppedPreview);
    expect(screen.getByTestId("peek").textContent).toContain("Mementory doesn’t recognise this file.");
    expect(document.body.textContent).not.toContain("To read this export");
  });
});
