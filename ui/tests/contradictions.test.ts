import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import AttentionList from "../src/features/home/AttentionList.svelte";
import { locateQuote } from "../src/features/conversations/find-in-conversation";
import MemoryDetail from "../src/features/memories/MemoryDetail.svelte";
import ReviewView from "../src/features/review/ReviewView.svelte";
import type { ContradictionInfo } from "$lib/ipc";
import { item } from "$lib/ipc/mock/data";
import { sampleThread } from "$lib/ipc/mock/thread";
import { groupsOf, newestOf, opponentsOf } from "$lib/state/contradiction-groups";
import { contradictions } from "$lib/state/contradictions.svelte";
import { nav } from "$lib/state/nav.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;
beforeEach(async () => {
  mock = await start();
  await vault.refresh();
  contradictions.clear();
  nav.section = "review";
  nav.reviewTab = "contradictions";
});

const cards = () => screen.findAllByTestId("contradiction");
const press = (key: string) => fireEvent.keyDown(window, { key });
const expectCards = (n: number) => waitFor(async () => expect(await cards()).toHaveLength(n));

it("the groups are those that the core returns, in its order", () => {
  const memory = (id: string) => item(id, "memory", "chatgpt", id, id.charCodeAt(0));
  const pair = (a: string, b: string): ContradictionInfo => {
    return { a, b, sort: "conflict", newer: null, confidence: 0.9, items: [memory(a), memory(b)] };
  };
  // All three pairs share the memory b, but the core puts the first and the second pair into different groups.
  const pairs = [pair("a", "b"), pair("b", "c"), pair("d", "b")];
  const groups = [
    { memories: ["d", "b", "a"], pairs: [0, 2] },
    { memories: ["c", "b"], pairs: [1] },
  ];
  const [first, second] = groupsOf({ pairs, groups, past_plans: [] });
  expect([first, second].map((group) => group!.items.map(({ id }) => id))).toEqual([
    ["d", "b", "a"],
    ["c", "b"],
  ]);
  expect(first!.pairs).toEqual([pairs[0], pairs[2]]);
  expect(newestOf(first!)).toBe("a");
  expect(opponentsOf(first!, "b").sort()).toEqual(["a", "d"]);
});

it("the plans on Home lead to the list of the plans", async () => {
  await contradictions.load();
  const home = render(AttentionList, { columns: [], incomplete: [] });
  const scrolled = vi.spyOn(Element.prototype, "scrollIntoView");
  await fireEvent.click(await screen.findByTestId("attention-plans"));
  expect([nav.section, nav.reviewTab]).toEqual(["review", "contradictions"]);
  home.unmount();
  render(ReviewView);
  const plans = await screen.findByTestId("past-plans");
  await waitFor(() => expect(scrolled.mock.contexts).toContain(plans));
  expect(document.activeElement).toBe(plans);
});

describe("contradictions", () => {
  it("are shown side by side with their evidence; what three assistants say of one fact is one card", async () => {
    render(ReviewView);
    const [first] = await cards();
    expect(await cards()).toHaveLength(3);
    expect(within(first!).getAllByTestId("contradiction-side")).toHaveLength(3);
    expect(first!.textContent).toContain("3 assistants");
    await waitFor(() => expect(screen.getAllByTestId("evidence-verdict").length).toBeGreaterThan(5));
  });

  it("are settled by keys: the wrong memories go to the Trash, and Undo puts them back", async () => {
    render(ReviewView);
    await cards();
    const resolveContradiction = vi.spyOn(mock, "resolveContradiction");
    await press("3");
    await expectCards(2);
    expect(resolveContradiction).toHaveBeenCalledWith({ right: "m-66", others: ["m-35", "m-34"] });
    expect((await mock.show("m-34", false, false)).record.trashed_at).not.toBeNull();
    await toasts.undo();
    await expectCards(3);
    expect((await mock.show("m-34", false, false)).record.trashed_at).toBeNull();
  });

  it("are not shown again if the person says that all are true, until Undo", async () => {
    render(ReviewView);
    await cards();
    await press("ArrowDown");
    await press("b");
    await expectCards(2);
    contradictions.clear();
    await contradictions.load();
    expect(contradictions.groups).toHaveLength(2);
    await toasts.undo();
    await expectCards(3);
  });

  it("of more than two memories are all called true with A, which is the first letter of the button", async () => {
    render(ReviewView);
    const [first] = await cards();
    expect(within(first!).getByTestId("contradiction-keep").textContent).toMatch(/All are true\s*A/);
    await press("b");
    expect(await cards()).toHaveLength(3);
    await press("a");
    await expectCards(2);
  });

  it("include plans whose date has passed, which the person calls true or outdated", async () => {
    render(ReviewView);
    await fireEvent.click(await screen.findByTestId("plan-true"));
    await waitFor(() => expect(screen.queryByTestId("past-plan")).toBeNull());
    await toasts.undo();
    await fireEvent.click(await screen.findByTestId("plan-outdated"));
    await waitFor(() => expect(screen.queryByTestId("past-plan")).toBeNull());
    expect((await mock.show("m-32", false, false)).record.trashed_at).not.toBeNull();
  });

  it("are replaced by a message if there are none", async () => {
    vi.spyOn(mock, "contradictions").mockResolvedValue({ pairs: [], groups: [], past_plans: [] });
    render(ReviewView);
    expect(await screen.findByText("No contradictions found")).toBeTruthy();
  });

  it("are reached from Home, with their number", async () => {
    await contradictions.load();
    nav.section = "home";
    nav.reviewTab = "memories";
    render(AttentionList, { columns: [], incomplete: [] });
    const row = await screen.findByTestId("attention-contradictions");
    expect(row.querySelector("b")?.textContent).toBe("3");
    const plans = (await screen.findByTestId("attention-plans")).querySelector("b")?.textContent;
    await fireEvent.click(row);
    render(ReviewView);
    const tab = screen.getByTestId("review-contradictions");
    await waitFor(() => expect(tab.textContent).toMatch(new RegExp(`plans\\D*${3 + Number(plans)}`)));
    expect([nav.section, nav.reviewTab]).toEqual(["review", "contradictions"]);
  });
});

it("a suggested subject can be confirmed, and the confirmation can be taken back", async () => {
  render(MemoryDetail, { id: "m-0" });
  const row = await screen.findByTestId("detail-subject");
  expect(row.textContent).toContain("suggested, 82%");
  await fireEvent.click(screen.getByTestId("subject-confirm"));
  await fireEvent.click(await screen.findByTestId("subject-back"));
  await screen.findByTestId("subject-confirm");
});

it("a suggested subject with a low confidence is called a guess", async () => {
  const items = [item("m-1", "memory", "chatgpt", "Likes tea", 1)];
  mock = await start({ items: [{ ...items[0]!, about: { kind: "tastes", by: "suggested", confidence: 0.28 } }] });
  render(MemoryDetail, { id: "m-1" });
  expect((await screen.findByTestId("detail-subject")).textContent).toContain("only a guess, 28%");
});

it("the sentence of a link is found in its message as it is displayed", () => {
  const message = {
    ...sampleThread.find(({ id }) => id === "msg-a2")!,
    text: "One **bold** step.\n\nThen a second step, and\nits end. One bold step.",
  };
  const locate = (text: string) => locateQuote(message, { text, start: message.text.indexOf(text) });
  expect(locate("One **bold** step.")).toEqual({ id: message.id, nth: 0, needle: "One bold step." });
  expect(locate("Then a second step, and\nits end.")?.needle).toBe("Then a second step, and");
  expect(locateQuote(message, { text: "not in it at all", start: 0 })).toBeNull();
});
