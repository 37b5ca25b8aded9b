// Tests what the export sheet says about files that are not exported, and whether its result says what was left out and
// who signed the export.
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import ExportDone from "../src/features/exporting/ExportDone.svelte";
import MaskRow from "../src/features/exporting/MaskRow.svelte";
import ExportSheet from "../src/features/exporting/ExportSheet.svelte";
import type { Exported } from "$lib/ipc";
import { ANY } from "$lib/state/filter";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
  await vault.refresh();
});

const sheet = (kind: string | null) =>
  render(ExportSheet, { filter: kind ? { ...ANY, kind } : null, query: "", found: kind ? 24 : null, start: "mem" });

it("the row that masks says so if there is nothing to mask", () => {
  render(MaskRow, { on: true, n: 0, files: { exported: 0, omitted: 0 }, asText: false });
  expect(screen.getByTestId("export-cover").textContent).toContain("No sensitive values were found");
  expect(screen.getByTestId("export-cover").textContent).not.toContain("[REDACTED]");
});

describe("what was exported", () => {
  const showResult = async (change: (exported: Exported) => Partial<Exported>) => {
    const exported = await mock.exportRun(
      "job",
      { format: "mem", out: "/d/a.mem", overwrite: false, sign: true, cover: true, filter: ANY },
      null,
      () => undefined,
    );
    render(ExportDone, { done: { ...exported, loss_counts: [], ...change(exported) } });
  };
  const verdictText = () => screen.getByTestId("export-verified").textContent ?? "";

  it("is not called complete, and the number of items left out is given", async () => {
    await showResult(() => ({
      loss_counts: [
        { field: "bytes", kind: "left_out", count: 18 },
        { field: "tags", kind: "narrowed", count: 9 },
      ],
      withheld: [{ reason: "encrypted", count: 26 }],
    }));
    expect(verdictText()).toContain("Left out: 18 files.");
    expect(screen.getByTestId("export-result").textContent, "withheld entries have their own row").toContain(
      "26 items",
    );
    expect(verdictText()).not.toMatch(/complete/i);
  });

  it("is a folder or a file, as its format is", async () => {
    await showResult(() => ({}));
    expect(screen.getByText("a.mem").closest("dd")?.previousElementSibling?.textContent).toBe("Folder");
    cleanup();
    await showResult(() => ({ format: "alf", path: "/d/a.alf" }));
    expect(screen.getByText("a.alf").closest("dd")?.previousElementSibling?.textContent).toBe("File");
  });

  it("mentions nothing left out if nothing was", async () => {
    await showResult(() => ({}));
    expect(verdictText()).not.toContain("Left out");
  });

  it("names the key as the switch for the signature does, and copies it whole", async () => {
    const copyText = vi.spyOn(mock, "copyText").mockResolvedValue();
    const { unmount } = sheet("memory");
    const offeredKey = (await screen.findByText(/^key 7f7f/)).textContent?.replace("key ", "");
    unmount();
    await showResult(() => ({}));
    await waitFor(() => expect(screen.getByText("Signed with").nextElementSibling?.textContent).toContain(offeredKey));
    await fireEvent.click(screen.getByTestId("export-copy-key"));
    expect(copyText.mock.lastCall?.[0]).toBe("7f".repeat(32));
  });
});

describe("attached files", () => {
  it("are mentioned beside a format that leaves them out, and another format is offered", async () => {
    sheet(null);
    const line = await screen.findByTestId("export-files-stay");
    expect(line.textContent).toMatch(/\.mem does not contain your \d+ attached files/);
    expect(line.closest(".rows"), "not beside the switch that masks values").toBeNull();
    await fireEvent.click(screen.getByTestId("export-with-files"));
    await waitFor(() => expect(screen.queryByTestId("export-files-stay")).toBeNull());
    expect(screen.getByTestId("export-alf").getAttribute("aria-checked")).toBe("true");
  });
});
