import { render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, expect, it, vi } from "vitest";
import EraseDialog from "../src/features/removal/EraseDialog.svelte";
import { start, type Mock } from "./start-mock";
import { item } from "$lib/ipc/mock/data";

let mock: Mock;
const manyRecords = [
  ...Array.from({ length: 70 }, (_, n) => item(`m-${n}`, "memory", "claude", `Memory ${n}`, n)),
  ...Array.from({ length: 5 }, (_, n) => item(`c-${n}`, "conversation", "gemini", `Conversation ${n}`, n)),
];

beforeEach(async () => {
  mock = await start({ items: structuredClone(manyRecords) });
});

it("counts all records and names all their assistants, without loading each record", async () => {
  const ids = manyRecords.map((each) => each.id);
  const show = vi.spyOn(mock, "show");
  render(EraseDialog, { ids });
  await screen.findByText("Erase 75 items for good?");
  expect(screen.getByTestId("erase-confirm").textContent).toContain("Erase 75 items");
  expect(screen.getByText("What Claude, Gemini and ChatGPT themselves keep"), "also of the copies").toBeTruthy();
  expect(show, "no record is loaded").not.toHaveBeenCalled();
});

it("names the records by their kind if all have the same", async () => {
  render(EraseDialog, { ids: manyRecords.slice(0, 70).map((each) => each.id) });
  await screen.findByText("Erase 70 memories for good?");
  expect(screen.getByRole("button", { name: "Export them first…" })).toBeTruthy();
  expect(screen.getByText("What Claude and ChatGPT themselves keep")).toBeTruthy();
});

it("uses the singular for one record", async () => {
  render(EraseDialog, { ids: ["m-0"] });
  await screen.findByText("Erase 1 memory for good?");
  expect(screen.getByRole("button", { name: "Export it first…" })).toBeTruthy();
});

it("asks once about a single message that says the same, and about each of several", async () => {
  const preview = await mock.erasePreview({ ids: ["m-0"], reason: null, with_copies: false, copies: null });
  const boxes = async (n: number) => {
    const copies = preview.impact.copies.slice(0, n);
    mock.erasePreview = async () => ({ ...preview, impact: { ...preview.impact, copies } });
    const { unmount } = render(EraseDialog, { ids: ["m-0"] });
    await screen.findByTestId("erase-copies");
    const found = screen.getAllByRole("checkbox").length;
    expect(screen.getByTestId("erase-dialog").textContent).toContain(copies[0]?.conversation_title);
    unmount();
    return found;
  };
  expect(preview.impact.copies.length).toBeGreaterThan(1);
  expect([await boxes(1), await boxes(2)]).toEqual([1, 3]);
});

it("shows the words of a few records, so that it is clear what goes", async () => {
  render(EraseDialog, { ids: ["m-3", "m-4"] });
  await waitFor(() =>
    expect(screen.getAllByTestId("erase-which").map((each) => each.textContent)).toEqual(["Memory 3", "Memory 4"]),
  );
});
