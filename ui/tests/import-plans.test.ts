import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import DropOverlay from "../src/features/importing/DropOverlay.svelte";
import ImportSheet from "../src/features/importing/ImportSheet.svelte";
import ReportSheet from "../src/features/importing/ReportSheet.svelte";
import Window from "../src/shell/Window.svelte";
import { mockBackend } from "$lib/ipc/mock";
import { failWith } from "$lib/ipc/mock/jobs";
import { dialogs } from "$lib/state/dialogs.svelte";
import { importing } from "$lib/state/importing.svelte";
import { conversations } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { clearContent } from "$lib/state/lock-cleanup";
import { sensitive } from "$lib/state/sensitive.svelte";
import { vault } from "$lib/state/vault.svelte";
import { count } from "$lib/text";
import { start, type Mock } from "./start-mock";

const CHATGPT = "/d/chatgpt-export.zip";
const MEM = "/d/ines-notes.mem";
let mock: Mock;

beforeEach(async () => {
  mock = await start();
  await vault.refresh();
});

const labels = () => importing.plans.map((plan) => plan.label);
/** The expected text of the main button: the number of entries that the import will write, not of files. */
const writes = () => {
  const previews = importing.plans.flatMap((plan) => (plan.pending ? (plan.preview ?? []) : []));
  return `Import ${count(previews.reduce((all, { added, updated }) => all + added + updated, 0))} items`;
};
const tabs = () => [...document.querySelectorAll(".segment")].map((tab) => tab.textContent?.trim());

describe("a file with an invalid signature", () => {
  it("is imported only after the person accepts it", async () => {
    const forged = "/d/forged.mem";
    await importing.inspect([forged]);
    render(ImportSheet);
    const confirm = await screen.findByTestId("import-confirm");
    expect(screen.getByTestId("import-signature").textContent).toContain("The signature is not valid.");
    expect(confirm).toHaveProperty("disabled", true);
    expect(importing.plans[0]?.request.accept_invalid_signature).toBe(false);
    await fireEvent.click(screen.getByTestId("import-signature-accept"));
    await waitFor(() => expect(confirm).toHaveProperty("disabled", false));
    expect(importing.plans[0]?.request.accept_invalid_signature).toBe(true);
    // When the import is planned again, the request still accepts the invalid signature.
    await importing.setImportDeleted(true);
    expect(importing.plans[0]?.request).toMatchObject({ include_blocked: true, accept_invalid_signature: true });
    await importing.inspect([forged]);
    expect(importing.plans[0]?.request.accept_invalid_signature, "the next import asks again").toBe(false);
  });
});

describe("a damaged file", () => {
  const damaged = "/d/damaged.mem";

  it("is imported without its missing parts, after these were shown", async () => {
    await importing.inspect([damaged]);
    expect(importing.stage).toBe("failed");
    render(ImportSheet);
    const importRun = vi.spyOn(mock, "importRun");
    await fireEvent.click(await screen.findByTestId("import-salvage"));
    const parts = await screen.findByTestId("import-salvaged-parts");
    expect(parts.textContent).toContain("garden.mem/items/fact.jsonl");
    expect(screen.getByTestId("import-salvaged").textContent).toContain("2 parts are missing or damaged.");
    expect(importRun).not.toHaveBeenCalled();
    await fireEvent.click(screen.getByTestId("import-confirm"));
    await waitFor(() => expect(importRun.mock.calls[0]?.[1]).toMatchObject({ paths: [damaged], salvage: true }));
    await screen.findByTestId("import-report");
    expect(screen.getByTestId("import-salvaged-parts").textContent).toContain("garden.mem/items/episode.jsonl");
    await importing.inspect([damaged]);
    expect(importing.stage, "the next import is refused again").toBe("failed");
  });

  it("that is one of several has its own button, unless nothing in it can be imported", async () => {
    await importing.inspect([CHATGPT, damaged]);
    render(ImportSheet);
    await fireEvent.click(screen.getByText("damaged.mem", { selector: "button" }));
    expect(screen.getByTestId("import-refused").textContent).toContain("damaged.mem can’t be imported.");
    await fireEvent.click(screen.getByTestId("import-salvage"));
    await waitFor(() => expect(importing.plans.map((plan) => plan.request.salvage)).toEqual([false, true]));
    await importing.inspect([CHATGPT, "/d/broken.mem"]);
    await waitFor(() => expect(screen.queryByTestId("import-salvage")).toBeNull());
  });
});

describe("files dropped together", () => {
  it("become one import per assistant or format", async () => {
    await importing.inspect([CHATGPT, MEM, "/d/chatgpt-part-2.zip", "/d/two.mem", "/d/data-2026.zip", "/d/poem.txt"]);
    expect(importing.plans.map((plan) => plan.request.paths)).toEqual([
      [CHATGPT, "/d/chatgpt-part-2.zip"],
      [MEM, "/d/two.mem"],
      ["/d/data-2026.zip"],
    ]);
    expect(labels()).toEqual(["ChatGPT export", ".mem export", "Claude export"]);
    await importing.inspect([CHATGPT, MEM, "/d/about-me.md", "/d/b.md"]);
    await importing.setFormat("/d/b.md", "markdown");
    expect(labels()).toEqual(["ChatGPT export", "ines-notes.mem", "b.md"]);
    await importing.setFormat("/d/about-me.md", "markdown");
    expect(importing.plans[2]?.request).toMatchObject({ paths: ["/d/about-me.md", "/d/b.md"], format: "markdown" });
  });

  it("show each file's size beside name and format", async () => {
    const { unmount } = render(DropOverlay, { paths: [CHATGPT, MEM] });
    const rows = () =>
      [...document.querySelectorAll("li")].map((row) => row.textContent?.replaceAll(/\s+/g, " ").trim());
    await waitFor(() => expect(rows()).toEqual(["chatgpt-export.zip 1.8 GB", "ines-notes.mem folder"]));
    unmount();
    await importing.inspect([CHATGPT, MEM]);
    render(ImportSheet);
    const reported = (path: string) => document.querySelector(`[data-path="${path}"] .num`)?.textContent;
    await waitFor(() => expect(reported(CHATGPT)).toMatch(/, 1\.8 GB$/));
    expect(reported(MEM), "a folder has no size").not.toMatch(/KB|GB/);
  });

  it("are shown without sizes if those are unavailable", async () => {
    mock.pathInfo = async () => Promise.reject(failWith("io", "The disk does not answer."));
    render(DropOverlay, { paths: [CHATGPT] });
    expect(screen.getByTestId("drop-overlay").textContent).toContain("chatgpt-export.zip");
    expect(document.querySelector("small")).toBeNull();
  });

  it("have a tab each, and the button counts the entries that they will write", async () => {
    await importing.inspect([CHATGPT, MEM, "/d/about-me.md"]);
    render(ImportSheet);
    expect(tabs()).toEqual(["ChatGPT export", "ines-notes.mem"]);
    expect(screen.getByTestId("import-confirm").textContent).toContain(writes());
    expect(screen.getByText("43,650")).toBeTruthy();
    await fireEvent.click(screen.getByText("ines-notes.mem", { selector: "button" }));
    expect(screen.queryByText("43,650")).toBeNull();
  });

  it("are named before the import, with the reason, if it leaves them out", async () => {
    const names = ["a", "b", "c", "d", "e", "f", "g"].map((name) => `/d/${name}.md`);
    await importing.inspect([CHATGPT, ...names, "/d/broken.alf", "/d/forged.mem"]);
    render(ImportSheet);
    const note = () => screen.queryByTestId("import-left-out")?.textContent;
    expect(note()).toContain("9 files will not be imported.");
    expect(note()).toContain("a.md, b.md, c.md, d.md, e.md and 2 more: no format was chosen.");
    expect(note()).toContain("broken.alf: part of it is damaged or doesn’t follow its format.");
    expect(note()).toContain("forged.mem: its signature is not valid.");
    importing.acceptInvalidSignature(importing.plans.find((plan) => plan.hasInvalidSignature)!.key, true);
    await waitFor(() => expect(note()).toContain("8 files will not be imported."));
    await importing.inspect([CHATGPT]);
    await waitFor(() => expect(note()).toBeUndefined());
    await importing.inspect(["/d/poem.txt"]);
    expect(note(), "with nothing to import, the sheet asks for a format").toBeUndefined();
  });

  it("are named in the report if no import took them", async () => {
    await importing.inspect([CHATGPT, "/d/poem.txt", "/d/encrypted.alf"]);
    await importing.skipEncrypted();
    await importing.run();
    render(ImportSheet);
    expect(screen.getByRole("heading", { level: 2 }).textContent).toBe("Imported 1 of 3");
    const leftOutText = screen.getByTestId("import-left-out").textContent;
    expect(leftOutText).toContain("2 files were not imported.");
    expect(leftOutText).toContain("poem.txt: no format was chosen.");
    expect(leftOutText).toContain("encrypted.alf: you left out what is encrypted.");
    expect(document.querySelector(".ok .lucide-circle-check"), "no green sign beside the title").toBeNull();
    await importing.inspect([CHATGPT]);
    await importing.run();
    await waitFor(() => expect(screen.queryByTestId("import-left-out")).toBeNull());
    expect(screen.getByRole("heading", { level: 2 }).textContent).toBe("Imported");
  });

  it("are undone together, the last import first and none twice", async () => {
    await importing.inspect([CHATGPT, MEM]);
    await importing.run();
    render(ImportSheet);
    const undoImport = vi.spyOn(mock, "undoImport").mockRejectedValueOnce(failWith("io", "The disk is full."));
    const undoAll = async () => {
      await fireEvent.click(screen.getByTestId("import-undo"));
      await fireEvent.click(await screen.findByTestId("import-undo-anyway"));
    };
    await undoAll();
    await waitFor(() => expect(undoImport).toHaveBeenCalledTimes(1));
    undoImport.mockImplementation(async (batch) =>
      batch === "batch-new" && undoImport.mock.calls.length < 4
        ? Promise.reject(failWith("io", "The disk is full."))
        : { removed: 1 },
    );
    for (const times of [3, 4]) {
      await waitFor(() => expect((screen.getByTestId("import-undo") as HTMLButtonElement).disabled).toBe(false));
      await undoAll();
      await waitFor(() => expect(undoImport).toHaveBeenCalledTimes(times));
    }
    expect(undoImport.mock.calls.map(([batch]) => batch)).toEqual([
      "batch-new-mem",
      "batch-new-mem",
      "batch-new",
      "batch-new",
    ]);
  });

  it("are imported without an unreadable file, which is reported", async () => {
    await importing.inspect([CHATGPT, "/d/broken.mem"]);
    expect(importing.stage).toBe("plan");
    render(ImportSheet);
    expect(screen.getByTestId("import-confirm").textContent).toContain(writes());
    await fireEvent.click(screen.getByText("broken.mem", { selector: "button" }));
    expect(screen.getByTestId("import-refused").textContent).toContain("broken.mem can’t be imported.");
    const importRun = vi.spyOn(mock, "importRun");
    await fireEvent.click(screen.getByTestId("import-confirm"));
    await screen.findByTestId("import-report");
    expect(importRun.mock.calls.map(([, request]) => request.paths)).toEqual([[CHATGPT]]);
    expect(screen.getByTestId("import-refused")).toBeTruthy();
    await importing.inspect(["/d/broken.mem"]);
    expect([importing.stage, importing.problem?.code]).toEqual(["failed", "malformed"]);
  });
});

describe("the focus in the sheet", () => {
  const confirm = () => screen.getByTestId("import-confirm");
  /** Opens the import sheet while the preview is being computed. Returns a function that lets the preview end. */
  async function openDuringPreview() {
    let endPreview = () => undefined as void;
    const originalPreview = mock.importPreview;
    mock.importPreview = async (...args) => {
      await new Promise<void>((done) => (endPreview = () => done()));
      return originalPreview(...args);
    };
    void importing.inspect([CHATGPT]);
    await waitFor(() => expect(importing.stage).toBe("planning"));
    dialogs.show({ kind: "import" });
    render(ImportSheet);
    // A sheet focuses this button when it opens.
    screen.getByRole("button", { name: "Close" }).focus();
    return () => endPreview();
  }

  it("moves to the main button with the plan, and Escape still closes", async () => {
    const endPreview = await openDuringPreview();
    endPreview();
    await waitFor(() => expect(document.activeElement).toBe(confirm()));
    await fireEvent.keyDown(confirm(), { key: "Escape" });
    await waitFor(() => expect(dialogs.open).toBeNull());
  });

  it("stays where the person moved it", async () => {
    const endPreview = await openDuringPreview();
    screen.getByTestId("import-cancel").focus();
    endPreview();
    await waitFor(() => expect((confirm() as HTMLButtonElement).disabled).toBe(false));
    expect(document.activeElement).toBe(screen.getByTestId("import-cancel"));
  });

  it("moves to the requested passphrase", async () => {
    await importing.inspect(["/d/encrypted.alf"]);
    render(ImportSheet);
    await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("import-passphrase")));
    await importing.openEncrypted("not this one");
    await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("import-passphrase")));
    await importing.openEncrypted("river lamp");
    await waitFor(() => expect(document.activeElement).toBe(confirm()));
  });
});

describe("importing several exports, if it is cancelled", () => {
  async function cancelDuring(during: number) {
    const originalRun = mock.importRun;
    let runCount = 0;
    mock.importRun = async (id, ...more) => {
      if ((runCount += 1) === during) await importing.cancel();
      return during === 2
        ? originalRun(id, ...more)
        : mockBackend({ open: true }).importRun(crypto.randomUUID(), ...more);
    };
    await importing.inspect([CHATGPT, MEM]);
    await importing.run();
    mock.importRun = originalRun;
  }

  it.each([
    ["after the first was written", 1],
    ["during the second", 2],
  ])("%s, does not import the others, and can be continued", async (_when, during) => {
    await cancelDuring(during);
    expect([importing.stage, importing.importedInPart]).toEqual(["cancelled", true]);
    expect(importing.plans.map((plan) => plan.report !== null)).toEqual([true, false]);
    const preview = vi.spyOn(mock, "importPreview");
    const { unmount } = render(ImportSheet);
    expect(screen.getByTestId("import-partly").textContent).toContain("Not imported: ines-notes.mem.");
    await importing.retry();
    expect(preview.mock.calls.map(([, request]) => request.paths)).toEqual([[MEM]]);
    await waitFor(() => expect(tabs()).toEqual([]));
    expect(screen.getByTestId("import-confirm").textContent).toContain(writes());
    unmount();
    await importing.run();
    // The plans also contain the batch of the earlier import, so that Undo removes that import too.
    expect(importing.plans.map((plan) => plan.report?.batch)).toEqual(["batch-new", "batch-new-mem"]);
  });
});

describe("the scan for sensitive data", () => {
  it("follows an import automatically, unless declined", async () => {
    const scanRecords = vi.spyOn(mock, "scanRecords");
    render(Window);
    await waitFor(() => expect(scanRecords).toHaveBeenCalledTimes(1));
    await importing.inspect([CHATGPT]);
    const { unmount } = render(ImportSheet);
    await fireEvent.click(screen.getByTestId("import-scan-after"));
    await fireEvent.click(screen.getByTestId("import-confirm"));
    await waitFor(() => expect(importing.stage).toBe("report"));
    vault.changed();
    await vault.refresh();
    expect(scanRecords).toHaveBeenCalledTimes(1);
    unmount();
    // A scan that the person starts is not paused.
    await sensitive.rescan();
    expect(scanRecords.mock.lastCall?.[1]).toBe(true);
    await importing.inspect([CHATGPT]);
    expect(importing.scanAfter).toBe(true);
    await importing.run();
    await waitFor(() => expect(scanRecords).toHaveBeenCalledTimes(3));
    // This test renders the whole window, which is slow on a busy machine.
  }, 30_000);

  it("is not paused by an import without new records", async () => {
    await importing.inspect([CHATGPT]);
    importing.scanAfter = false;
    mock.importRun = async () => Promise.reject(failWith("cancelled", "Cancelled."));
    await importing.run();
    expect(sensitive.scanPaused).toBe(false);
    importing.scanAfter = false;
    mock.importRun = mockBackend({ open: true }).importRun;
    await importing.retry();
    await importing.run();
    expect(sensitive.scanPaused).toBe(true);
    // The next unlock scans as usual.
    clearContent();
    expect(sensitive.scanPaused).toBe(false);
  });
});

describe("records the newest export lacks", () => {
  const GONE_MESSAGE =
    "3 memories and 1 conversation in your vault are no longer in this export. They stay in your vault, marked “Not in the newest export”.";

  it("are reported before and after, with a link to exactly those", async () => {
    await importing.inspect([CHATGPT]);
    const { unmount } = render(ImportSheet);
    expect(screen.getByTestId("import-not-in-export").textContent?.trim()).toBe(GONE_MESSAGE);
    expect(screen.queryByTestId("import-not-in-export-memory")).toBeNull();
    unmount();
    await importing.run();
    await vault.refresh();
    render(ImportSheet);
    expect(screen.getByTestId("import-not-in-export").textContent).toContain(GONE_MESSAGE);
    await fireEvent.click(screen.getByTestId("import-not-in-export-conversation"));
    expect([nav.section, importing.stage]).toEqual(["conversations", "idle"]);
    await conversations.load();
    expect([conversations.filter.export_diff_status, conversations.total]).toEqual(["gone", 1]);
  });

  it("in a stored report have no link if the list has changed", async () => {
    const originalReport = await mock.importReport("batch-1");
    mock.importReport = async () => ({ ...originalReport, gone: { memory: 3, conversation: 7 } });
    render(ReportSheet, { batch: "batch-1" });
    await screen.findByTestId("import-not-in-export-memory");
    expect(screen.queryByTestId("import-not-in-export-conversation")).toBeNull();
  });

  it("are not mentioned if unknown", async () => {
    await importing.inspect([MEM]);
    render(ImportSheet);
    expect(screen.queryByTestId("import-not-in-export")).toBeNull();
  });
});
