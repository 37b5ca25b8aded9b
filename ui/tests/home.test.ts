import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import HomeView from "../src/features/home/HomeView.svelte";
import Matrix from "../src/features/home/Matrix.svelte";
import { chipsOf } from "../src/features/memories/chips";
import AttentionList from "../src/features/home/AttentionList.svelte";
import { columnsOf, loadHome, loadMonths, typesByFrequency, partlyReadExports } from "../src/features/home/data";
import MonthChart from "../src/features/home/MonthChart.svelte";
import { useBackend } from "$lib/ipc";
import { mockBackend } from "$lib/ipc/mock";
import { ago, item } from "$lib/ipc/mock/data";
import { dialogs } from "$lib/state/dialogs.svelte";
import { exportStatusName } from "$lib/logic/export-status";
import { facets } from "$lib/state/facets.svelte";
import { ANY, isFiltered } from "$lib/state/filter";
import { memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { clearContent } from "$lib/state/lock-cleanup";
import { search } from "$lib/state/search-field.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start } from "./start-mock";

beforeEach(() => clearContent());

const column = (source: string, memories: number) => ({
  source,
  memories,
  profiles: 0,
  conversations: 0,
  newest: null,
  exported: null,
  types: (memories > 0 ? { fact: memories } : {}) as Record<string, number>,
  about: {} as Record<string, number>,
  special: 0,
});

const NO_COUNTS = { sources: {}, types: {}, tags: {}, said_by: {}, file_kinds: {}, about: {}, special: {} };

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

describe("the recently changed memories", () => {
  const open = async (change: (index: number) => object) => {
    const mock = await start();
    const originalList = mock.list;
    mock.list = async (request) => {
      const found = await originalList(request);
      if (request.sort !== "changed") return found;
      return { ...found, items: found.items.map((each, index) => ({ ...each, ...change(index) })) };
    };
    await vault.refresh();
    render(HomeView);
    return waitFor(() => {
      const list = document.querySelector(".recent");
      expect(list?.querySelectorAll("li").length).toBeGreaterThan(1);
      return list as Element;
    });
  };
  const NEW = { cause: "import", versions: 1, changed_at: new Date().toISOString() };

  it("show once above the list the change that all of them share", async () => {
    const list = await open(() => NEW);
    expect(list.textContent).not.toContain("new today");
    expect(list.parentElement?.querySelector(".head")?.textContent).toContain("new today");
  });

  it("show their change in each row if it differs", async () => {
    const list = await open((index) => ({ ...NEW, cause: index === 0 ? "edit" : "import" }));
    const texts = [...list.querySelectorAll(".when")].map((each) => each.textContent);
    expect(texts.slice(0, 2)).toEqual(["you edited it, today", "new today"]);
    expect(list.parentElement?.querySelector(".head")?.textContent).not.toContain("new today");
  });
});

describe("memories without a type", () => {
  const columns = [
    { ...column("chatgpt", 12), types: { "": 9, fact: 3 } as Record<string, number> },
    { ...column("claude", 2), types: { preference: 1, fact: 1 } as Record<string, number> },
  ];

  it("have the last row, whose number opens them", async () => {
    useBackend(mockBackend({ open: true }));
    const types = typesByFrequency(columns);
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

  it("have one row for each suggested subject instead of the row without a type", async () => {
    useBackend(mockBackend({ open: true }));
    const [chatgpt, claude] = columns;
    const about = { work: 6, food: 2, "": 1 } as Record<string, number>;
    render(Matrix, { columns: [{ ...chatgpt!, about, special: 4 }, claude!], types: typesByFrequency(columns) });
    expect(screen.queryByText("No type")).toBeNull();
    const work = screen.getByText("About: Work").closest("tr");
    expect(work?.textContent).toContain("suggested");
    await fireEvent.click(screen.getByRole("button", { name: "6" }));
    expect([memories.filter.source, memories.filter.record_type, memories.filter.about]).toEqual([
      "chatgpt",
      "",
      "work",
    ]);
    expect(chipsOf(memories.filter).map((chip) => chip.label)).toEqual(["ChatGPT", "No type", "About: Work"]);
    await fireEvent.click(screen.getByRole("button", { name: "4" }));
    expect([memories.filter.about, memories.filter.special]).toEqual([null, "any"]);
    expect(isFiltered(memories.filter)).toBe(true);
  });

  it("are a filter beside the types, unless no memory has a type", async () => {
    const requests = (types: Record<string, number>) => ({
      ...mockBackend({ open: true }),
      facets: () =>
        Promise.resolve({ sources: {}, types, tags: {}, said_by: {}, file_kinds: {}, about: {}, special: {} }),
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
  // Gemini's newest memory is old, but it was exported today. Claude was exported 91 days ago. The person's own entries
  // were never exported.
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

it("the newest date of an assistant is that of its memories, not of other records", async () => {
  const items = [
    item("m-1", "memory", "chatgpt", "Dated.", 30),
    { ...item("m-2", "memory", "claude", "Undated.", 0), created_at: null },
    item("c-1", "conversation", "gemini", "A conversation", 1),
  ];
  await start({ items });
  await vault.refresh();
  const { columns } = await loadHome(vault.info!);
  const newest = Object.fromEntries(columns.map((each) => [each.source, each.newest]));
  expect(newest).toEqual({ chatgpt: items[0]!.created_at, claude: null, gemini: null });
});

describe("memories without a date", () => {
  it("are in no month, although the lists place them on the day of their import", async () => {
    const today = ago(0);
    const items = [
      item("m-1", "memory", "claude", "Dated.", 3),
      { ...item("m-2", "memory", "claude", "Undated.", 0), created_at: null },
      { ...item("m-3", "memory", "chatgpt", "Undated, too.", 0), created_at: null },
    ];
    const mock = mockBackend({ open: true, items });
    const { facets } = mock;
    // As in the vault, the filter uses the day of the import as the date of a record that has none.
    mock.facets = (filter, ...rest) =>
      filter.since !== null && filter.since <= today && today <= (filter.until ?? "9")
        ? Promise.resolve({ ...NO_COUNTS, sources: { claude: 2, chatgpt: 1 } })
        : facets({ ...filter, since: null, until: null, ids: filter.since === null ? null : [] }, ...rest);
    mock.summary = async ({ source }) => ({
      ...{ versions: 0, findings: {}, conversations: 0, first: null, last: null },
      dated: source === "chatgpt" ? 0 : 1,
    });
    useBackend(mock);
    const { months, undated } = await loadMonths();
    expect([months.at(-1)?.sources, months.at(-1)?.total, undated]).toEqual([{ claude: 1 }, 1, 2]);
    render(MonthChart, { months, order: ["claude", "chatgpt"], undated });
    expect(screen.getByTestId("months-undated").textContent).toBe("2 without a date");
    expect(screen.getByTestId("months-peak").textContent).toMatch(/: 1$/);
  });
});

it("an entry that the newest export lacks is not called gone, because that export may be of another account", async () => {
  await start();
  await vault.refresh();
  render(AttentionList, { columns: [], incomplete: [] });
  const rows = screen.getAllByTestId("attention-missing");
  expect(rows[0]?.textContent).toContain("in the newest ChatGPT export");
  expect(rows.map((row) => row.textContent).join(" ")).not.toMatch(/gone/i);
  expect(exportStatusName("gone")).toBe("not in the newest export");
});

it("the newest memory has a date with its year", () => {
  const year = new Date().getFullYear();
  useBackend(mockBackend({ open: true }));
  render(Matrix, { columns: [{ ...column("chatgpt", 1), newest: `${year}-03-02` }], types: ["fact"] });
  expect(screen.getByText(/^newest /).textContent).toContain(String(year));
});

describe("an export that could not be read completely", () => {
  const batch = (id: string, format: string, failed: number, undone = false) => ({
    ...{ batch: id, format, failed, undone, at: ago(1), names: [], added: 0, updated: 0, unchanged: 0, blocked: 0 },
    ...{ skipped: 0, edited_since: 0, file: null },
  });
  const kinds = (by_kind: Record<string, { failed: number }>) => ({ by_kind }) as never;

  it("is reported only if an earlier export exists and items of the compared kinds may have failed", async () => {
    const mock = await start();
    mock.importReport = async (id) =>
      kinds(id === "files" ? { attachment: { failed: 2 } } : { conversation: { failed: 1 } });
    const sources = async (...batches: ReturnType<typeof batch>[]) =>
      (await partlyReadExports(batches)).map(({ source }) => source);
    const earlier = batch("e", "chatgpt", 0);
    expect(await sources(batch("n", "chatgpt", 1), earlier)).toEqual(["chatgpt"]);
    expect(await sources(batch("n", "chatgpt", 1)), "nothing to compare with").toEqual([]);
    expect(await sources(batch("files", "chatgpt", 2), earlier), "only attachments").toEqual([]);
    expect(await sources(batch("n", "chatgpt", 1, true), earlier, earlier), "undone").toEqual([]);
    expect(await sources(earlier, batch("n", "chatgpt", 1)), "a later one was read").toEqual([]);
    expect(await sources(batch("n", "mem", 1), batch("o", "mem", 0)), "not an account's export").toEqual([]);
  });

  it("has a row in place of the number of missing memories, which leads to the report", async () => {
    const partlyRead = [{ source: "claude", batch: "b-9" }];
    render(AttentionList, { columns: [], incomplete: [], partlyRead });
    const row = screen.getByTestId("attention-partly-read");
    expect(row.textContent).toContain("Parts of the newest Claude export couldn’t be read");
    expect(row.textContent).toContain("We can’t tell which memories are no longer in it");
    await fireEvent.click(row);
    expect(dialogs.open).toEqual({ kind: "report", batch: "b-9" });
  });
});
