import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import RemovedItemsCell from "../src/features/activity/RemovedItemsCell.svelte";
import LossTable from "../src/features/exporting/LossTable.svelte";
import HomeView from "../src/features/home/HomeView.svelte";
import MonthChart from "../src/features/home/MonthChart.svelte";
import { start } from "./start-mock";
import { sampleTombstone } from "$lib/ipc/mock/jobs";
import { sampleExport } from "$lib/ipc/mock/records";
import { ANY } from "$lib/state/filter";
import { memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { search } from "$lib/state/search-field.svelte";
import { vault } from "$lib/state/vault.svelte";

beforeEach(async () => {
  await start({ stepMs: 0 });
});

const request = { format: "alf", out: "", filter: ANY, overwrite: false, sign: false, cover: true };

describe("a number opens the list of the records that it counts", () => {
  it("of losses: a list of the records by their words, and of other parts by their names", async () => {
    const preview = sampleExport(request, [], 0, false);
    preview.losses = [
      { record: "m-0", field: "tags", kind: "narrowed", note: "" },
      { record: "m-0", field: "tags", kind: "narrowed", note: "" },
      { record: "manifest.json", field: "tags", kind: "narrowed", note: "" },
    ];
    preview.loss_counts = [
      { field: "tags", kind: "narrowed", count: 5 },
      { field: "importance", kind: "left_out", count: 2 },
    ];
    render(LossTable, { preview });
    const numbers = screen.getAllByTestId("loss-number");
    expect(
      numbers.map((each) => each.textContent),
      "of which a list came",
    ).toEqual(["5"]);
    await fireEvent.click(numbers[0]!);
    const list = await screen.findByTestId("folded-list");
    const words = within(list)
      .getAllByRole("listitem")
      .map((each) => each.textContent);
    expect(words).toEqual([expect.stringContaining("wooden house"), "manifest.json"]);
    expect(screen.getByText("The first 2 of 5")).toBeTruthy();
  });

  it("of losses in a few records: the complete list", async () => {
    const preview = sampleExport(request, [], 0, false);
    const loss = (record: string) => ({ record, field: "tags", kind: "narrowed", note: "" });
    preview.losses = ["m-0", "m-0", "m-0"].map(loss);
    preview.loss_counts = [{ field: "tags", kind: "narrowed", count: 3 }];
    const { unmount } = render(LossTable, { preview });
    await fireEvent.click(screen.getByTestId("loss-number"));
    expect(within(await screen.findByTestId("folded-list")).getAllByRole("listitem")).toHaveLength(1);
    expect(screen.queryByText(/^The first/)).toBeNull();
    unmount();
    preview.losses = Array.from({ length: 130 }, (_, index) => loss(`part-${index}`)).flatMap((each) => [each, each]);
    preview.loss_counts = [{ field: "tags", kind: "narrowed", count: 260 }];
    render(LossTable, { preview });
    await fireEvent.click(screen.getByTestId("loss-number"));
    expect(await screen.findByText("The first 100 of 130")).toBeTruthy();
  });

  it("of a deletion with many entries: the first of them", async () => {
    const derived = Array.from({ length: 5_000 }, (_, index) => `fact-${index}`);
    render(RemovedItemsCell, { tombstone: { ...sampleTombstone("ts_1", "delete", "memory", "chatgpt", 1), derived } });
    await fireEvent.click(await screen.findByTestId("tombstone-places"));
    expect(within(await screen.findByTestId("folded-list")).getAllByRole("listitem")).toHaveLength(100);
    expect(screen.getByText("The first 100 of 5,001")).toBeTruthy();
  });

  it("of a deletion: the records erased with it", async () => {
    const tombstone = { ...sampleTombstone("ts_1", "delete", "memory", "chatgpt", 1), derived: ["fact-1", "fact-2"] };
    render(RemovedItemsCell, { tombstone });
    const places = await screen.findByTestId("tombstone-places");
    expect(places.textContent).toBe("3 items");
    await fireEvent.click(places);
    const list = await screen.findByTestId("folded-list");
    expect(
      within(list)
        .getAllByRole("listitem")
        .map((each) => each.textContent),
    ).toEqual([tombstone.target_id, "fact-1", "fact-2"]);
  });

  it("of all memories", async () => {
    await vault.refresh();
    render(HomeView);
    memories.setFilter({ record_type: "goal" });
    search.text = "harbour";
    await fireEvent.click(await screen.findByTestId("home-total"));
    expect([nav.section, memories.filter.record_type, memories.filter.kind]).toEqual(["memories", null, "memory"]);
    expect(search.text).toBe("");
  });

  it("of a month, whole and by assistant", async () => {
    const month = (n: number, start: string) => ({
      start: new Date(start),
      since: start,
      until: `${start}-end`,
      sources: { chatgpt: n } as Record<string, number>,
      total: n,
    });
    render(MonthChart, { months: [month(3, "2026-03-01"), month(9, "2026-04-01")], order: ["chatgpt"] });
    search.text = "harbour";
    await fireEvent.click(screen.getByTestId("months-peak"));
    expect([nav.section, memories.filter.since, memories.filter.source]).toEqual(["memories", "2026-04-01", null]);
    expect(search.text).toBe("");
    await fireEvent.click(screen.getByText("As a table"));
    await fireEvent.click(screen.getAllByTestId("months-number")[0]!);
    expect([memories.filter.since, memories.filter.source]).toEqual(["2026-03-01", "chatgpt"]);
  });
});
