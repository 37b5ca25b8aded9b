import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import MemoriesView from "../src/features/memories/MemoriesView.svelte";
import SimilarList from "../src/features/memories/SimilarList.svelte";
import Window from "../src/shell/Window.svelte";
import { contradictions } from "$lib/state/contradictions.svelte";
import { facets } from "$lib/state/facets.svelte";
import { meaning } from "$lib/state/meaning.svelte";
import { nav } from "$lib/state/nav.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
  nav.section = "home";
  await vault.refresh();
});

const NONE = { rows: [], left: 0, weights: null };

describe("the palette", () => {
  async function open(typed: string) {
    render(Window);
    await fireEvent.keyDown(document.body, { key: "k", ctrlKey: true });
    await fireEvent.input(await screen.findByTestId("palette-field"), { target: { value: typed } });
  }

  it("lists records of similar meaning below those with the words, under a heading, and no record twice", async () => {
    await open("animals");
    const palette = await screen.findByTestId("palette");
    const group = await within(palette).findByRole("group", { name: /Similar in meaning/ });
    const similar = within(group)
      .getAllByTestId("palette-item")
      .map((row) => row.dataset.id);
    expect(similar.length).toBeGreaterThan(0);
    const all = within(palette)
      .getAllByTestId("palette-item")
      .map((row) => row.dataset.id);
    expect(new Set(all).size).toBe(all.length);
  });

  it("says that the weights are missing; words are found all the same", async () => {
    vi.spyOn(mock, "similar").mockResolvedValue({ ...NONE, weights: "missing" });
    await open("whales");
    expect((await screen.findByTestId("palette-weights")).textContent).toContain("isn’t installed");
    expect(screen.getAllByTestId("palette-item").length).toBeGreaterThan(0);
  });
});

it("the list of memories, its filters and the open memory are loaded again when memories were encoded", async () => {
  nav.section = "memories";
  render(MemoriesView);
  await waitFor(() => expect(screen.getAllByTestId("list-row").length).toBeGreaterThan(0));
  await screen.findByTestId("detail-text");
  await waitFor(() => expect(Object.keys(facets.all.about).length).toBeGreaterThan(0));
  const openId = nav.id;
  const [list, counts, show] = [vi.spyOn(mock, "list"), vi.spyOn(mock, "facets"), vi.spyOn(mock, "show")];
  meaning.revision += 1;
  await waitFor(() => expect(list).toHaveBeenCalledTimes(1));
  // One call counts with the current filters, the other counts all memories.
  await waitFor(() => expect(counts).toHaveBeenCalledTimes(2));
  expect(show.mock.calls.map(([id]) => id)).toEqual([openId]);
  expect(nav.id).toBe(openId);
});

describe("more like this", () => {
  const openList = async (id: string) => {
    const shown = render(SimilarList, { id });
    await fireEvent.click(screen.getByRole("button", { name: "More like this" }));
    return shown;
  };

  it("requests similar records when it is opened, and a row leads to its memory", async () => {
    const similar = vi.spyOn(mock, "similar");
    render(SimilarList, { id: "m-0" });
    expect(similar).not.toHaveBeenCalled();
    await fireEvent.click(screen.getByRole("button", { name: "More like this" }));
    const [row] = await screen.findAllByTestId("similar-row");
    await fireEvent.click(row!);
    expect(nav.section).toBe("memories");
    expect(similar).toHaveBeenCalledWith(expect.objectContaining({ id: "m-0", query: "" }));
  });

  it("says that the weights are missing, how many records are not compared yet, or that nothing is similar", async () => {
    const similar = vi.spyOn(mock, "similar").mockResolvedValue(NONE);
    await openList("m-0");
    expect((await screen.findByTestId("similar-note")).textContent).toBe(
      "No other memory was found that says nearly the same thing.",
    );
    similar.mockResolvedValue({ ...NONE, left: 3 });
    meaning.revision += 1;
    await waitFor(() => expect(screen.getByTestId("similar-note").textContent).toContain("3 memories"));
    similar.mockResolvedValue({ ...NONE, weights: "damaged" });
    meaning.revision += 1;
    await waitFor(() => expect(screen.getByTestId("similar-note").textContent).toContain("damaged"));
  });
});

describe("encoding", () => {
  it("runs one job at a time, and another one for records that changed meanwhile", async () => {
    let finish: () => void = () => undefined;
    const encode = vi
      .spyOn(mock, "encode")
      .mockImplementation(() => new Promise((done) => (finish = () => done({ records: 2, weights: null }))));
    const before = meaning.revision;
    const firstRun = meaning.encodeInBackground();
    void meaning.encodeInBackground();
    void meaning.encodeInBackground();
    expect(encode).toHaveBeenCalledTimes(1);
    finish();
    await waitFor(() => expect(encode).toHaveBeenCalledTimes(2));
    finish();
    await firstRun;
    expect(encode).toHaveBeenCalledTimes(2);
    expect(meaning.revision).toBe(before + 2);
  });

  it("starts another search for contradictions, because vectors find more of them", async () => {
    const searchCalls = vi.spyOn(mock, "contradictions");
    contradictions.clear();
    await contradictions.load();
    await contradictions.load();
    expect(searchCalls).toHaveBeenCalledTimes(1);
    meaning.revision += 1;
    await contradictions.load();
    expect(searchCalls).toHaveBeenCalledTimes(2);
  });
});
