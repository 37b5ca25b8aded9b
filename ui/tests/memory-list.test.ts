// Tests that the list of memories shows the chosen kind, its last row, and the beginning of short texts.
import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import MemoryFilters from "../src/features/memories/MemoryFilters.svelte";
import MemoriesView from "../src/features/memories/MemoriesView.svelte";
import Window from "../src/shell/Window.svelte";
import { openSection, showKind } from "../src/features/memories/kinds";
import type { FoundRow } from "$lib/ipc";
import { item } from "$lib/ipc/mock/data";
import { facets } from "$lib/state/facets.svelte";
import { withWholeBeginning } from "$lib/logic/snippets";
import { memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { plainRow } from "$lib/state/records.svelte";
import { search } from "$lib/state/search-field.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

const many = (n: number, kind: string) =>
  Array.from({ length: n }, (_, index) => item(`${kind}-${index}`, kind, "claude", `Number ${index} likes tea`, index));

const rowIds = () => memories.rows.map((row) => row.id.replace(/-\d+$/, ""));

let mock: Mock;

beforeEach(async () => {
  mock = await start({ items: [...many(246, "memory"), ...many(3, "fact")] });
  await vault.refresh();
  nav.clear();
  nav.section = "memories";
});

describe("another kind among the memories", () => {
  it("shows a record of that kind, not the memory that was open", async () => {
    render(MemoriesView);
    await waitFor(() => expect(nav.id).toMatch(/^memory-/));
    showKind("fact");
    await waitFor(() => expect(nav.id).toMatch(/^fact-/));
    memories.setFilter({ kind: "memory" });
    await waitFor(() => expect(nav.id).toMatch(/^memory-/));
  });

  it("is left when the person opens Memories, from there or from another section", async () => {
    render(MemoriesView);
    showKind("fact");
    await waitFor(() => expect(rowIds()).toEqual(["fact", "fact", "fact"]));
    await waitFor(() => expect(nav.id).toMatch(/^fact-/));
    openSection("memories");
    await waitFor(() => expect(new Set(rowIds())).toEqual(new Set(["memory"])));
    await waitFor(() => expect(nav.id).toMatch(/^memory-/));
    showKind("fact");
    await waitFor(() => expect(nav.id).toMatch(/^fact-/));
    openSection("home");
    search.text = "tea";
    openSection("memories");
    expect([memories.filter.kind, nav.section, nav.id, search.text]).toEqual(["memory", "memories", null, ""]);
  });

  it("is named in the bar, and only its own entry in the sidebar is marked", async () => {
    render(Window);
    const title = () => document.querySelector("header h1")?.textContent;
    const search = () => screen.getByTestId("search-field").getAttribute("aria-label");
    const section = await screen.findByTestId("nav-memories");
    await waitFor(() => expect([title(), search()]).toEqual(["Memories", "Search memories"]));
    expect([section.getAttribute("aria-current"), section.classList.contains("other")]).toEqual(["page", false]);
    const entry = within(await screen.findByRole("region", { name: "Other entries" })).getByRole("button");
    await fireEvent.click(entry);
    await waitFor(() => expect([title(), search()]).toEqual(["Facts", "Search Facts"]));
    expect(entry.getAttribute("aria-pressed")).toBe("true");
    expect([section.getAttribute("aria-current"), section.classList.contains("other")]).toEqual(["true", true]);
  });

  it("is offered below the other filters, not in their place before they are known", async () => {
    facets.clear();
    render(MemoryFilters);
    expect(screen.queryByRole("region", { name: "Other entries" })).toBeNull();
    await facets.load(memories.filter, "");
    expect(await screen.findByRole("region", { name: "Other entries" })).toBeTruthy();
    facets.clear();
    mock.facets = () => Promise.reject(new Error("no"));
    await facets.load(memories.filter, "").catch(() => undefined);
    expect(await screen.findByRole("region", { name: "Other entries" }), "also if they can't be counted").toBeTruthy();
  });

  it("says which of two lists with similar names comes from the export, and which is a suggestion", async () => {
    await start();
    await facets.load(memories.filter, "");
    render(MemoryFilters);
    const heading = async (name: string) => {
      const section = await screen.findByRole("region", { name });
      return section.querySelector("h2")?.textContent?.trim();
    };
    expect(await heading("Types")).toBe("Types from the export");
    expect(await heading("About")).toBe("About suggested by Mementory");
    expect(await heading("Sources")).toBe("Sources");
  });

  it("keeps every other filter when Memories is opened", () => {
    memories.setFilter({ source: "claude" });
    nav.section = "home";
    openSection("memories");
    expect(memories.filter.source).toBe("claude");
  });
});

describe("the key End", () => {
  it("selects the last row, also when that row is not loaded yet", async () => {
    render(MemoriesView);
    const list = await screen.findByRole("listbox");
    await waitFor(() => expect(memories.rows).toHaveLength(100));
    await fireEvent.keyDown(list, { key: "End" });
    await waitFor(() => expect(memories.rows).toHaveLength(246));
    await waitFor(() => expect(nav.id).toBe(memories.rows.at(-1)?.id));
  });

  it("waits for a page that is loading already", async () => {
    await memories.load();
    void memories.loadNextPage();
    await memories.loadAll();
    expect([memories.rows.length, new Set(memories.rows.map(({ id }) => id)).size]).toEqual([246, 246]);
  });
});

describe("a hit in a short memory", () => {
  const found = (
    text: string,
    snippet: string,
    highlights: [number, number][],
    title: string | null = null,
  ): FoundRow => ({
    ...plainRow(item("m", "memory", "claude", text, 1)),
    title,
    snippet,
    highlights,
  });
  const TEXT = "Lives in Lisbon,\nin Graça, with her cat Biscuit.";

  it("is shown with the beginning of the memory, and marked where it is", () => {
    const row = withWholeBeginning(found(TEXT, "…in Graça, with her cat Biscuit.", [[20, 23]]));
    expect(row.snippet?.replace(/\s/g, " ")).toBe("Lives in Lisbon, in Graça, with her cat Biscuit.");
    const [[from, to]] = row.highlights as [[number, number]];
    expect([...(row.snippet ?? "")].slice(from, to).join("")).toBe("cat");
  });

  it("keeps the cut if the hit would be out of view, or if the text is another one", () => {
    const long = `${"Word ".repeat(30)}and a cat.`;
    const cut = found(long, "…Word and a cat.", [[12, 15]]);
    expect(withWholeBeginning(cut)).toBe(cut);
    const message = found("", "…with her cat.", [[10, 13]]);
    expect(withWholeBeginning(message)).toBe(message);
    const titled = found(TEXT, "…in Graça, with her cat Biscuit.", [[20, 23]], "People");
    expect(withWholeBeginning(titled), "one line below a title").toBe(titled);
  });
});
