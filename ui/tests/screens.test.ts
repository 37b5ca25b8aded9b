import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import Create from "../src/features/start/Create.svelte";
import EraseDialog from "../src/features/removal/EraseDialog.svelte";
import ReceiptSheet from "../src/features/removal/ReceiptSheet.svelte";
import RedactDialog from "../src/features/removal/RedactDialog.svelte";
import ExportSheet from "../src/features/exporting/ExportSheet.svelte";
import ImportSheet from "../src/features/importing/ImportSheet.svelte";
import MemoryDetail from "../src/features/memories/MemoryDetail.svelte";
import MessageView from "../src/features/conversations/MessageView.svelte";
import App from "../src/shell/App.svelte";
import "../src/shell/Window.svelte";
import { MOCK_PASSPHRASE } from "$lib/ipc/mock";
import { sampleReceipt, failWith } from "$lib/ipc/mock/jobs";
import { sampleThread } from "$lib/ipc/mock/thread";
import { detail } from "$lib/state/detail.svelte";
import { dialogs } from "$lib/state/dialogs.svelte";
import { importing } from "$lib/state/importing.svelte";
import { nav } from "$lib/state/nav.svelte";
import { session } from "$lib/state/session.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
});

const type = (id: string, value: string) => fireEvent.input(screen.getByTestId(id), { target: { value } });

describe("create", () => {
  it.each(["open", "locked meanwhile"])("goes through name, passphrase and recovery code (%s)", async (vault) => {
    mock = await start({ open: false, empty: true });
    render(Create);
    await waitFor(() => expect((screen.getByTestId("create-folder") as HTMLInputElement).value).not.toBe(""));
    await type("create-name", "Ines");
    await fireEvent.click(screen.getByTestId("create-next"));
    await screen.findByTestId("create-passphrase");
    await type("create-passphrase", MOCK_PASSPHRASE);
    await type("create-repeat", "something else, just as long");
    expect(screen.getByText("The two don’t match yet.")).toBeTruthy();
    await type("create-repeat", MOCK_PASSPHRASE);
    await waitFor(() => expect((screen.getByTestId("create-next") as HTMLButtonElement).disabled).toBe(false));
    await fireEvent.click(screen.getByTestId("create-next"));
    const groups = within(await screen.findByTestId("recovery-code"))
      .getAllByRole("listitem")
      .map((group) => group.textContent ?? "");
    expect(groups).toHaveLength(8);
    const done = screen.getByTestId("create-done") as HTMLButtonElement;
    expect(done.disabled).toBe(true);
    for (const id of ["recovery-group-a", "recovery-group-b"]) {
      await type(id, (groups[Number(screen.getByTestId(id).dataset.group) - 1] ?? "").toLowerCase());
    }
    expect(done.disabled).toBe(false);
    if (vault !== "open") mock.lockNow();
    await fireEvent.click(done);
    await waitFor(() => expect(session.phase).toBe(vault === "open" ? "open" : "unlock"));
    expect(session.path).toBe("/home/ines/Documents/Ines.mementory");
  });

  it("reports an existing folder under the name, before a passphrase is chosen", async () => {
    mock = await start({ open: false, empty: true });
    render(Create);
    await waitFor(() => expect((screen.getByTestId("create-folder") as HTMLInputElement).value).not.toBe(""));
    await type("create-name", "Family");
    await fireEvent.click(screen.getByTestId("create-next"));
    const takenMessage = "Something with this name already exists.";
    expect(await screen.findByText(takenMessage, { exact: false })).toBeTruthy();
    const name = screen.getByTestId("create-name") as HTMLInputElement;
    expect([name.getAttribute("aria-invalid"), document.activeElement]).toEqual(["true", name]);
    expect(screen.queryByTestId("create-passphrase")).toBeNull();
    await type("create-name", "Ines");
    expect(screen.queryByText(takenMessage, { exact: false }), "another name").toBeNull();

    // While the person chooses a passphrase, another program creates a folder with the name of the vault.
    mock.createVault = async () => Promise.reject(failWith("exists", "It is already there."));
    await fireEvent.click(screen.getByTestId("create-next"));
    await screen.findByTestId("create-passphrase");
    await type("create-passphrase", MOCK_PASSPHRASE);
    await type("create-repeat", MOCK_PASSPHRASE);
    await waitFor(() => expect((screen.getByTestId("create-next") as HTMLButtonElement).disabled).toBe(false));
    await fireEvent.click(screen.getByTestId("create-next"));
    expect(await screen.findByText(takenMessage, { exact: false })).toBeTruthy();
    expect((screen.getByTestId("create-name") as HTMLInputElement).value).toBe("Ines");
  });

  it("rejects a weak passphrase with one reason", async () => {
    mock = await start({ open: false, empty: true });
    render(Create);
    await waitFor(() => expect((screen.getByTestId("create-folder") as HTMLInputElement).value).not.toBe(""));
    await type("create-name", "Ines");
    await fireEvent.click(screen.getByTestId("create-next"));
    await screen.findByTestId("create-passphrase");
    await type("create-passphrase", "kite");
    await type("create-repeat", "kite");
    expect(await screen.findByText("It is too short. Add a word or two.")).toBeTruthy();
    expect((screen.getByTestId("create-next") as HTMLButtonElement).disabled).toBe(true);
  });
});

describe("memory", () => {
  it("shows where it comes from, what is linked and how it changed", async () => {
    render(MemoryDetail, { id: "m-0" });
    expect((await screen.findByTestId("detail-text")).textContent).toContain("wooden house from 1934");
    expect(screen.getByTestId("origin-conversation").textContent).toContain("Waterproofing");
    expect(document.querySelector("del")?.textContent).toContain("the 1950s");
    expect(document.querySelector("ins")?.textContent).toContain(", the kitchen next year");
  });

  it("says if the export gives no provenance", async () => {
    render(MemoryDetail, { id: "m-11" });
    await screen.findByTestId("detail-text");
    expect(screen.getByTestId("origin-silent").textContent).toContain("The export doesn’t say");
    expect(screen.queryByText("Initiated by"), "said once, not in each row").toBeNull();
  });

  it("is edited in place and restored from its history", async () => {
    render(MemoryDetail, { id: "m-0" });
    await fireEvent.click(await screen.findByTestId("detail-edit"));
    await type("edit-text", "The bathroom is done.");
    await fireEvent.click(screen.getByTestId("edit-save"));
    await waitFor(() => expect(screen.getByTestId("detail-text").textContent).toBe("The bathroom is done."));
    await fireEvent.click(screen.getAllByTestId("history-restore").at(-1)!);
    await waitFor(() => expect(screen.getByTestId("detail-text").textContent).toContain("1950s"));
  });

  it("drops drafts that could restore redacted words", async () => {
    render(MemoryDetail, { id: "m-0" });
    await fireEvent.click(await screen.findByTestId("detail-edit"));
    await type("edit-text", "A wooden house in Sandviken, number 12.");
    expect(detail.drafts["m-0"]).toBeTruthy();
    await fireEvent.click(screen.getByTestId("edit-redact"));
    expect(dialogs.open).toMatchObject({ kind: "redact", id: "m-0" });
    expect(detail.drafts).toEqual({});
    expect(screen.queryByTestId("edit-save")).toBeNull();
  });

  it("without text has nothing to redact", async () => {
    const show = mock.show;
    mock.show = async (...args) => {
      const shown = await show(...args);
      return { ...shown, record: { ...shown.record, text: "", title: "Only a title" } };
    };
    render(MemoryDetail, { id: "m-0" });
    await screen.findByTestId("detail-edit");
    expect(screen.queryByTestId("detail-redact")).toBeNull();
  });
});

describe("reader", () => {
  const [onbranch, menus, wanted] = [vi.fn(), new Map(), null];
  const props = {
    collapsed: [],
    source: "chatgpt",
    needle: "",
    current: null,
    wanted,
    showRedactButton: true,
    onbranch,
    menus,
  };

  it("shows code with its language, and no remote picture", () => {
    const message = sampleThread.find((each) => each.id === "msg-b4")!;
    render(MessageView, { ...props, message });
    expect(screen.getByText("python")).toBeTruthy();
    expect(document.querySelector("img[src^=http]")).toBeNull();
  });

  it("asks before a link opens", async () => {
    const message = sampleThread.find((each) => each.id === "msg-b4")!;
    render(MessageView, { ...props, message });
    await fireEvent.click(screen.getByText("the span tables"));
    expect(dialogs.open).toMatchObject({ kind: "link" });
  });

  it("redacts a message's own text only", async () => {
    const message = sampleThread.find((each) => each.id === "msg-a2")!;
    const show = mock.show;
    render(MessageView, { ...props, message });
    await fireEvent.click(screen.getByTestId("message-redact"));
    await waitFor(() => expect(dialogs.open).toMatchObject({ kind: "redact", id: "msg-a2", text: message.text }));
    dialogs.close();
    mock.show = async (...args) => {
      const shown = await show(...args);
      return { ...shown, record: { ...shown.record, text: "" } };
    };
    await fireEvent.click(screen.getByTestId("message-redact"));
    await waitFor(() => expect(toasts.current?.text).toContain("can’t be redacted here"));
    expect(dialogs.open).toBeNull();
  });

  it("switches between the branches at a message", async () => {
    const message = sampleThread.find((each) => each.id === "msg-a2")!;
    render(MessageView, { ...props, message });
    expect(screen.getByText(/2 of 3/)).toBeTruthy();
    await fireEvent.keyDown(screen.getByTestId("reader-message"), { key: "ArrowRight" });
    expect(onbranch).toHaveBeenCalledWith("msg-a3");
  });
});

describe("import sheet", () => {
  it("shows what will happen, then the report with its sum", async () => {
    await importing.inspect(["/d/chatgpt-export.zip", "/d/about-me.md"]);
    render(ImportSheet);
    expect(await screen.findByText("This fits more than one format. Which one is it?")).toBeTruthy();
    expect(screen.getByText("12 deleted entries are held back.")).toBeTruthy();
    expect(screen.getByText("Parts are missing.")).toBeTruthy();
    await fireEvent.click(screen.getByTestId("import-confirm"));
    expect((await screen.findByTestId("import-sum")).textContent).toContain("43,650 = 669 new + 40 updated");
    expect(screen.getByTestId("import-report")).toBeTruthy();
  });
});

describe("an import that ended early", () => {
  it.each([
    ["cancelled", "Import cancelled."],
    ["io", "Import failed."],
  ])("shows what was imported before it ended, with Undo (%s)", async (code, title) => {
    await importing.inspect(["/d/chatgpt-export.zip", "/d/about-me.md"]);
    await importing.setFormat("/d/about-me.md", "markdown");
    const originalRun = mock.importRun;
    mock.importRun = async (id, request, ...more) => {
      if (request.format === "markdown") throw failWith(code, "The disk is full.");
      return originalRun(id, request, ...more);
    };
    await importing.run();
    render(ImportSheet);
    expect(screen.getByTestId("import-report").textContent).toContain("Imported in part");
    const note = screen.getByTestId("import-partly").textContent ?? "";
    expect(note).toContain(title);
    expect(note).toContain("Not imported: about-me.md.");
    expect(note.includes("could not be read or written")).toBe(code === "io");
    expect(screen.getByTestId("import-sum")).toBeTruthy();
    const undoImport = vi.spyOn(mock, "undoImport");
    await fireEvent.click(screen.getByTestId("import-undo"));
    await fireEvent.click(await screen.findByTestId("import-undo-anyway"));
    await waitFor(() => expect(undoImport).toHaveBeenCalledWith("batch-new"));
  });
});

describe("export sheet", () => {
  it("replaces only the file it reported as existing", async () => {
    const exportRun = vi
      .spyOn(mock, "exportRun")
      .mockRejectedValue(failWith("exists", "There is something at /a.mem."));
    render(ExportSheet, { filter: null, query: "", found: null, start: "mem" });
    await fireEvent.click(await screen.findByTestId("export-understood"));
    await type("export-path", "/a.mem");
    await fireEvent.click(screen.getByTestId("export-save"));
    await screen.findByTestId("export-replace");
    await type("export-path", "/b.mem");
    await waitFor(() => expect(screen.queryByTestId("export-error")).toBeNull());
    await fireEvent.click(screen.getByTestId("export-save"));
    await fireEvent.click(await screen.findByTestId("export-replace"));
    expect(exportRun.mock.calls.map(([, request]) => [request.out, request.overwrite])).toEqual([
      ["/a.mem", false],
      ["/b.mem", false],
      ["/b.mem", true],
    ]);
    await screen.findByTestId("export-replace");
    await fireEvent.click(screen.getByTestId("export-alf"));
    await waitFor(() => expect(screen.queryByTestId("export-error")).toBeNull());
  });

  it("saves only after showing losses, and reports what was verified", async () => {
    render(ExportSheet, { filter: null, query: "", found: null, start: "mem" });
    await waitFor(() => expect(screen.getByTestId("export-losses").textContent).toContain("File contents"));
    expect((screen.getByTestId("export-path") as HTMLInputElement).value).toMatch(/Ines \d{4}-\d\d-\d\d\.mem$/);
    await fireEvent.click(screen.getByTestId("export-alf"));
    expect(await screen.findByTestId("export-losses")).toBeTruthy();
    expect((screen.getByTestId("export-path") as HTMLInputElement).value).toMatch(/\.alf$/);
    await fireEvent.click(screen.getByTestId("export-save"));
    expect(await screen.findByTestId("export-verified")).toBeTruthy();
  });

  it("asks before leaving something out", async () => {
    const originalPreview = mock.exportPreview;
    mock.exportPreview = async (...args) => ({
      ...(await originalPreview(...args)),
      losses: [{ record: "a", field: "tombstones", kind: "left_out", note: "" }],
      loss_counts: [{ field: "tombstones", kind: "left_out", count: 1 }],
    });
    render(ExportSheet, { filter: null, query: "", found: null, start: "mem" });
    await screen.findByTestId("export-losses");
    expect((screen.getByTestId("export-save") as HTMLButtonElement).disabled).toBe(true);
    await fireEvent.click(screen.getByTestId("export-understood"));
    expect((screen.getByTestId("export-save") as HTMLButtonElement).disabled).toBe(false);
  });
});

describe("erase", () => {
  it("shows the impact, focuses Cancel, and ends with the receipt", async () => {
    render(EraseDialog, { ids: ["t-0"] });
    expect(await screen.findByText("Erase 1 memory for good?")).toBeTruthy();
    expect(screen.getByText("Also redact the 2 entries that say the same thing")).toBeTruthy();
    expect(document.activeElement).toBe(screen.getByTestId("erase-cancel"));
    await fireEvent.click(screen.getByTestId("erase-confirm"));
    await waitFor(() => expect(dialogs.open).toMatchObject({ kind: "receipt", receipt: { complete: true } }));
  });

  it("is complete only if no place failed", () => {
    render(ReceiptSheet, { receipt: sampleReceipt("r", "attachments"), title: "1 file" });
    expect(screen.queryByTestId("receipt-complete")).toBeNull();
    expect(screen.getByTestId("receipt-incomplete").textContent).toContain(
      "Attachments could not be cleaned because the disk is read-only",
    );
  });
});

describe("redact", () => {
  it("sends code points of the chosen words", async () => {
    const redact = vi.spyOn(mock, "redact");
    render(RedactDialog, { id: "m-16", text: "🏠 Wears reading glasses", span: { start: 2, end: 7 } });
    expect(screen.getByTestId("redact-words").textContent).toBe("“Wears”");
    await fireEvent.click(await screen.findByRole("button", { name: "Redact here" }));
    await waitFor(() =>
      expect(redact).toHaveBeenCalledWith({
        id: "m-16",
        spans: [{ start: 2, end: 7, class: "removed" }],
        everywhere: true,
      }),
    );
  });
});

describe("redacting", () => {
  it.each([true, false])("drops drafts that may contain the words (everywhere: %s)", async (everywhere) => {
    detail.keepDraft("m-16", { text: "reading glasses", type: null, tags: [] });
    detail.keepDraft("m-1", { text: "glasses", type: null, tags: [] });
    render(RedactDialog, { id: "m-16", text: "Wears reading glasses", span: { start: 0, end: 5 } });
    if (!everywhere) await fireEvent.click(screen.getByTestId("redact-everywhere"));
    await fireEvent.click(await screen.findByRole("button", { name: "Redact here" }));
    await waitFor(() => expect(Object.keys(detail.drafts)).toEqual(everywhere ? [] : ["m-1"]));
  });

  it("counts Windows line ends, which the field does not have", async () => {
    render(RedactDialog, { id: "m-16", text: "one\r\ntwo\r\nthree", span: null });
    const area = screen.getByTestId("redact-text") as HTMLTextAreaElement;
    vi.spyOn(area, "selectionStart", "get").mockReturnValue("one\ntwo\n".length);
    vi.spyOn(area, "selectionEnd", "get").mockReturnValue("one\ntwo\nthree".length);
    await fireEvent.mouseUp(area);
    expect(screen.getByTestId("redact-words").textContent).toBe("“three”");
  });

  it("marks the chosen words in the field", async () => {
    const select = vi.spyOn(HTMLTextAreaElement.prototype, "setSelectionRange");
    render(RedactDialog, { id: "m-16", text: "one\r\ntwo\r\nthree", span: { start: 5, end: 15 } });
    await waitFor(() => expect(select).toHaveBeenCalledWith(4, 13));
  });
});

describe("the window", () => {
  it("locks by Ctrl L and clears the screen", async () => {
    nav.section = "home";
    render(App);
    expect(await screen.findByTestId("home-matrix")).toBeTruthy();
    await fireEvent.keyDown(document.body, { key: "l", ctrlKey: true });
    await screen.findByTestId("unlock-passphrase");
    expect(document.body.textContent).not.toContain("Bergen");
    expect(screen.queryByTestId("home-matrix")).toBeNull();
  });

  it("shows a dragged file, and inspects it when dropped", async () => {
    nav.section = "home";
    render(App);
    await screen.findByTestId("home-matrix");
    mock.drop(["/d/chatgpt-export.zip"], true);
    expect((await screen.findByTestId("drop-overlay")).textContent).toContain("chatgpt-export.zip");
    mock.drop(["/d/chatgpt-export.zip"]);
    expect(await screen.findByTestId("import-sheet")).toBeTruthy();
    expect(screen.queryByTestId("drop-overlay")).toBeNull();
  });
});
