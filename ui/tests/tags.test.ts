import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, expect, it, vi } from "vitest";
import SelectionView from "../src/features/memories/SelectionView.svelte";
import { start, type Mock } from "./start-mock";
import { failWith } from "$lib/ipc/mock/jobs";
import { memories } from "$lib/state/lists.svelte";
import { selection } from "$lib/state/selection.svelte";
import { toasts } from "$lib/state/toasts.svelte";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
});

const tagsOf = async (id: string) => (await mock.show(id, false, false)).record.tags;

/** Checks these records and types a tag into the tag field for checked records. */
async function typeTag(ids: string[], tag: string) {
  for (const id of ids) selection.toggle(memories, id);
  render(SelectionView);
  await fireEvent.click(screen.getByTestId("selection-tag-ask"));
  const field = screen.getByTestId<HTMLInputElement>("selection-tag");
  await fireEvent.input(field, { target: { value: tag } });
  return field;
}

it("the tag field adds a tag to all checked rows at once, and Undo removes it only from rows that did not have it", async () => {
  // m-0 already has the tag #house.
  const [tag, edit] = [vi.spyOn(mock, "tag"), vi.spyOn(mock, "edit")];
  const field = await typeTag(["m-0", "m-8", "m-9"], "#house");
  await fireEvent.keyDown(field, { key: "Enter" });
  await waitFor(() => expect(toasts.current?.text).toBe("2 memories tagged #house"));
  expect([tag.mock.calls.length, edit.mock.calls.length]).toEqual([1, 0]);
  expect(await tagsOf("m-9")).toContain("house");
  expect(selection.ids.size, "the rows stay checked").toBe(3);
  await toasts.undo();
  expect([(await tagsOf("m-0")).includes("house"), (await tagsOf("m-9")).includes("house")]).toEqual([true, false]);
});

it("the tag field closes by Esc and by the button, and adds nothing when it loses the focus", async () => {
  const tag = vi.spyOn(mock, "tag");
  const field = await typeTag(["m-8", "m-9"], "secret");
  await fireEvent.blur(field);
  expect(screen.getByTestId("selection-tag"), "the field stays open with its text").toBe(field);
  const bodyListener = vi.fn();
  document.body.addEventListener("keydown", bodyListener);
  await fireEvent.keyDown(field, { key: "Escape" });
  expect(screen.queryByTestId("selection-tag")).toBeNull();
  await fireEvent.click(screen.getByTestId("selection-tag-ask"));
  await fireEvent.click(screen.getByText("Cancel"));
  expect(screen.queryByTestId("selection-tag")).toBeNull();
  expect([tag.mock.calls.length, bodyListener.mock.calls.length, selection.ids.size]).toEqual([0, 0, 2]);
});

it("the tag field says if all checked rows have the tag already", async () => {
  await fireEvent.keyDown(await typeTag(["m-0", "m-1"], "house"), { key: "Enter" });
  await waitFor(() => expect(toasts.current?.text).toBe("All 2 already have #house"));
  expect(toasts.canUndo).toBe(false);
});

it("adding a tag shows progress if it takes long, and can be cancelled", async () => {
  let end: (error: Error) => void = () => undefined;
  mock.tag = (_job, _request, onProgress) => {
    onProgress({ stage: "store", done: 50, total: 900, unit: "records", records: 50 });
    return new Promise((_, refused) => (end = refused));
  };
  const cancelJob = vi.spyOn(mock, "cancelJob");
  await typeTag(["m-8", "m-9"], "tea");
  await fireEvent.click(screen.getByTestId("selection-tag-add"));
  await waitFor(() => expect(screen.getByTestId("selection-tagging").textContent).toBe("Tagging 50 of 900"));
  selection.toggle(memories, "m-8");
  await waitFor(() => expect(screen.getByText("1 memory selected")).toBeTruthy());
  expect(screen.getByTestId("selection-tagging").textContent, "counted at the start").toBe("Tagging 50 of 900");
  await fireEvent.click(screen.getByText("Cancel"));
  expect(cancelJob).toHaveBeenCalled();
  end(failWith("cancelled", "Cancelled."));
  await waitFor(() => expect(toasts.current?.text).toBe("Cancelled. Nothing was tagged."));
  expect(screen.getByTestId("selection-tag-ask")).toBeTruthy();
});
