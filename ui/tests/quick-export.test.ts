// Tests of saving everything in one click, with the settings of the last export.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import LossTable from "../src/features/exporting/LossTable.svelte";
import { keptFields, leftOutText, lossRows, missedFields } from "../src/features/exporting/losses";
import { lastSettings, quickExportEntries, quickExport } from "../src/features/exporting/quick-export.svelte";
import App from "../src/shell/App.svelte";
import "../src/shell/Window.svelte";
import { commands } from "../src/shell/palette/commands";
import type { AuditEntry, Exported } from "$lib/ipc";
import { failWith } from "$lib/ipc/mock/jobs";
import { sampleEntries } from "$lib/ipc/mock/log";
import { dialogs } from "$lib/state/dialogs.svelte";
import { ANY } from "$lib/state/filter";
import { clearContent } from "$lib/state/lock-cleanup";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;
beforeEach(async () => {
  mock = await start();
  await vault.refresh();
});

const entry = (target: string, detail: string, file: string | null, at: string): AuditEntry => ({
  ...{ seq: 1, actor: "user", op: "export" },
  ...{ target, detail, file, at },
});
/** Makes the log contain only these entries. */
const mockLog = (...entries: AuditEntry[]) => vi.spyOn(mock, "audit").mockResolvedValue({ entries, verified: null });
/** Makes every export report these losses, or no losses if there are no arguments. */
const mockLosses = (...loss_counts: Exported["loss_counts"]) => {
  const { exportPreview, exportRun } = mock;
  mock.exportPreview = async (...args) => ({ ...(await exportPreview(...args)), loss_counts });
  mock.exportRun = async (...args) => ({ ...(await exportRun(...args)), loss_counts });
};
const leftOut = (field: string, count: number) => ({ field, kind: "left_out", count });

describe("the settings of the last export", () => {
  it("are those of the newest export in the same format", () => {
    const entries = [
      entry("mem", "3 records, signed, valid", null, "2026-11-03T10:00:00Z"),
      entry("mem", "2 records, valid", "/old/Ines.mem", "2026-11-01T10:00:00Z"),
      entry("alf", "2 records, encrypted, valid", "/new/Ines.alf", "2026-11-02T10:00:00Z"),
      { ...entry("mem", "", "/never/x", "2026-11-09T10:00:00Z"), op: "import" },
    ];
    expect(lastSettings(entries, "mem")).toEqual({ folder: "/old", sign: true, encrypt: false });
    expect(lastSettings(entries, "alf")).toEqual({ folder: "/new", sign: false, encrypt: true });
    expect(lastSettings(entries, "mif"), "another format has a folder too").toEqual({
      ...{ folder: "/new", sign: false, encrypt: false },
    });
    expect(lastSettings([], "mem")).toEqual({ folder: null, sign: false, encrypt: false });
    expect(lastSettings(sampleEntries(), "mem").sign).toBe(true);
  });
});

describe("one click", () => {
  it("saves everything, masked, where and as the last export was saved, and says where", async () => {
    mockLog(entry("mem", "3 records, signed, valid", "/docs/Ines 2026-11-01.mem", "2026-11-01T10:00:00Z"));
    mockLosses();
    const exportRun = vi.spyOn(mock, "exportRun");
    const showInFolder = vi.spyOn(mock, "showInFolder");
    await quickExport.run("mem");
    expect(exportRun.mock.lastCall?.[1]).toMatchObject({ format: "mem", filter: ANY, sign: true, cover: true });
    expect(exportRun.mock.lastCall?.[1].out).toMatch(/^\/docs\/Ines \d{4}-\d\d-\d\d\.mem$/);
    expect(dialogs.open).toBeNull();
    expect(toasts.current?.text).toMatch(/^Saved as Ines \d{4}-\d\d-\d\d\.mem\. 14 sensitive values masked\.$/);
    await toasts.runAction();
    expect(showInFolder).toHaveBeenCalledWith(exportRun.mock.lastCall?.[1].out);
  });

  it("takes the next free name, and never replaces a file", async () => {
    mockLog();
    mockLosses();
    mock.defaultVaultFolder = async () => "/d";
    const originalRun = mock.exportRun;
    const exportRun = vi.spyOn(mock, "exportRun").mockImplementation(async (...args) => {
      if (exportRun.mock.calls.length < 3) throw failWith("exists", "There is something.");
      return originalRun(...args);
    });
    await quickExport.run("alf");
    const names = exportRun.mock.calls.map(([, { out }]) => out.replace(/\d{4}-\d\d-\d\d/, "DAY"));
    expect(names).toEqual(["/d/Ines DAY.alf", "/d/Ines DAY (2).alf", "/d/Ines DAY (3).alf"]);
    expect(exportRun.mock.calls.some(([, { overwrite }]) => overwrite)).toBe(false);
  });

  it("asks in the sheet before something is lost that a person would miss, and once for each format", async () => {
    mockLog();
    mockLosses(leftOut("bytes", 5), leftOut("passthrough", 9));
    const exportRun = vi.spyOn(mock, "exportRun");
    render(App);
    await quickExport.run("mem");
    expect(dialogs.open).toMatchObject({ kind: "export", format: "mem" });
    expect(exportRun).not.toHaveBeenCalled();
    await fireEvent.click(await screen.findByTestId("export-understood"));
    expect(screen.getByTestId("export-understood").closest("label, div")?.textContent).toContain("5 files");
    await fireEvent.click(screen.getByTestId("export-save"));
    await fireEvent.click(await screen.findByTestId("export-done"));
    await quickExport.run("mem");
    expect([exportRun.mock.calls.length, dialogs.open]).toEqual([2, null]);
    expect(toasts.current?.text, "what is left out is said").toContain("Left out: 5 files.");
    clearContent();
    await quickExport.run("mem");
    expect(dialogs.open, "locking forgets it").toMatchObject({ kind: "export" });
  });

  it("opens the sheet, set to encrypt, if the last export was encrypted", async () => {
    mockLog(entry("alf", "3 records, encrypted, valid", null, "2026-11-01T10:00:00Z"));
    mockLosses();
    const exportRun = vi.spyOn(mock, "exportRun");
    render(App);
    await quickExport.run("alf");
    expect(exportRun).not.toHaveBeenCalled();
    const row = await screen.findByTestId("export-encrypt");
    expect(row.querySelector("[role=switch]")?.getAttribute("aria-checked")).toBe("true");
  });

  it("shows an export that failed its check, and offers to delete it", async () => {
    mockLog();
    mockLosses();
    const originalRun = mock.exportRun;
    vi.spyOn(mock, "exportRun").mockImplementation(async (...args) => ({
      ...(await originalRun(...args)),
      validated: false,
    }));
    render(App);
    await quickExport.run("mem");
    expect(await screen.findByTestId("export-invalid")).toBeTruthy();
    expect(toasts.current?.text ?? "").not.toContain("Saved");
  });

  it("says why nothing was saved", async () => {
    mockLog();
    mockLosses();
    vi.spyOn(mock, "exportRun").mockRejectedValue(failWith("disk_full", "No space."));
    await quickExport.run("mem");
    expect(toasts.current?.text).toContain("The disk is full.");
    expect(quickExport.running).toBe(false);
  });

  it("is offered as entries of menus and by the palette", () => {
    const labels = ["Save everything as .mem", "Save everything as .alf"];
    expect(quickExportEntries().map((each) => (each === "line" ? each : each.label))).toEqual(labels);
    expect(commands().flatMap(({ id, label }) => (/^save-/.test(id) ? [label] : []))).toEqual(labels);
  });
});

describe("the list of losses", () => {
  const request = { format: "mem", out: "", filter: ANY, overwrite: false, sign: false, cover: true };
  const exported = async (...loss_counts: Exported["loss_counts"]) => ({
    ...(await mock.exportPreview("j", request, false, () => undefined)),
    loss_counts,
  });

  it("has no row for parts that another import restores, nor for exact seconds", async () => {
    const preview = await exported(
      leftOut("bytes", 2),
      { field: "times.created", kind: "narrowed", count: 3080 },
      { field: "type", kind: "narrowed", count: 4 },
      { field: "links", kind: "moved_to_extension", count: 19 },
      { field: "verbatim", kind: "moved_to_extension", count: 30 },
    );
    expect(lossRows(preview).map(({ field }) => field)).toEqual(["bytes", "type"]);
    expect(keptFields(preview)).toEqual(["Links", "Original records"]);
    render(LossTable, { preview });
    await waitFor(() => expect(screen.getByTestId("export-kept").textContent).toContain("Links, Original records."));
    expect(screen.getByTestId("export-losses").textContent).not.toMatch(/second|Time/);
  });

  it("counts parts that a person would miss separately from parts that only programs use", async () => {
    const preview = await exported(leftOut("passthrough", 17), leftOut("embeddings", 3), leftOut("attachment", 5));
    expect([leftOutText(preview), missedFields(preview)]).toEqual(["5 files", ["attachment"]]);
    expect(missedFields(await exported(leftOut("passthrough", 17)))).toEqual([]);
  });

  it("counts whole entries separately from details of exported entries", async () => {
    const details = await exported(leftOut("links", 8), leftOut("tags", 11));
    expect(leftOutText(details)).toBe("19 details of entries");
    expect(leftOutText(await exported(leftOut("record", 1), leftOut("tags", 1)))).toBe(
      "1 item and 1 detail of an entry",
    );
    expect(leftOutText(await exported(leftOut("record", 1)), 2)).toBe("3 items");
  });
});
