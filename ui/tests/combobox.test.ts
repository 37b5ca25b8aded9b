import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, expect, it, vi } from "vitest";
import MemoryDetail from "../src/features/memories/MemoryDetail.svelte";
import SelectionView from "../src/features/memories/SelectionView.svelte";
import DialogHost from "../src/shell/DialogHost.svelte";
import { start, type Mock } from "./start-mock";
import { detail } from "$lib/state/detail.svelte";
import { dialogs } from "$lib/state/dialogs.svelte";
import { memories } from "$lib/state/lists.svelte";
import { selection } from "$lib/state/selection.svelte";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
  const { facets } = mock;
  mock.facets = async (...args) => ({ ...(await facets(...args)), tags: { team: 9, tea: 2, garden: 5, stream: 1 } });
});

const offeredTags = () => screen.queryAllByTestId("tag-offered").map((row) => row.textContent?.trim());
const type = async (field: HTMLElement, value: string) => fireEvent.input(field, { target: { value } });
const press = (field: HTMLElement, key: string, more = {}) => fireEvent.keyDown(field, { key, ...more });

async function openTagFieldInDetail() {
  render(MemoryDetail, { id: "m-8" });
  await fireEvent.click(await screen.findByTestId("detail-add-tag"));
  return screen.getByTestId("detail-tag");
}

async function openTagFieldInEdit() {
  render(MemoryDetail, { id: "m-8" });
  await screen.findByTestId("detail-add-tag");
  detail.request("edit", "m-8");
  return screen.findByTestId("edit-tags");
}

async function openTagFieldInWrite() {
  render(DialogHost);
  dialogs.show({ kind: "write" });
  return screen.findByTestId("edit-tags");
}

async function openTagFieldInSelection() {
  for (const id of ["m-8", "m-9"]) selection.toggle(memories, id);
  render(SelectionView);
  await fireEvent.click(screen.getByTestId("selection-tag-ask"));
  return screen.getByTestId("selection-tag");
}

const tagFields = {
  inDetail: openTagFieldInDetail,
  inEdit: openTagFieldInEdit,
  inWrite: openTagFieldInWrite,
  inSelection: openTagFieldInSelection,
};

it.each(Object.entries(tagFields))(
  "suggests known tags while typing, the typed one first (%s)",
  async (_, openField) => {
    const field = await openField();
    expect([field.getAttribute("role"), field.getAttribute("aria-expanded")]).toEqual(["combobox", "false"]);
    await type(field, "#tea");
    await waitFor(() => expect(offeredTags()).toEqual(["#tea", "#team"]));
    expect(field.getAttribute("aria-expanded")).toBe("true");
    await type(field, "rea");
    await waitFor(() => expect(offeredTags()).toEqual(["#reanew", "#stream"]));
    await type(field, "TE");
    await waitFor(() => expect(offeredTags()).toEqual(["#TEnew", "#team", "#tea"]));
    await press(field, "Escape");
    await waitFor(() => expect(offeredTags()).toEqual([]));
    expect(field.isConnected, "Esc closes the topmost first").toBe(true);
  },
);

it("adds the typed text as a tag by Enter, even if a known tag starts with it", async () => {
  const edit = vi.spyOn(mock, "edit");
  const field = await openTagFieldInDetail();
  await type(field, "te");
  await waitFor(() => expect(offeredTags()[0]).toBe("#tenew"));
  await press(field, "Enter");
  await waitFor(() => expect(edit.mock.lastCall?.[0].tags?.at(-1)).toBe("te"));
});

it("adds the suggestion chosen with the arrows, and suggests no tag that the record has", async () => {
  const tag = vi.spyOn(mock, "tag");
  const field = await openTagFieldInSelection();
  await type(field, "te");
  await waitFor(() => expect(offeredTags()).toEqual(["#tenew", "#team", "#tea"]));
  await waitFor(() => expect(field.getAttribute("aria-activedescendant")).toBeTruthy());
  await press(field, "ArrowDown");
  await press(field, "Enter");
  await waitFor(() => expect(tag.mock.lastCall?.[1].tag).toBe("team"));
});

it("adds a chip by comma, removes one by Backspace, and suggests no tag that is a chip already", async () => {
  const field = await openTagFieldInEdit();
  const chips = () => [...document.querySelectorAll("form .box > :not(input)")].map((chip) => chip.textContent?.trim());
  const before = chips().length;
  await type(field, "garden");
  await press(field, ",");
  await waitFor(() => expect(chips()).toHaveLength(before + 1));
  await type(field, "gard");
  await waitFor(() => expect(offeredTags()).toEqual([]));
  await type(field, "");
  await press(field, "Backspace");
  await waitFor(() => expect(chips()).toHaveLength(before));
});

it("ignores keys of an IME composition, and saves the typed text", async () => {
  const edit = vi.spyOn(mock, "edit");
  const field = await openTagFieldInEdit();
  await type(field, "庭");
  await press(field, "Enter", { isComposing: true });
  // WebKit ends the composition before the key press, so only the key code 229 shows that the key press belongs to the
  // composition.
  await press(field, "Enter", { keyCode: 229 });
  for (const place of [field, screen.getByTestId("edit-text")]) await press(place, "Escape", { isComposing: true });
  expect((field as HTMLInputElement).value).toBe("庭");
  expect(screen.getByTestId("edit-tags"), "the form stays open").toBe(field);
  // The list of suggestions also ignores keys that belong to a composition.
  await type(field, "te");
  await waitFor(() => expect(offeredTags().length).toBeGreaterThan(1));
  await press(field, "ArrowDown");
  await press(field, "Enter", { keyCode: 229 });
  expect((field as HTMLInputElement).value).toBe("te");
  await type(field, "庭");
  await press(field, "Enter", { ctrlKey: true });
  await waitFor(() => expect(edit.mock.lastCall?.[0].tags?.at(-1)).toBe("庭"));
});

it("keeps the focus in a sheet, and closes the suggestions when the focus leaves the field", async () => {
  const field = await openTagFieldInWrite();
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("write-text")));
  field.focus();
  await type(field, "te");
  await waitFor(() => expect(offeredTags()).toHaveLength(3));
  // Wait until the sheet has reacted to the change.
  await new Promise((done) => setTimeout(done, 0));
  expect(document.activeElement).toBe(field);
  screen.getByTestId("write-text").focus();
  await waitFor(() => expect(offeredTags()).toEqual([]));
});
