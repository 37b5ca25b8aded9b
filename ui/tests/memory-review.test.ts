import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import AttentionList from "../src/features/home/AttentionList.svelte";
import MemoryDetail from "../src/features/memories/MemoryDetail.svelte";
import ReviewView from "../src/features/review/ReviewView.svelte";
import { item } from "$lib/ipc/mock/data";
import { ANY } from "$lib/state/filter";
import { nav } from "$lib/state/nav.svelte";
import { review } from "$lib/state/review.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

const ALL_MEMORIES = { source: null, sensitive: false, about: null, special: null, skip: [], id: null };

let mock: Mock;
beforeEach(async () => {
  mock = await start();
  await vault.refresh();
  review.clear();
  nav.section = "review";
});

const shownId = async () => (await screen.findByTestId("review-memory")).dataset.id!;
const press = (key: string) => fireEvent.keyDown(window, { key });
/** Presses a key and waits until another memory is shown. */
async function pressAndWait(key: string) {
  const before = await shownId();
  await press(key);
  await waitFor(async () => expect(await shownId()).not.toBe(before));
}

describe("the review of memories", () => {
  it("is answered by the keys 1 to 5, and U takes the last answer back", async () => {
    render(ReviewView);
    const firstId = await shownId();
    const reviewAnswer = vi.spyOn(mock, "reviewAnswer");
    await pressAndWait("3");
    expect(reviewAnswer).toHaveBeenLastCalledWith([{ id: firstId, answer: "wrong" }]);
    expect(screen.getByRole("status").textContent).toMatch(/^1 of/);
    const second = await shownId();
    await pressAndWait("5");
    expect(reviewAnswer).toHaveBeenCalledTimes(1);
    await press("u");
    await waitFor(async () => expect(await shownId()).toBe(second));
    await press("u");
    await waitFor(async () => expect(await shownId()).toBe(firstId));
    expect(reviewAnswer).toHaveBeenLastCalledWith([{ id: firstId, answer: "none" }]);
    expect(screen.getByRole("status").textContent).toMatch(/^0 of/);
  });

  it("keeps its answers when it is left and opened again", async () => {
    const view = render(ReviewView);
    const firstId = await shownId();
    await pressAndWait("1");
    view.unmount();
    review.clear();
    render(ReviewView);
    expect(await shownId()).not.toBe(firstId);
    expect(screen.getByRole("status").textContent).toMatch(/^1 of/);
  });

  it("ends with what to do in the vault and at each assistant", async () => {
    const ids: string[] = [];
    render(ReviewView);
    for (const key of ["2", "3", "4"]) {
      ids.push(await shownId());
      await pressAndWait(key);
    }
    await fireEvent.click(screen.getByTestId("review-toggle"));
    const lists = await screen.findAllByTestId("todo");
    const items = lists.flatMap((list) => within(list).getAllByTestId("todo-item"));
    expect(items).toHaveLength(3);
    const copyText = vi.spyOn(mock, "copyText");
    await fireEvent.click(within(lists[0]!).getByTestId("todo-copy"));
    await waitFor(() => expect(copyText).toHaveBeenCalled());
    const trash = vi.spyOn(mock, "trash");
    await fireEvent.click(screen.getByTestId("review-trash"));
    await waitFor(() => expect(trash).toHaveBeenCalled());
    expect([...trash.mock.calls[0]![0]].sort()).toEqual(ids.slice(0, 2).sort());
    const { left } = await mock.reviewNext({ ...ALL_MEMORIES, counts_only: true });
    await vault.refresh();
    await waitFor(() => expect(review.state?.left).toBe(left));
    expect(screen.getByText(`3 of ${left + 3} statements reviewed`), "what is in the Trash was reviewed").toBeTruthy();
  });

  it("is not finished while skipped memories are left, and goes on with them", async () => {
    mock = await start({ items: ["a", "b"].map((id, n) => item(id, "memory", "claude", `Likes ${id}`, n)) });
    await vault.refresh();
    review.clear();
    render(ReviewView);
    await pressAndWait("1");
    await press("5");
    expect(await screen.findByText("Reviewed so far")).toBeTruthy();
    expect(screen.getByTestId("review-result").textContent).toMatch(/Skipped\s*1/);
    await fireEvent.click(screen.getByTestId("review-toggle"));
    await shownId();
    await press("2");
    expect(await screen.findByText("Review finished")).toBeTruthy();
    expect((screen.getByTestId("review-toggle") as HTMLButtonElement).disabled).toBe(true);
  });

  it("of one topic has only its memories, and counts only these", async () => {
    const about = (kind: string) => ({ about: { kind, confidence: 0.8, by: "suggested" } });
    const isPrivate = { ...about("food"), special: ["health"] };
    const items = [
      item("a", "memory", "claude", "Runs a bakery", 3, about("work")),
      item("b", "memory", "claude", "Is allergic to nuts", 2, isPrivate),
      item("c", "memory", "claude", "Likes tea", 1, about("food")),
    ];
    mock = await start({ items });
    await vault.refresh();
    review.clear();
    await review.chooseTopic({ about: "food", special: null });
    render(ReviewView);
    expect(await shownId()).toBe("b");
    expect(screen.getByText("0 of 2 statements reviewed")).toBeTruthy();
    await pressAndWait("1");
    expect(await shownId()).toBe("c");
    expect(screen.getByText("1 of 2 statements reviewed")).toBeTruthy();
    await review.chooseTopic({ about: "work", special: null });
    await waitFor(() => expect(review.item?.record.id).toBe("a"));
    expect(review.answered).toBe(0);
    await review.chooseTopic({ about: null, special: "any" });
    await waitFor(() => expect([review.item, review.answered]).toEqual([null, 1]));
  });

  it("of one assistant ends with what to do for that assistant only", async () => {
    const ids = ["claude", "chatgpt"];
    mock = await start({ items: ids.map((id) => item(id, "memory", id, `Likes ${id}`, 1)) });
    await vault.refresh();
    review.clear();
    await mock.reviewAnswer(ids.map((id) => ({ id, answer: "wrong" })));
    await review.chooseSource("claude");
    render(ReviewView);
    const lists = await screen.findAllByTestId("todo");
    expect(lists.map((list) => list.dataset.assistant)).toEqual(["claude"]);
    expect(screen.getByTestId("review-trash").textContent).toContain("1 memory");
  });

  it("writes the report in the language of the window", async () => {
    render(ReviewView);
    await shownId();
    const writeReport = vi.spyOn(mock, "writeReport");
    await fireEvent.click(screen.getByTestId("review-toggle"));
    await fireEvent.click(await screen.findByTestId("review-report"));
    await waitFor(() => expect(writeReport).toHaveBeenCalled());
    expect(writeReport.mock.calls[0]!.slice(1, 3)).toEqual([expect.stringMatching(/\.html$/), { language: "en" }]);
  });

  it("is reached from Home, with the number of memories left", async () => {
    nav.section = "home";
    render(AttentionList, { columns: [], incomplete: [] });
    const row = await screen.findByTestId("attention-review");
    const { left } = await mock.reviewNext({ ...ALL_MEMORIES, counts_only: true });
    expect(row.textContent).toContain(String(left));
    await fireEvent.click(row);
    expect(nav.section).toBe("review");
  });
});

describe("the evidence of a memory", () => {
  it("says who said it and opens the conversation at the message", async () => {
    nav.section = "memories";
    render(MemoryDetail, { id: "m-0" });
    expect((await screen.findByTestId("evidence-verdict")).textContent).toBe("You said this.");
    await fireEvent.click(screen.getByTestId("evidence-message"));
    expect([nav.section, nav.id, nav.message]).toEqual(["conversations", "c-bath", "msg-a2"]);
  });

  it("is uncertain about a sentence that only has a similar meaning", async () => {
    const found = await mock.memoryEvidence("m-0");
    vi.spyOn(mock, "memoryEvidence").mockResolvedValue({ ...found, uncertain: true });
    nav.section = "memories";
    render(MemoryDetail, { id: "m-0" });
    expect((await screen.findByTestId("evidence-verdict")).textContent).toBe("You may have said this.");
  });

  it("names the assistant that is quoted, also if another one has the memory", async () => {
    const filter = { ...ANY, kind: "memory" as const, source: "claude" };
    const { items } = await mock.list({ filter, sort: null, limit: 1, cursor: null });
    const { id } = items[0]!;
    const [quoted] = (await mock.memoryEvidence("m-0")).messages;
    const messages = [{ ...quoted!, said_by: "assistant", source: "chatgpt" }];
    vi.spyOn(mock, "memoryEvidence").mockResolvedValue({
      id,
      said_by: "assistant",
      uncertain: false,
      trace: "found",
      messages,
    });
    nav.section = "memories";
    render(MemoryDetail, { id });
    expect((await screen.findByTestId("evidence-verdict")).textContent).toBe("ChatGPT concluded this.");
  });

  it("says so where nothing is found", async () => {
    const { items } = await mock.list({
      filter: { ...ANY, kind: "memory", source: "gemini" },
      sort: null,
      limit: 1,
      cursor: null,
    });
    nav.section = "memories";
    render(MemoryDetail, { id: items[0]!.id });
    expect((await screen.findByTestId("evidence-verdict")).textContent).toMatch(/where Gemini got it/);
  });
});
