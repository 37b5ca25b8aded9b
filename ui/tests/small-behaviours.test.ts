import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import EvidenceSheet from "../src/features/activity/EvidenceSheet.svelte";
import ExportSheet from "../src/features/exporting/ExportSheet.svelte";
import FirstSteps from "../src/features/home/FirstSteps.svelte";
import ImportSheet from "../src/features/importing/ImportSheet.svelte";
import MemoriesView from "../src/features/memories/MemoriesView.svelte";
import { memoryMenu } from "../src/features/memories/menu";
import OriginalRecord from "../src/features/memories/OriginalRecord.svelte";
import WriteSheet from "../src/features/memories/WriteSheet.svelte";
import TypeField from "../src/features/memories/TypeField.svelte";
import TrashView from "../src/features/removal/TrashView.svelte";
import TodoList from "../src/features/review/TodoList.svelte";
import About from "../src/features/settings/About.svelte";
import FormatsSheet from "../src/features/settings/FormatsSheet.svelte";
import DemonstrationBanner from "../src/shell/DemonstrationBanner.svelte";
import ShortcutsSheet from "../src/shell/ShortcutsSheet.svelte";
import { start, type Mock } from "./start-mock";
import { BackendError } from "$lib/ipc";
import { FORMATS } from "$lib/ipc/formats";
import { item } from "$lib/ipc/mock/data";
import { dialogs } from "$lib/state/dialogs.svelte";
import { ANY } from "$lib/state/filter";
import { EXPORT_FORMATS } from "$lib/state/formats";
import { importing } from "$lib/state/importing.svelte";
import { memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { search } from "$lib/state/search-field.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { dayTime } from "$lib/text/format";
import Button from "$lib/ui/Button.svelte";
import RedactionBar from "$lib/ui/RedactionBar.svelte";

let mock: Mock;

beforeEach(async () => {
  mock = await start({ stepMs: 0 });
});

describe("a memory that is written", () => {
  it("is saved by Ctrl Enter wherever the focus is, with the tag that is being typed", async () => {
    const add = vi.spyOn(mock, "add");
    render(WriteSheet);
    const tags = screen.getByTestId("edit-tags");
    tags.focus();
    await fireEvent.keyDown(tags, { key: "Enter", ctrlKey: true });
    expect(add, "nothing is written yet").not.toHaveBeenCalled();
    expect(document.activeElement, "the focus stays").toBe(tags);
    await fireEvent.input(screen.getByTestId("write-text"), { target: { value: "Likes tea." } });
    tags.focus();
    await fireEvent.input(tags, { target: { value: "drinks" } });
    await fireEvent.keyDown(tags, { key: "Enter", ctrlKey: true });
    await waitFor(() => expect(add).toHaveBeenCalledOnce());
    expect(add.mock.calls[0]?.[0]).toEqual({ type: "fact", text: "Likes tea.", tags: ["drinks"] });
  });
});

describe("entries that are not memories", () => {
  const show = async (kind: string) => {
    mock = await start({ stepMs: 0, items: [item("x-1", kind, "claude", "Likes tea", 1)] });
    await vault.refresh();
    nav.section = "memories";
    memories.setFilter({ kind });
    render(MemoriesView);
    return screen.findByText(/1 of 1/);
  };

  it("are counted and placed by their own name", async () => {
    expect((await show("fact")).textContent).not.toContain("Memory");
    const statusTexts = () => screen.getAllByRole("status").map((each) => each.textContent?.trim());
    await waitFor(() => expect(statusTexts()).toContain("Facts: 1"));
    expect(screen.getByTestId("detail-edit")).toBeTruthy();
  });

  it("cannot be edited if no reader understands them", async () => {
    await show("foreign");
    expect(screen.queryByTestId("detail-edit")).toBeNull();
    const labels = memoryMenu("x-1", () => undefined).map((each) => (each === "line" ? each : each.label));
    expect([labels.includes("Edit"), labels.includes("Copy the text")]).toEqual([false, true]);
  });
});

it("a search with filters does not claim that nothing in the vault matches, and each can be cleared", async () => {
  await vault.refresh();
  nav.section = "memories";
  memories.setFilter({ source: "gemini" });
  search.text = "wooden house";
  render(MemoriesView);
  expect(await screen.findByText("Nothing with these filters matches “wooden house”")).toBeTruthy();
  await fireEvent.click(screen.getByText("Clear filters"));
  await waitFor(() => expect(memories.rows.length).toBeGreaterThan(0));
  expect([memories.filter.source, search.text]).toEqual([null, "wooden house"]);
  search.clear();
});

it("an import with nothing new is not offered as if there were something", async () => {
  const originalPreview = mock.importPreview;
  mock.importPreview = async (...args) => {
    const report = await originalPreview(...args);
    return { ...report, found: 3, added: 0, updated: 0, unchanged: 2, blocked: 1 };
  };
  await importing.inspect(["/d/chatgpt-export.zip"]);
  render(ImportSheet);
  const confirm = await screen.findByTestId("import-confirm");
  expect(confirm.textContent?.trim()).toBe("Import anyway");
  expect(screen.getByTestId("import-sheet").textContent).toContain("You deleted it before");
  importing.reset();
});

it("a row of the Trash shows the title and the words of a memory", async () => {
  const titledRecord = { title: "reference_people", trashed_at: new Date().toISOString() };
  mock = await start({ items: [item("m-1", "memory", "claude", "Rosalind lives in Leeds.", 1, titledRecord)] });
  render(TrashView);
  // Without layout only the active row is rendered.
  const box = await screen.findByRole("listbox");
  box.focus();
  await fireEvent.keyDown(box, { key: "Home" });
  const row = await screen.findByText("reference_people");
  expect(row.parentElement?.textContent).toContain("Rosalind lives in Leeds.");
});

it("a format that only the command line writes says so, and counts as written", async () => {
  const { unmount } = render(FormatsSheet);
  const rows = await screen.findAllByTestId("format-row");
  const writtenCount = (await mock.formats()).filter(({ write }) => write).length;
  const commandOnlyRows = rows.filter((row) => row.textContent?.includes("written only on the command line"));
  expect(writtenCount - commandOnlyRows.length).toBe(EXPORT_FORMATS.length);
  expect(rows.filter((row) => row.querySelector("td:last-child svg"))).toHaveLength(writtenCount);
  unmount();
  render(About);
  expect(await screen.findByText(new RegExp(`writes ${writtenCount} of them`))).toBeTruthy();
});

it("About counts missing files apart, as Files does", async () => {
  await vault.refresh();
  render(About);
  expect(await screen.findByText(/conversations, 12 files, 1 missing/)).toBeTruthy();
});

it("an entry of the to-do list says that its deletion is not known yet, and where its memory is", () => {
  const entry = { id: "m-1", text: "Likes tea", where: "Settings", answer: "outdated", state: "not_checked" };
  const items = [{ ...entry, trashed: true, created_at: null }];
  render(TodoList, { todo: { assistant: "claude", name: "Claude", items, message: "", assistants: [] } });
  expect(screen.getByTestId("todo-item").textContent).toContain(
    "Outdated, not yet known whether it’s gone, in your Trash",
  );
});

it("a hidden value is not called redacted, also when its text is copied", () => {
  const { container } = render(RedactionBar, { hidden: "" });
  expect(container.textContent?.trim()).toBe("hidden");
  expect(render(RedactionBar, { hidden: "email" }).container.textContent).toContain("redacted");
});

it("the choice of a type shows that a memory has none", () => {
  render(TypeField, { value: null, onchange: () => undefined });
  expect(screen.getByLabelText("Type").textContent?.trim()).toBe("No type");
});

it("a range of keys is shown as one", () => {
  render(ShortcutsSheet);
  expect(screen.getByText("Sections").closest("tr")?.querySelector("td")?.textContent?.replaceAll(/\s/g, "")).toBe(
    "Ctrl1–Ctrl7",
  );
});

it("a deleted demonstration is confirmed", async () => {
  mock.deleteDemonstration = async () => null as never;
  render(DemonstrationBanner);
  await fireEvent.click(screen.getByTestId("demonstration-delete"));
  await waitFor(() => expect(toasts.current?.text).toContain("Demonstration deleted."));
});

it("an export of what is on screen counts it again, because the number of the list may be old", async () => {
  const filter = { ...ANY, kind: "memory" };
  const { total } = await mock.list({ filter, sort: null, limit: 1, cursor: null });
  render(ExportSheet, { filter, query: "", found: total + 1, start: "mem" });
  expect(await screen.findByText(`What’s on screen (${total})`)).toBeTruthy();
});

describe("the original record", () => {
  it("names its format as the rest of the window does", async () => {
    const { record } = await mock.show("m-0", false, true);
    const format = FORMATS.find(({ id }) => id === record.origin?.format);
    render(OriginalRecord, { id: "m-0" });
    await waitFor(() => expect(screen.getByTestId("original-record").textContent).toContain(format!.name));
  });

  it("that cannot be loaded is reported in the window's words", async () => {
    mock.show = () => Promise.reject(new BackendError({ code: "store", message: "page 7", details: {} }));
    render(OriginalRecord, { id: "m-0" });
    expect((await screen.findByRole("alert")).textContent).toContain("The vault’s database could not be used.");
    expect(screen.getByTestId("original-record").textContent).not.toContain("BackendError");
  });
});

describe("the first steps", () => {
  it("lead to a folder instead of a file", async () => {
    mock.chooseFolder = async () => null;
    render(FirstSteps);
    await fireEvent.click(screen.getByTestId("first-folder"));
    expect(dialogs.open, "a cancelled dialog changes nothing").toBeNull();
    mock.chooseFolder = async () => "/home/ines/.cursor";
    await fireEvent.click(screen.getByTestId("first-folder"));
    await waitFor(() => expect(importing.paths).toEqual(["/home/ines/.cursor"]));
    expect(dialogs.open?.kind).toBe("import");
  });
});

describe("an Evidence Pack", () => {
  it("shows the time of its check", async () => {
    render(EvidenceSheet);
    const saveButton = await screen.findByTestId("evidence-save");
    await waitFor(() => expect((saveButton as HTMLButtonElement).disabled).toBe(false));
    await fireEvent.click(saveButton);
    const result = await screen.findByTestId("evidence-result");
    expect(result.textContent).toContain(`Checked ${dayTime(Date.now())}`);
  });
});

describe("motion", () => {
  const source = (file: string) => readFileSync(resolve(import.meta.dirname, `../src/${file}`), "utf8");

  it.each(["Popover", "MenuEntries", "Select", "TagInput"])("%s is a floating panel", (name) => {
    expect(source(`lib/ui/${name}.svelte`)).toMatch(/class="floating /);
  });

  it("floating panels fade in and move by 4 px, and only fade with reduced motion", () => {
    const styles = source("styles/base.css");
    expect(styles).toMatch(/\.floating \{[^}]*animation: float var\(--dur-2\) var\(--ease-out\)/);
    expect(styles).toContain("translateY(calc(-1 * var(--way) * var(--space-2)))");
    const tokens = source("styles/tokens.css");
    expect(tokens.match(/--dur-3: 1ms; --way: 0;/g), "by the system, or by the setting").toHaveLength(2);
    expect(tokens.indexOf("--way: 1;"), "and these come after it").toBeLessThan(tokens.indexOf("--way: 0;"));
    expect(tokens).toContain("--way: 1;");
  });

  it("a busy button has three dots instead of the spinner with reduced motion", () => {
    render(Button, { busy: true });
    const [turning, still] = [".turning svg", ".still svg"].map((each) => document.querySelector(each));
    expect([turning !== null, still?.classList.contains("lucide-ellipsis")]).toEqual([true, true]);
    expect(source("lib/ui/Spinner.svelte").match(/\.still \{\s+display: inline-flex/g)).toHaveLength(2);
  });
});
