import { render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import ExportSheet from "../src/features/exporting/ExportSheet.svelte";
import ImportSheet from "../src/features/importing/ImportSheet.svelte";
import MemoriesView from "../src/features/memories/MemoriesView.svelte";
import { importing } from "$lib/state/importing.svelte";
import { memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { moveToTrash, restoreFromTrash } from "$lib/state/trash-actions";
import { search } from "$lib/state/search-field.svelte";
import { selection } from "$lib/state/selection.svelte";
import { session } from "$lib/state/session.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
});

/** Delays the calls for which `when` returns true until the returned function is called. */
function delayCalls<K extends "trash" | "restore" | "list" | "importPreview" | "exportPreview" | "search">(
  name: K,
  when: (...args: Parameters<(typeof mock)[K]>) => boolean = () => true,
): () => void {
  let release: () => void = () => undefined;
  const released = new Promise<void>((done) => (release = done));
  const originalCall = mock[name] as (...args: unknown[]) => Promise<unknown>;
  const delayed = async (...args: unknown[]) => {
    if (when(...(args as Parameters<(typeof mock)[K]>))) await released;
    return originalCall(...args);
  };
  Object.assign(mock, { [name]: delayed });
  return release;
}

describe("an answer after locking", () => {
  it.each(["trash", "restore"] as const)("shows no toast (%s)", async (name) => {
    const release = delayCalls(name);
    const action = name === "trash" ? moveToTrash(["m-1"], "A secret") : restoreFromTrash(["t-0"]);
    session.locked("person");
    release();
    expect(await action).not.toBe(true);
    expect(toasts.current).toBeNull();
    expect(await toasts.undo()).toBe(false);
  });

  it("checks no rows", async () => {
    const release = delayCalls("list");
    const checkingAll = selection.checkAll(memories);
    session.locked("person");
    release();
    await checkingAll;
    expect(selection.ids.size).toBe(0);
  });
});

describe("an answer to an older query", () => {
  it("does not undo a choice made meanwhile", async () => {
    const release = delayCalls("list");
    const checkingAll = selection.checkAll(memories);
    selection.clear();
    release();
    await checkingAll;
    expect(selection.ids.size).toBe(0);
  });

  it("does not change the number of matching messages", async () => {
    await vault.refresh();
    const release = delayCalls("search", (request) => request.query === "joists" && request.filter.kind === "message");
    search.text = "joists";
    render(MemoriesView);
    await waitFor(() => expect(memories.query).toBe("joists"));
    search.text = "membrane";
    await waitFor(() => expect(screen.getByText("3 messages")).toBeTruthy());
    release();
    await new Promise((done) => setTimeout(done, 20));
    expect(screen.getByText("3 messages")).toBeTruthy();
  });

  it("opens nothing after its section was left", async () => {
    await vault.refresh();
    const release = delayCalls("list");
    nav.go("memories");
    const { unmount } = render(MemoriesView);
    await waitFor(() => expect(memories.loading).toBe(true));
    nav.go("conversations");
    unmount();
    release();
    await waitFor(() => expect(memories.loading).toBe(false));
    await Promise.resolve();
    expect(nav.id).toBeNull();
  });
});

describe("an abandoned preview", () => {
  it("is cancelled when the import is replanned or closed", async () => {
    const cancelJob = vi.spyOn(mock, "cancelJob");
    const release = delayCalls("importPreview");
    void importing.inspect(["/d/chatgpt-export.zip"]);
    await waitFor(() => expect(importing.stage).toBe("planning"));
    const firstJob = importing.job?.id;
    void importing.setImportDeleted(true);
    expect(cancelJob).toHaveBeenCalledWith(firstJob);
    const second = importing.job?.id;
    expect(second).not.toBe(firstJob);
    importing.reset();
    expect(cancelJob).toHaveBeenCalledWith(second);
    release();
  });

  it("is cancelled by closing the sheet", async () => {
    const cancelJob = vi.spyOn(mock, "cancelJob");
    delayCalls("importPreview");
    void importing.inspect(["/d/chatgpt-export.zip"]);
    await waitFor(() => expect(importing.stage).toBe("planning"));
    const id = importing.job?.id;
    render(ImportSheet);
    screen.getByTestId("import-cancel").click();
    expect(cancelJob).toHaveBeenCalledWith(id);
  });

  it("is cancelled when another format is chosen, or the export closed", async () => {
    const requests = vi.spyOn(mock, "exportPreview");
    const cancelJob = vi.spyOn(mock, "cancelJob");
    const { unmount } = render(ExportSheet, { filter: null, query: "", found: null, start: "mem" });
    await waitFor(() => expect(requests).toHaveBeenCalledTimes(1));
    screen.getByTestId("export-alf").click();
    await waitFor(() => expect(requests).toHaveBeenCalledTimes(2));
    unmount();
    expect(cancelJob.mock.calls.map(([id]) => id)).toEqual(requests.mock.calls.map(([id]) => id));
  });
});
