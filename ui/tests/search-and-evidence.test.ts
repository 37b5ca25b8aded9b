// Tests the requests that the window makes while the person waits: it requests only the visible rows, and no answer
// twice. Also tests the sheet for an evidence pack.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import EvidenceSheet from "../src/features/activity/EvidenceSheet.svelte";
import ConversationsView from "../src/features/conversations/ConversationsView.svelte";
import FilesView from "../src/features/files/FilesView.svelte";
import MemoriesView from "../src/features/memories/MemoriesView.svelte";
import HomeView from "../src/features/home/HomeView.svelte";
import Bar from "../src/shell/Bar.svelte";
import DialogHost from "../src/shell/DialogHost.svelte";
import { item } from "$lib/ipc/mock/data";
import { facets } from "$lib/state/facets.svelte";
import { ANY, dayEnd, dayStart } from "$lib/state/filter";
import { files, memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { search } from "$lib/state/search-field.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

beforeEach(async () => {
  const many = Array.from({ length: 60 }, (_, n) => item(`m-${n}`, "memory", "claude", `Likes tea ${n}`, n));
  mock = await start({ items: many });
  await vault.refresh();
});

describe("searching", () => {
  it("requests only the first rows, and more when scrolled", async () => {
    const requests = vi.spyOn(mock, "searchRows");
    memories.query = "tea";
    await memories.load();
    // The number of rows that fit into the window.
    const visibleRows = Math.ceil(innerHeight / 60);
    expect(requests.mock.calls.map(([request]) => [request.offset, request.limit])).toEqual([[0, visibleRows]]);
    expect(memories.rows).toHaveLength(visibleRows);
    await memories.loadNextPage();
    expect(requests.mock.lastCall?.[0]).toMatchObject({ offset: visibleRows, limit: 100 });
    expect(new Set(memories.rows.map((row) => row.id)).size).toBe(60);
  });

  it("counts all records once per revision of the vault", async () => {
    const requests = vi.spyOn(mock, "facets");
    const countWholeCounts = () => requests.mock.calls.filter(([, words]) => words === null).length;
    await facets.load({ ...ANY, kind: "memory" }, "te");
    await facets.load({ ...ANY, kind: "memory" }, "tea");
    expect(countWholeCounts()).toBe(1);
    vault.changed();
    await facets.load({ ...ANY, kind: "memory" }, "tea");
    expect(countWholeCounts()).toBe(2);
  });
});

it("an IME composition in the search field keeps its keys", async () => {
  nav.section = "memories";
  render(Bar);
  const field = screen.getByTestId("search-field");
  field.focus();
  search.text = "茶";
  for (const key of ["Enter", "Escape"]) await fireEvent.keyDown(field, { key, keyCode: 229 });
  expect([document.activeElement, search.text]).toEqual([field, "茶"]);
});

describe("a search that found nothing", () => {
  it("offers a similar spelling", async () => {
    search.text = "teaa";
    render(MemoriesView);
    await fireEvent.click(await screen.findByTestId("near-spelling"));
    expect(search.text).toBe("tea");
    await waitFor(() => expect(memories.rows.length).toBeGreaterThan(0));
    expect(screen.queryByTestId("near-spelling")).toBeNull();
  });

  it("offers nothing if no word is similar", async () => {
    const requests = vi.spyOn(mock, "suggestQuery");
    search.text = "xylophone";
    render(MemoriesView);
    await waitFor(() => expect(requests).toHaveBeenCalled());
    expect(screen.queryByTestId("near-spelling")).toBeNull();
  });

  it("links to the matching memories, without their old filters", async () => {
    memories.setFilter({ source: "gemini" });
    search.text = "likes";
    nav.section = "conversations";
    render(ConversationsView);
    const link = await screen.findByTestId("elsewhere-memories");
    expect(link.textContent).toBe("60 memories");
    expect(screen.queryByTestId("elsewhere-conversations")).toBeNull();
    await fireEvent.click(link);
    expect([nav.section, search.text, memories.filter.source]).toEqual(["memories", "likes", null]);
  });

  it("among files offers a similar spelling and counts hits elsewhere", async () => {
    mock = await start();
    search.text = "membrane";
    render(FilesView);
    expect((await screen.findByTestId("elsewhere-conversations")).textContent).toMatch(/^\d+ messages?$/);
    search.text = "harmmonics";
    await fireEvent.click(await screen.findByTestId("near-spelling"));
    await waitFor(() => expect(files.rows.map((row) => row.title)).toEqual(["harmonics_bergen.csv"]));
    expect(screen.queryByTestId("elsewhere-conversations")).toBeNull();
  });
});

describe("Home", () => {
  it("is shown from the cache until something changes", async () => {
    const requests = vi.spyOn(mock, "tombstones");
    const first = render(HomeView);
    await screen.findByTestId("home");
    // The months load last.
    await waitFor(() => expect(requests).toHaveBeenCalledTimes(1));
    await screen.findByText("When the memories were made");
    first.unmount();
    const again = render(HomeView);
    expect(screen.getByTestId("home")).toBeTruthy();
    expect(requests).toHaveBeenCalledTimes(1);
    again.unmount();
    await vault.refresh();
    render(HomeView);
    await waitFor(() => expect(requests).toHaveBeenCalledTimes(2));
  });
});

describe("an evidence pack", () => {
  it("is written to the chosen path, and lists its contents", async () => {
    const evidence = vi.spyOn(mock, "evidence");
    render(DialogHost);
    nav.section = "activity";
    render(Bar);
    await fireEvent.click(await screen.findByTestId("activity-evidence"));
    await screen.findByText(/^3 deletion records, each with its receipt\./);
    await fireEvent.click(screen.getByTestId("evidence-save"));
    const result = await screen.findByTestId("evidence-result");
    expect(result.textContent).toContain("3 deletion records, 3 receipts");
    const [, out, request] = evidence.mock.lastCall ?? [];
    expect(out).toMatch(/^\/home\/ines\/.*\.zip$/);
    const parts = ["tombstones", "log", "key"];
    expect(request, "by default the whole period, without file names").toEqual({
      since: null,
      until: null,
      sign: true,
      parts,
    });
  });

  it("contains the checked parts of the chosen days", async () => {
    const evidence = vi.spyOn(mock, "evidence");
    render(EvidenceSheet);
    await screen.findByText(/^3 deletion records, each with its receipt\./);
    for (const part of ["tombstones", "key", "transfers"])
      await fireEvent.click(screen.getByTestId(`evidence-${part}`));
    const since = screen.getByTestId<HTMLInputElement>("evidence-since");
    expect(since.value, "the first day of the log, until another is chosen").not.toBe("");
    await fireEvent.change(since, { target: { value: "2024-03-01" } });
    await fireEvent.change(screen.getByTestId("evidence-until"), { target: { value: "2024-03-02" } });
    await screen.findByText("0 entries. None of them contains your texts.");
    await fireEvent.click(screen.getByTestId("evidence-save"));
    const result = await screen.findByTestId("evidence-result");
    expect(result.textContent, "parts that were not chosen are not listed").not.toContain("deletion records");
    expect(evidence.mock.lastCall?.[2]).toEqual({
      since: dayStart(new Date(2024, 2, 1)),
      until: dayEnd(new Date(2024, 2, 2)),
      sign: true,
      parts: ["log", "transfers"],
    });
  });

  it("is not created without parts or without a path", async () => {
    const evidence = vi.spyOn(mock, "evidence");
    mock.chooseSave = () => Promise.resolve(null);
    render(EvidenceSheet);
    await fireEvent.click(screen.getByTestId("evidence-save"));
    for (const part of ["tombstones", "log", "key"]) await fireEvent.click(screen.getByTestId(`evidence-${part}`));
    expect(screen.getByTestId<HTMLButtonElement>("evidence-save").disabled).toBe(true);
    expect(evidence).not.toHaveBeenCalled();
  });

  it("reports an error and keeps the choices", async () => {
    mock.evidence = () => Promise.reject(Object.assign(new Error("no room"), { code: "disk_full" }));
    render(DialogHost);
    nav.section = "activity";
    render(Bar);
    await fireEvent.click(await screen.findByTestId("activity-evidence"));
    await fireEvent.click(await screen.findByTestId("evidence-save"));
    expect(await screen.findByTestId("evidence-error")).toBeTruthy();
    expect(screen.queryByTestId("evidence-result")).toBeNull();
  });
});
