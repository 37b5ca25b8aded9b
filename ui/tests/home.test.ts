import { fireEvent, render, screen } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import Matrix from "../src/features/home/Matrix.svelte";
import { chipsOf } from "../src/features/memories/chips";
import AttentionList from "../src/features/home/AttentionList.svelte";
import { columnsOf, typesOf } from "../src/features/home/data";
import { useBackend } from "$lib/ipc";
import { mockBackend } from "$lib/ipc/mock";
import { ago } from "$lib/ipc/mock/data";
import { facets } from "$lib/state/facets.svelte";
import { ANY, isFiltered } from "$lib/state/filter";
import { memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { clearContent } from "$lib/state/lock-cleanup";
import { search } from "$lib/state/search-field.svelte";

beforeEach(() => clearContent());

const column = (platform: string, memories: number) => ({
  platform,
  memories,
  profiles: 0,
  conversations: 0,
  newest: null,
  exported: null,
  types: (memories > 0 ? { fact: memories } : {}) as Record<string, number>,
});

it("the number under an assistant opens all its memories; a zero opens nothing", async () => {
  render(Matrix, { columns: [column("chatgpt", 104), column("gemini", 0)], types: ["fact"] });
  const all = screen.getAllByTestId("home-memories");
  expect(all.map((button) => [button.textContent, button.getAttribute("aria-label")])).toEqual([
    ["104", "104 memories"],
  ]);
  memories.setFilter({ record_type: "goal" });
  search.text = "harbour";
  await fireEvent.click(all[0]!);
  expect(search.text, "the earlier search is cleared").toBe("");
  expect([nav.section, memories.filter.source, memories.filter.record_type, memories.filter.kind]).toEqual([
    "memories",
    "chatgpt",
    null,
    "memory",
  ]);
});

describe("memories without a type", () => {
  const columns = [
    { ...column("chatgpt", 12), types: { "": 9, fact: 3 } as Record<string, number> },
    { ...column("claude", 2), types: { preference: 1, fact: 1 } as Record<string, number> },
  ];

  it("have the last row, whose number opens them", async () => {
    useBackend(mockBackend({ open: true }));
    const types = typesOf(columns);
    expect(types).toEqual(["fact", "preference", ""]);
    for (const each of columns) {
      const rows = types.map((type) => each.types[type] ?? 0);
      expect(rows.reduce((sum, n) => sum + n, 0)).toBe(each.memories);
    }
    render(Matrix, { columns, types });
    const row = screen.getByText("No type").closest("tr");
    expect([...(row?.querySelectorAll(".num") ?? [])].map((n) => n.textContent)).toEqual(["9", "0"]);
    await fireEvent.click(screen.getByRole("button", { name: "9" }));
    expect([nav.section, memories.filter.source, memories.filter.record_type]).toEqual(["memories", "chatgpt", ""]);
    expect(isFiltered(memories.filter)).toBe(true);
    expect(chipsOf(memories.filter).map((chip) => chip.label)).toEqual(["ChatGPT", "No type"]);
  });

  it("are a filter beside the types, unless no memory has a type", async () => {
    const requests = (types: Record<string, number>) => ({
      ...mockBackend({ open: true }),
      facets: () => Promise.resolve({ sources: {}, types, tags: {}, said_by: {}, file_kinds: {} }),
    });
    const memory = { ...ANY, kind: "memory" };
    useBackend(requests({ "": 9, fact: 3 }));
    await facets.load(memory, "");
    expect(facets.group("record_type").map(({ value }) => value)).toEqual(["fact", ""]);
    facets.clear();
    useBackend(requests({ "": 9 }));
    await facets.load(memory, "");
    expect(facets.group("record_type")).toEqual([]);
    await facets.load({ ...memory, record_type: "" }, "");
    expect(facets.group("record_type")).toEqual([{ value: "", n: 9 }]);
  });
});

describe("an old export", () => {
  const source = (platform: string, newest: number, exported: number | null) => ({
    platform,
    format: platform,
    counts: { memory: 1 },
    newest_at: ago(newest),
    exported_at: exported === null ? null : ago(exported),
  });
  // Gemini was used long ago and exported today, Claude was exported 91 days ago, the person's own entries never.
  const columns = columnsOf([source("gemini", 400, 0), source("claude", 91, 91), source("me", 400, null)]);

  it("is one made long ago, whatever the age of its contents", () => {
    useBackend(mockBackend({ open: true }));
    render(Matrix, { columns, types: ["fact"] });
    expect(screen.getAllByTestId("home-old").map((age) => age.textContent)).toEqual([
      expect.stringMatching(/^export of .*\d/),
    ]);
    expect(screen.getByTestId("home-old").closest("th")?.textContent).toContain("Claude");
    render(AttentionList, { columns, incomplete: [] });
    const old = screen.getAllByText(/is old$/).map((row) => row.textContent);
    expect(old).toEqual(["The Claude export is old"]);
  });

  it("is determined by the newest export of the assistant", () => {
    const [column] = columnsOf([source("claude", 10, 200), { ...source("claude", 10, 3), format: "mem" }]);
    expect(column?.exported).toBe(ago(3));
  });
});
