import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { detailOf, filterEntries, kindsOfTargets, proofsOf } from "../src/features/activity/log";
import { transfersOf } from "../src/features/activity/transfers";
import UndoSheet from "../src/features/importing/UndoSheet.svelte";
import { undoneImport } from "../src/features/importing/undo";
import FailedActions from "../src/features/activity/FailedActions.svelte";
import DialogHost from "../src/shell/DialogHost.svelte";
import Window from "../src/shell/Window.svelte";
import type { AuditEntry, TombstoneView } from "$lib/ipc";
import { mockBackend } from "$lib/ipc/mock";
import { sampleFailed } from "$lib/ipc/mock/log";
import { dialogs } from "$lib/state/dialogs.svelte";
import { importing } from "$lib/state/importing.svelte";
import { nav } from "$lib/state/nav.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { auditText, exportFacts, exportSummary } from "$lib/text/core";
import { start, type Mock } from "./start-mock";

// The last tests render the whole window, which is slow on a busy machine.
vi.setConfig({ testTimeout: 20_000 });

const entry = (seq: number, more: Partial<AuditEntry> = {}): AuditEntry => ({
  seq,
  at: `2026-11-${String(seq).padStart(2, "0")}T10:00:00Z`,
  actor: "owner",
  op: "edit",
  target: "",
  detail: "",
  file: null,
  ...more,
});

describe("the log entry of an export", () => {
  it("is parsed, in the current and former form", () => {
    expect(exportFacts("3589 records, signed, encrypted, 23 covered, valid")).toEqual({
      records: 3589,
      signed: true,
      encrypted: true,
      covered: 23,
      valid: true,
    });
    expect(exportFacts("2 records, not valid")).toMatchObject({ signed: false, encrypted: false, valid: false });
    expect(exportFacts("12 records")).toMatchObject({ records: 12, valid: null });
    expect(exportFacts("12 records, sealed, valid"), "an unknown word gives no facts").toBeNull();
  });

  it("is described in words", () => {
    const facts = exportFacts("3589 records, signed, 1 covered, valid");
    expect(facts && exportSummary(facts)).toBe("3,589 items, signed, 1 sensitive value masked");
    expect(auditText("export", "2 records, encrypted, valid", "alf").text).toBe("2 items as .alf, encrypted");
    expect(auditText("export", "41 records", "transfer_text").text, "not a pasted text").toBe("41 items as text");
    expect(auditText("redact", "2 records").text, "a redaction is no export").toBe("2 items");
  });
});

describe("the log", () => {
  it("is filtered by operation, actor and start time", () => {
    const entries = [entry(1, { op: "import" }), entry(2, { actor: "mementory" }), entry(3)];
    const numbers = (filter: Partial<Parameters<typeof filterEntries>[1]>) =>
      filterEntries(entries, { op: null, by: null, since: null, ...filter }, (actor) => actor).map((each) => each.seq);
    expect(numbers({})).toEqual([1, 2, 3]);
    expect(numbers({ op: "edit" })).toEqual([2, 3]);
    expect(numbers({ by: "mementory" })).toEqual([2]);
    expect(numbers({ since: "2026-11-02T10:00:00Z", op: "edit", by: "owner" })).toEqual([3]);
  });

  it("links a deletion to the receipt of the same time, and a known import to its report", async () => {
    const { tombstones } = await mockBackend({ open: true }).tombstones();
    const tombstone = { ...(tombstones[0] as TombstoneView), op: "delete", target_id: "aa", receipt: "rc_1" };
    const entries = [
      entry(1, { op: "erase", target: "aa" }),
      entry(2, { op: "erase", target: "aa" }),
      entry(3, { op: "redact", target: "aa" }),
      entry(4, { op: "import", target: "b-1" }),
      entry(5, { op: "import", target: "b-9" }),
    ];
    const { batches } = await mockBackend({ open: true }).imports();
    const proofs = proofsOf(entries, batches, [
      // The time of the first entry, written in another time zone.
      { ...tombstone, at: "2026-11-01T11:00:00.000+01:00" },
      { ...tombstone, at: "2026-11-03T10:00:00Z", receipt: "rc_3" },
    ]);
    expect([...proofs]).toEqual([
      [1, { kind: "receipt", id: "rc_1" }],
      [4, { kind: "report", batch: "b-1" }],
    ]);
  });
});

describe("the entry of an import among the changes", () => {
  it("names the assistant and the files", async () => {
    const { batches } = await mockBackend({ open: true }).imports();
    const batch = { ...batches[0]!, batch: "b-1", format: "chatgpt", names: ["chatgpt-export.zip"] };
    const text = (op: string, detail: string, target = "b-1") =>
      detailOf(entry(1, { op, target, detail }), [batch]).text;
    expect(text("import", "added 17 updated 0")).toBe("ChatGPT, chatgpt-export.zip, 17 new items");
    expect(text("import", "added 1 updated 2")).toBe("ChatGPT, chatgpt-export.zip, 1 new item, 2 updated");
    expect(text("undo_import", "removed 3")).toMatch(/^ChatGPT, chatgpt-export\.zip, /);
    expect(text("import", "added 17 updated 0", "b-2"), "of an unknown import").toBe("17 new items");
    expect(text("export", "41 records", "alf")).toBe("41 items as .alf");
  });
});

it("an entry for the Trash names the kind of its record, wherever that is now", async () => {
  const mock = await start();
  await mock.trash(["m-1"]);
  const { tombstones } = await mock.tombstones();
  const erased = { ...(tombstones[0] as TombstoneView), op: "delete", target_id: "gone", target_kind: "fact" };
  const entries = [
    entry(1, { op: "delete", target: "m-1" }),
    entry(2, { op: "restore", target: "c-bath" }),
    entry(3, { op: "delete", target: "gone" }),
    entry(4, { op: "delete", target: "unknown" }),
    entry(5, { op: "edit", target: "m-2", detail: "version 2" }),
  ];
  const kinds = await kindsOfTargets(entries, [erased]);
  expect(entries.map((each) => detailOf(each, [], kinds).text)).toEqual([
    "Memory",
    "Conversation",
    "Fact",
    "",
    auditText("edit", "version 2").text,
  ]);
});

describe("imports and exports", () => {
  it("lists failed imports with their reason, without a name if none was stored", () => {
    const [line] = transfersOf([], [entry(1, { op: "import_failed", target: "claude", detail: "limit" })]);
    expect(line).toMatchObject({ title: "Import failed", bad: true, batch: null, entry: null });
    expect(line?.text).toBe("The Claude file is over Mementory’s size limits. Nothing was imported.");
    const [other] = transfersOf([], [entry(1, { op: "import_failed", detail: "zip_entry_twice" })]);
    expect([other?.text, other?.original]).toEqual([
      "The file is damaged or doesn’t follow its format. Nothing was changed.",
      "zip_entry_twice",
    ]);
  });

  it("names the files of failed imports, if stored", () => {
    const failed = (code: string, place: string, paths: string[]) => ({
      seq: 1,
      paths,
      error: { code, message: "", details: { place } },
    });
    const shownText = (known: ReturnType<typeof failed>) =>
      transfersOf([], [entry(1, { op: "import_failed", target: "claude", detail: known.error.code })], [known])[0]
        ?.text;
    expect(shownText(failed("not_there", "part-2.zip", ["/home/ines/part-2.zip"])), "once").toBe(
      "part-2.zip can’t be found.",
    );
    expect(shownText(failed("limit", "conversations.json", ["/home/ines/part-2.zip"]))).toBe(
      "part-2.zip. conversations.json is over Mementory’s size limits. Nothing was imported. If you trust the file, import it on the command line and allow more with --limit-bytes.",
    );
    expect(shownText(failed("not_recognised", "", []))).toBe(
      "We don’t know this kind of file. The file was not imported. If you know what it is, choose a format.",
    );
  });

  it("keep the row of an import that was undone, and name the assistant where it was undone", async () => {
    const { batches } = await mockBackend({ open: true }).imports();
    const batch = { ...batches[0]!, format: "claude", undone: true, at: "2026-11-01T10:00:00Z" };
    const lines = transfersOf([batch], [entry(9, { op: "undo_import", target: batch.batch, detail: "removed 85" })]);
    expect(lines.map(({ title }) => title)).toEqual(["Import undone, Claude", "Imported from Claude, undone later"]);
  });

  it("say what was imported, and how many items had which outcome", async () => {
    const { batches } = await mockBackend({ open: true }).imports();
    const zeroCounts = { updated: 0, unchanged: 0, blocked: 0, skipped: 0, failed: 0 };
    const [line] = transfersOf([{ ...batches[0]!, ...zeroCounts, names: [], added: 514 }], []);
    expect(line?.text).toBe("514 new items.");
  });

  it("lists copied text as an export, and shows files that still exist", () => {
    const lines = transfersOf(
      [],
      [
        entry(1, { op: "export", target: "transfer_text", detail: "41 records, 6 covered" }),
        entry(2, { op: "export", target: "mem", detail: "3 records, valid", file: "/home/ines/a.mem" }),
        entry(3),
      ],
    );
    expect(lines.map(({ title, file }) => [title, file])).toEqual([
      ["Exported to .mem", "/home/ines/a.mem"],
      ["Exported as text", null],
    ]);
    expect(lines[1]?.text).toBe("41 items, 6 sensitive values masked.");
  });
});

it("the question before an import is undone says what is removed and what stays", async () => {
  const { batches } = await mockBackend({ open: true }).imports();
  const onundo = vi.fn();
  render(UndoSheet, { imports: [undoneImport(batches[1]!)], onundo, oncancel: vi.fn() });
  const question = screen.getByTestId("import-undo-ask").textContent;
  expect(question).toContain("14 items that this import added are removed, even if they are in the Trash.");
  expect(question).toContain("3 updated items get their earlier wording back.");
  expect(question).toContain("2 items from this import were edited later.");
  expect(question).toContain("To bring the imported items back, import the file again. The edits stay lost.");
  await fireEvent.click(screen.getByTestId("import-undo-anyway"));
  expect(onundo).toHaveBeenCalledOnce();
});

describe("an import that failed", () => {
  const at = "2026-11-18T19:58:00Z";
  const PATH = "/home/ines/Downloads/claude-part-2-of-3.zip";
  /** An import of this file that may succeed another time, unlike the sample, whose file is too large. */
  const unreadable = { ...sampleFailed[0]!, error: { code: "io", message: "", details: { place: PATH } } };
  let mock: Mock;
  beforeEach(async () => {
    mock = await start();
    importing.reset();
    toasts.clear();
    dialogs.close();
    render(DialogHost);
  });

  it("can be retried with the same file", async () => {
    const requests = vi.spyOn(mock, "detect");
    render(FailedActions, { failed: unreadable, at });
    await fireEvent.click(screen.getByTestId("activity-again"));
    await waitFor(() => expect(requests).toHaveBeenCalledWith([PATH], null));
    expect(dialogs.open?.kind).toBe("import");
  });

  it("says that the file is gone", async () => {
    mock.pathInfo = async (paths) => paths.map((path) => ({ path, folder: false, size: null }));
    render(FailedActions, { failed: unreadable, at });
    await fireEvent.click(screen.getByTestId("activity-again"));
    await waitFor(() => expect(toasts.current?.text).toBe("“claude-part-2-of-3.zip” isn’t where it was."));
    expect([dialogs.open, importing.stage]).toEqual([null, "idle"]);
  });

  it("of a file over a size limit is reported with the limit and the size, without a retry", async () => {
    render(FailedActions, { failed: sampleFailed[0]!, at });
    expect(screen.queryByTestId("activity-again")).toBeNull();
    await fireEvent.click(screen.getByTestId("activity-failed"));
    const report = await screen.findByTestId("failed-report");
    expect(report.textContent).toContain("claude-part-2-of-3.zip is over Mementory’s size limits.");
    expect(report.textContent).toContain("Mementory reads at most 69 GB in one import. If you trust the file,");
    await waitFor(() => expect(report.textContent).toContain("claude-part-2-of-3.zip, 1.8 GB, /home"));
    expect(screen.queryByTestId("failed-again")).toBeNull();
  });

  it("reports the error, and offers a retry", async () => {
    render(FailedActions, { failed: unreadable, at });
    await fireEvent.click(screen.getByTestId("activity-failed"));
    const report = await screen.findByTestId("failed-report");
    expect(report.textContent).toContain("claude-part-2-of-3.zip could not be read or written.");
    expect(report.textContent).toContain("Downloads");
    await fireEvent.click(screen.getByTestId("failed-again"));
    await waitFor(() => expect(dialogs.open?.kind).toBe("import"));
    expect(screen.queryByTestId("failed-report")).toBeNull();
  });

  it("shows each untrusted file name on its own line, shortened and with direction controls spelled out", async () => {
    const long = "a".repeat(1000);
    const paths = [`/home/ines/${long}1.zip`, `/home/ines/${long}2.zip`, "/home/ines/abc\u202egpj.zip"];
    const error = { code: "limit", message: "", details: { place: "abc\u202egpj.zip" } };
    const failed = { ...sampleFailed[0]!, paths, error };
    render(FailedActions, { failed, at });
    await fireEvent.click(screen.getByTestId("activity-failed"));
    const report = await screen.findByTestId("failed-report");
    expect([...report.querySelectorAll("dd > div")].map((line) => (line.textContent ?? "").length < 400)).toEqual([
      true,
      true,
      true,
    ]);
    const [line] = transfersOf([], [entry(failed.seq, { op: "import_failed", detail: "limit" })], [failed]);
    for (const shownText of [report.textContent, line?.text])
      expect([shownText?.includes("abc[U+202E]gpj.zip"), shownText?.includes("\u202e")]).toEqual([true, false]);
  });

  it("offers no retry if pasted text was imported", async () => {
    const error = { code: "not_recognised", message: "", details: {} };
    render(FailedActions, { failed: { seq: 9, paths: [], error }, at });
    expect(screen.queryByTestId("activity-again")).toBeNull();
    await fireEvent.click(screen.getByTestId("activity-failed"));
    expect((await screen.findByTestId("failed-report")).textContent).toContain("Pasted text");
  });
});

describe("the section", () => {
  beforeEach(async () => {
    await start();
    nav.section = "activity";
    nav.activityTab = "changes";
    await vault.refresh();
    render(Window);
  });

  it("counts the filtered entries", async () => {
    const total = await screen.findByTestId("changes-total");
    expect(total.textContent).toBe("10 entries. None of them contains your texts.");
    await fireEvent.keyDown(screen.getByTestId("changes-what"), { key: "Enter" });
    const menu = await screen.findByRole("menu");
    await fireEvent.click(within(menu).getByText("Imported"));
    await waitFor(() => expect(total.textContent).toBe("2 entries. None of them contains your texts."));
    expect(screen.getByTestId("changes-what").textContent).toBe("Imported");
  });

  it("has the evidence pack in the bar, and no search of something that it does not show", async () => {
    await fireEvent.click(await screen.findByTestId("activity-evidence"));
    expect(dialogs.open?.kind).toBe("evidence");
    expect(screen.queryByTestId("search-field")).toBeNull();
  });
});
