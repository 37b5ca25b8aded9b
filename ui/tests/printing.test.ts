// Tests that lists, conversations and receipts are printed and saved whole, and that their texts stay texts.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import ThreadPane from "../src/features/conversations/ThreadPane.svelte";
import MemoryList from "../src/features/memories/MemoryList.svelte";
import { memoryPage } from "../src/features/memories/print-page";
import ReceiptSheet from "../src/features/removal/ReceiptSheet.svelte";
import RecoveryCopy from "../src/features/start/RecoveryCopy.svelte";
import Window from "../src/shell/Window.svelte";
import type { PrintRequest } from "$lib/ipc";
import { item } from "$lib/ipc/mock/data";
import { failWith, sampleReceipt } from "$lib/ipc/mock/jobs";
import { setPrintPage } from "$lib/logic/print-page";
import { dialogs } from "$lib/state/dialogs.svelte";
import { memories } from "$lib/state/lists.svelte";
import { clearContent } from "$lib/state/lock-cleanup";
import { nav } from "$lib/state/nav.svelte";
import { MAX_PRINTED, printing } from "$lib/state/printing.svelte";
import { selection } from "$lib/state/selection.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;
const printedPage = () => document.querySelector("body > .print-page");
const articles = () => printedPage()?.querySelectorAll("article").length ?? null;
const many = (n: number) =>
  Array.from({ length: n }, (_, index) => item(`m-${index}`, "memory", "claude", `Number ${index} likes tea`, index));

beforeEach(async () => {
  mock = await start();
});
afterEach(() => {
  clearContent();
  selection.clear();
  dialogs.close();
});

/** Opens a menu with the keyboard and chooses an entry with the keyboard. */
async function chooseByKeyboard(menu: string, entry: string) {
  const button = screen.getByTestId(menu);
  button.focus();
  await fireEvent.keyDown(button, { key: "Enter" });
  const chosen = await screen.findByTestId(entry);
  chosen.focus();
  await fireEvent.keyDown(chosen, { key: "Enter" });
}

describe("the memory list", () => {
  it("prints all its rows, also those that are not loaded", async () => {
    mock = await start({ items: many(250) });
    const print = vi.spyOn(mock, "print");
    render(MemoryList, { messages: null });
    await memories.load();
    expect(memories.rows).toHaveLength(100);
    await chooseByKeyboard("list-more", "menu-print");
    await waitFor(() => expect(print).toHaveBeenCalledOnce());
    expect(articles()).toBe(250);
    expect(printedPage()?.textContent).toContain("250 memories");
  });

  it("saves what is listed: filter, search and order", async () => {
    const savePage = vi.spyOn(mock, "savePage");
    memories.setFilter({ source: "claude" });
    memories.query = "tea";
    memories.sort = "oldest";
    render(MemoryList, { messages: null });
    await memories.load();
    await chooseByKeyboard("list-more", "menu-save-html");
    await waitFor(() => expect(savePage).toHaveBeenCalledOnce());
    const [, name, request] = savePage.mock.calls[0]!;
    expect(name).toMatch(/^Memories \d{4}-\d\d-\d\d\.html$/);
    expect(request.list).toMatchObject({ query: "tea", sort: "oldest", filter: { source: "claude", kind: "memory" } });
    expect(request.lead).toEqual(expect.arrayContaining(["Claude", "Search: “tea”", "Sensitive values are masked."]));
    await waitFor(() => expect(toasts.current?.text).toBe(`Saved as ${name}`));
    memories.sort = "newest";
  });

  it("takes only the checked rows if there are any", () => {
    selection.toggle(memories, "m-3");
    selection.toggle(memories, "m-5");
    const { records, request } = memoryPage();
    expect([records, request.list?.filter.ids, request.list?.query]).toEqual([2, ["m-3", "m-5"], ""]);
    expect(request.lead[0]).toBe("2 memories");
  });

  it("says so if it is too long to print, and prints nothing", async () => {
    const printPage = vi.spyOn(mock, "printPage");
    await printing.print({ ...memoryPage(), records: MAX_PRINTED + 1 });
    expect(printPage).not.toHaveBeenCalled();
    expect(toasts.current?.text).toMatch(/^This list is too long to print here\. Save it as HTML/);
  });

  it("shows why a page could not be saved", async () => {
    mock.savePage = () => Promise.reject(failWith("exists", "/home/ines/a.html already exists."));
    await printing.save(memoryPage());
    expect([toasts.current?.icon, printing.busy]).toEqual(["alert", false]);
  });
});

describe("a conversation", () => {
  it("prints the shown branch in its order, without collapsed steps", async () => {
    const printPage = vi.spyOn(mock, "printPage");
    const thread = await mock.thread("c-bath");
    render(ThreadPane, { thread });
    await chooseByKeyboard("reader-more", "menu-print");
    await waitFor(() => expect(printPage).toHaveBeenCalledOnce());
    const request: PrintRequest = printPage.mock.calls[0]![1];
    expect(request.title).toBe(thread.conversation.title);
    const ids = request.conversation?.messages.map(({ id }) => id) ?? [];
    const shown = thread.active_path.filter((id) => ids.includes(id));
    expect(ids.length).toBeGreaterThan(1);
    expect(ids).toEqual(shown);
    expect(ids).not.toContain("msg-a0");
    expect(request.conversation?.messages[0]?.heading).toBe("You");
    expect(request.lead.some((line) => /left out\.$/.test(line))).toBe(true);
    expect(articles()).toBe(ids.length);
  });

  it("does not put its title into the name of the file", async () => {
    const savePage = vi.spyOn(mock, "savePage");
    render(ThreadPane, { thread: await mock.thread("c-bath") });
    await chooseByKeyboard("reader-more", "menu-save-html");
    await waitFor(() => expect(savePage).toHaveBeenCalledOnce());
    expect(savePage.mock.calls[0]![1]).toMatch(/^Conversation \d{4}-\d\d-\d\d\.html$/);
  });
});

describe("a receipt", () => {
  it("is printed and saved with all its places and details", async () => {
    const print = vi.spyOn(mock, "print");
    const savePage = vi.spyOn(mock, "savePage");
    const receipt = sampleReceipt("rc_1");
    render(ReceiptSheet, { receipt, title: "1 memory" });
    await screen.findByText("Receipt number");
    await fireEvent.click(screen.getByTestId("receipt-print"));
    await waitFor(() => expect(print).toHaveBeenCalledOnce());
    const text = printedPage()?.textContent ?? "";
    for (const words of ["Erasure receipt", "Complete.", "Search index", "rc_1"]) expect(text).toContain(words);
    expect(printedPage()?.querySelectorAll("tr").length).toBeGreaterThan(receipt.places.length);
    await fireEvent.click(screen.getByTestId("receipt-html"));
    await waitFor(() => expect(savePage).toHaveBeenCalledOnce());
    expect(savePage.mock.calls[0]![1]).toMatch(/\.html$/);
  });
});

describe("the printed page", () => {
  const HOSTILE = "</p></style><script>alert(1)</script><img src=x onerror=y>";

  it("keeps hostile text as text", async () => {
    mock = await start({ items: [item("m-0", "memory", "claude", HOSTILE, 0)] });
    await memories.load();
    await printing.print(memoryPage());
    expect(printedPage()?.querySelector("article p:last-child")?.textContent).toBe(HOSTILE);
    expect(printedPage()?.querySelector("script, img, style")).toBeNull();
  });

  it("contains only known elements, whatever the page contains", () => {
    setPrintPage(
      '<h1 onclick="a()">A</h1><style>*{}</style><form><input></form><p style="color:red"><a href="x">b</a></p>',
    );
    expect(printedPage()?.innerHTML).toBe("<h1>A</h1><p></p>");
  });

  it("is replaced by the next page, and removed when the vault locks", async () => {
    await printing.print(memoryPage());
    await printing.print(memoryPage());
    expect(document.querySelectorAll(".print-page")).toHaveLength(1);
    clearContent();
    expect(printedPage()).toBeNull();
  });

  it("does not appear if the vault was locked while it was made", async () => {
    const print = vi.spyOn(mock, "print");
    let answer: (html: string) => void = () => undefined;
    mock.printPage = () => new Promise((resolve) => (answer = resolve));
    const printed = printing.print(memoryPage());
    clearContent();
    answer("<h1>Memories</h1>");
    await printed;
    expect(printedPage()).toBeNull();
    expect(print).not.toHaveBeenCalled();
  });

  it("is not printed together with a recovery code", async () => {
    const print = vi.spyOn(mock, "print");
    setPrintPage("<h1>Memories</h1>");
    render(RecoveryCopy, { code: "abcd-efgh-jkmn-pqrs-tvwx-yz01-2345-6789", name: "Ines", groupsMatch: false });
    await fireEvent.click(screen.getByText("Print"));
    await waitFor(() => expect(print).toHaveBeenCalledOnce());
    expect(printedPage()).toBeNull();
    expect(document.querySelector(".print-area")?.textContent).toContain("ABCD");
  });
});

describe("the command to print", () => {
  it("is in the palette and on Ctrl P where there is something to print", async () => {
    const print = vi.spyOn(mock, "print");
    const ids = () => screen.queryAllByTestId("palette-item").map((row) => row.dataset.id);
    const typed = async (words: string) => {
      await fireEvent.keyDown(document.body, { key: "k", ctrlKey: true });
      await fireEvent.input(await screen.findByTestId("palette-field"), { target: { value: words } });
      await waitFor(() => expect(ids().length).toBeGreaterThan(0));
    };
    nav.section = "home";
    await vault.refresh();
    render(Window);
    await typed(">on screen");
    expect(ids()).not.toContain("print");
    await fireEvent.keyDown(document.body, { key: "k", ctrlKey: true });
    await fireEvent.keyDown(document.body, { key: "p", ctrlKey: true });
    expect(print).not.toHaveBeenCalled();
    nav.open("memories");
    await screen.findByTestId("list-more");
    await typed(">on screen");
    expect(ids()).toEqual(expect.arrayContaining(["print", "save-html"]));
    await fireEvent.keyDown(document.body, { key: "k", ctrlKey: true });
    await waitFor(() => expect(screen.queryByTestId("palette")).toBeNull());
    await fireEvent.keyDown(document.body, { key: "p", ctrlKey: true });
    await waitFor(() => expect(print).toHaveBeenCalledOnce());
  });
});
