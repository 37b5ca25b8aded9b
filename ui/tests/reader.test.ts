// Tests that a hit in a conversation is scrolled into view, even inside collapsed steps.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import ConversationRow from "../src/features/conversations/ConversationRow.svelte";
import MessageView from "../src/features/conversations/MessageView.svelte";
import Reader from "../src/features/conversations/Reader.svelte";
import ThreadPane from "../src/features/conversations/ThreadPane.svelte";
import { recordMenuEntries } from "../src/features/layout/row-actions";
import { openLocation } from "../src/features/sensitive/segments";
import { start, type Mock } from "./start-mock";
import type { SensitivePlace, Thread } from "$lib/ipc";
import { sampleThread } from "$lib/ipc/mock/thread";
import { assistantStyle } from "$lib/logic/assistants";
import { ANY } from "$lib/state/filter";
import { conversations } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { plainRow } from "$lib/state/records.svelte";
import { shortDay } from "$lib/text/format";
import type { MenuEntry } from "$lib/ui/types";

let mock: Mock;
let thread: Thread;
const texts = (selector: string) => [...document.querySelectorAll(selector)].map((each) => each.textContent);
const collapsed = (id: string) => document.querySelector(`li[data-id="${id}"]`) === null;

beforeEach(async () => {
  mock = await start();
  thread = await mock.thread("c-bath");
});

afterEach(() => vi.useRealTimers());

async function find(text: string) {
  await fireEvent.click(screen.getByTestId("reader-find"));
  await fireEvent.input(screen.getByTestId("find-field"), { target: { value: text } });
}

describe("collapsed steps", () => {
  it("stay closed until they contain the hit, which is marked", async () => {
    render(ThreadPane, { thread });
    expect(collapsed("msg-a0")).toBe(true);
    await find("helpful");
    await waitFor(() => expect(texts("li mark.current")).toEqual(["helpful"]));
    expect(screen.getByText("1 of 1")).toBeTruthy();
  });

  it("open for a linked message", async () => {
    openLocation({ kind: "message", id: "msg-a0", conversation_id: "c-bath" } as SensitivePlace);
    expect(nav.message).toBe("msg-a0");
    render(ThreadPane, { thread });
    await waitFor(() => expect(collapsed("msg-a0")).toBe(false));
    expect(document.querySelector("li.wanted")?.getAttribute("data-id")).toBe("msg-a0");
  });

  it("contain the steps of a message that also has text", async () => {
    const [first, ...rest] = thread.messages.slice(1, 2);
    const step = (content_type: string, text: string) => ({ content_type, name: null, text });
    const steps = [step("tool_call", "look up the key"), step("tool_result", "**Bearer** key, [REDACTED:secret]")];
    const messages = [{ ...first!, id: "x", siblings: [], text: "No key here.", steps }, ...rest];
    openLocation({ kind: "message", field: "block", id: "x", conversation_id: "c-bath" } as SensitivePlace);
    const { unmount } = render(ThreadPane, { thread: { ...thread, messages, active_path: ["x"] } });
    await waitFor(() => expect(texts("li pre")).toEqual(["look up the key", "**Bearer** key, redacted"]));
    await find("key");
    await waitFor(() => expect(screen.getByText("1 of 3")).toBeTruthy());
    expect(texts("li[data-id='x/0'] mark.current")).toEqual(["key"]);
    await fireEvent.keyDown(screen.getByTestId("find-field"), { key: "Enter" });
    expect(texts("li[data-id='x/1'] mark.current")).toEqual(["key"]);
    await fireEvent.keyDown(screen.getByTestId("find-field"), { key: "Enter" });
    expect(texts("article .md mark.current")).toEqual(["key"]);
    unmount();
    // A message without steps has no list of steps.
    const withoutSteps = [{ ...messages[0]!, steps: [] }];
    render(ThreadPane, { thread: { ...thread, messages: withoutSteps, active_path: ["x"] } });
    await waitFor(() => expect(document.querySelector("article[data-id=x]")).toBeTruthy());
    expect(document.querySelector("li")).toBeNull();
  });

  it("of a reply open only for a hit in them, and open again for the next such hit", async () => {
    const messageById = (id: string) => sampleThread.find((each) => each.id === id)!;
    const props = {
      source: "chatgpt",
      showRedactButton: false,
      onbranch: vi.fn(),
      menus: new Map(),
      needle: "deflection",
    };
    const steps = { message: messageById("msg-b4"), collapsed: [messageById("msg-b2"), messageById("msg-b3")] };
    const propsWanting = (id: string) => ({ ...props, ...steps, current: { id, nth: 0 }, wanted: id });
    const { rerender } = render(MessageView, propsWanting("msg-b4"));
    expect(collapsed("msg-b3")).toBe(true);
    await rerender(propsWanting("msg-b3"));
    expect(collapsed("msg-b3")).toBe(false);
    expect(texts("li[data-id=msg-b3] mark.current")).toEqual(["deflection"]);
    expect(texts("li[data-id=msg-b2] mark")).toEqual(["deflection"]);
    await fireEvent.click(document.querySelector(".fold button")!);
    await waitFor(() => expect(collapsed("msg-b3")).toBe(true));
    await rerender(propsWanting("msg-b2"));
    expect(texts("li mark.current")).toEqual(["deflection"]);
  });
});

it("the find strip cycles through all hits, and announces the position", async () => {
  render(ThreadPane, { thread });
  await find("joist");
  const place = document.querySelector("[role=search] [role=status]")!;
  await waitFor(() => expect(place.textContent).toMatch(/^1 of \d+$/));
  const n = Number(place.textContent?.split(" ").at(-1));
  expect(n).toBeGreaterThan(4);
  await fireEvent.keyDown(screen.getByTestId("find-field"), { key: "Enter", shiftKey: true });
  expect(place.textContent).toBe(`${n} of ${n}`);
  await fireEvent.keyDown(screen.getByTestId("find-field"), { key: "Enter" });
  expect(place.textContent).toBe(`1 of ${n}`);
  for (const key of ["Enter", "Escape"])
    await fireEvent.keyDown(screen.getByTestId("find-field"), { key, isComposing: true });
  expect(place.textContent, "a word that is being composed").toBe(`1 of ${n}`);
});

describe("the find text of a conversation", () => {
  it("is cleared by Esc anywhere in the reader, and by a link elsewhere", async () => {
    nav.message = null;
    render(ThreadPane, { thread });
    await find("joist");
    await waitFor(() => expect(texts("mark.current").length).toBe(1));
    await fireEvent.keyDown(screen.getByTestId("reader-more"), { key: "Escape" });
    expect(screen.queryByTestId("find-field")).toBeNull();
    expect(texts("mark"), "nothing is marked any more").toEqual([]);
    await find("joist");
    await waitFor(() => expect(texts("mark.current").length).toBe(1));
    nav.message = "msg-a0";
    await waitFor(() => expect(collapsed("msg-a0")).toBe(false));
  });

  it("stays when the conversation reloads", async () => {
    nav.message = null;
    const { rerender } = render(ThreadPane, { thread });
    await find("joist");
    await waitFor(() => expect(texts("mark.current").length).toBe(1));
    await rerender({ thread: { ...thread, messages: [...thread.messages] } });
    expect(texts("mark.current").length).toBe(1);
  });
});

it("a load that was stopped is not reported for the next conversation", async () => {
  vi.useFakeTimers();
  mock.thread = () => new Promise(() => undefined);
  const { rerender } = render(Reader, { id: "c-bath" });
  await vi.advanceTimersByTimeAsync(5100);
  await fireEvent.click(screen.getByTestId("loading-cancel"));
  expect(screen.getByTestId("load-problem")).toBeTruthy();
  await rerender({ id: "c-other" });
  expect(screen.queryByTestId("load-problem")).toBeNull();
});

it("a row of a conversation reads: title, text, assistant, date", async () => {
  const [row] = (await mock.list({ filter: { ...ANY, kind: "conversation" }, sort: null, limit: 1, cursor: null }))
    .items;
  const { container } = render(ConversationRow, {
    row: plainRow(row!),
    selecting: false,
    checked: false,
    oncheck: () => undefined,
  });
  container.querySelectorAll("[aria-hidden=true]").forEach((each) => each.remove());
  const shownText = container.textContent?.replaceAll(/\s+/g, " ") ?? "";
  const places = [row!.title ?? "", assistantStyle(row!.source).name, shortDay(row!.updated_at ?? row!.created_at)].map(
    (each) => shownText.indexOf(each),
  );
  expect(container.querySelector(".lead")?.getAttribute("aria-label"), "said once").toBeNull();
  expect([places.every((place) => place >= 0), places]).toEqual([true, places.toSorted((a, b) => a - b)]);
  expect(shownText.indexOf(row!.text.slice(0, 12))).toBeLessThan(places[1]!);
});

describe("the menu of the reader", () => {
  it("can be printed and saved, and has the entries of the row's menu with the same keys", async () => {
    render(ThreadPane, { thread });
    const words = (entries: MenuEntry[]) =>
      entries.map((each) => (each === "line" ? each : [each.label, each.shortcut].filter(Boolean).join(" ")));
    screen.getByTestId("reader-more").focus();
    await fireEvent.keyDown(screen.getByTestId("reader-more"), { key: "Enter" });
    const shown = (await screen.findAllByRole("menuitem")).map((each) => each.textContent?.trim());
    const wanted = words(recordMenuEntries(conversations, ["c-bath"])).filter((each) => each !== "line");
    const all = ["Print…", "Save as HTML…", ...wanted];
    expect(shown.map((each) => each?.replaceAll(" ", ""))).toEqual(all.map((each) => each.replaceAll(" ", "")));
    expect(shown).toHaveLength(5);
  });
});
