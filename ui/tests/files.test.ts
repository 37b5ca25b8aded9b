import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import Window from "../src/shell/Window.svelte";
import { files } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { search } from "$lib/state/search-field.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start } from "./start-mock";

// Each test renders the whole window, which is slow on a busy machine.
vi.setConfig({ testTimeout: 20_000 });

const kinds = () => within(screen.getByTestId("file-kinds"));
const labels = () =>
  kinds()
    .getAllByRole("button")
    .map((chip) => chip.textContent?.trim());
const pressedKinds = () =>
  kinds()
    .getAllByRole("button", { pressed: true })
    .map((chip) => chip.textContent?.trim());
const note = () => document.querySelector("header .note")?.textContent;

beforeEach(async () => {
  await start();
  nav.section = "files";
  files.sort = "newest";
  await vault.refresh();
  render(Window);
  await waitFor(() => expect(labels().length).toBeGreaterThan(1));
});

describe("the kinds of files", () => {
  it("are shown with their numbers; a kind without files is absent", () => {
    expect(labels()).toEqual(["All", "Pictures 5", "Documents 4", "Code 2", "Sound 1", "Missing 1"]);
    expect(pressedKinds()).toEqual(["All"]);
  });

  it("filter the list, and the bar shows number and size", async () => {
    await waitFor(() => expect(note()).toBe("12 files, 12 MB, 1 missing"));
    await fireEvent.click(kinds().getByText(/Sound/));
    await waitFor(() => expect(files.rows.map((row) => row.title)).toEqual(["voice-note-0412.m4a"]));
    await waitFor(() => expect(note()).toBe("1 file, 640 KB"));
    expect(pressedKinds()).toEqual(["Sound 1"]);
    expect(labels(), "the other kinds can still be chosen").toHaveLength(6);
    await fireEvent.click(kinds().getByText(/Sound/));
    await waitFor(() => expect(files.total).toBe(13));
    expect(pressedKinds()).toEqual(["All"]);
  });

  it("show files that an export names but does not contain, without a size", async () => {
    await fireEvent.click(kinds().getByText(/Missing/));
    await waitFor(() => expect(files.rows.map((row) => row.title)).toEqual(["floorplan-1934.dwg"]));
    await waitFor(() => expect(note(), "it is no file in the vault").toBe("1 missing"));
    expect(files.rows[0]?.present).toBe(false);
  });

  it("follow the search, and each can be cleared", async () => {
    search.text = "liv";
    await waitFor(() => expect(labels()).toEqual(["All", "Pictures 1"]));
    await fireEvent.click(kinds().getByText(/Pictures/));
    search.text = "tide";
    await waitFor(() => expect(files.total).toBe(0));
    await waitFor(() => expect(labels(), "the chosen kind stays visible").toEqual(["All", "Pictures 0", "Code 1"]));
    expect(screen.getByText("Nothing with these filters matches “tide”")).toBeTruthy();
    await fireEvent.click(await screen.findByText("Clear filters"));
    await waitFor(() => expect(files.total).toBe(1));
    expect([search.text, files.filter.file_kind], "the search stays").toEqual(["tide", null]);
    search.text = "nothing is called this";
    await fireEvent.click(await screen.findByText("Clear the search"));
    await waitFor(() => expect(files.total).toBe(13));
  });
});

it("are sorted as chosen", async () => {
  expect(screen.getByTestId("sort-menu").textContent).toBe("Newest");
  files.sort = "title";
  await waitFor(() => expect(files.rows[0]?.title).toBe("beam-table-c24.xlsx"));
  expect(screen.getByTestId("sort-menu").textContent).toBe("By title");
});
