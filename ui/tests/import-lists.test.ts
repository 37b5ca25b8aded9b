import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import ConversationList from "../src/features/conversations/ConversationList.svelte";
import FilesView from "../src/features/files/FilesView.svelte";
import ImportSheet from "../src/features/importing/ImportSheet.svelte";
import ReportSheet from "../src/features/importing/ReportSheet.svelte";
import { entriesOf, itemCount } from "../src/features/importing/outcomes";
import { chipsOf } from "../src/features/memories/chips";
import { start, type Mock } from "./start-mock";
import { useBackend, type ImportReport } from "$lib/ipc";
import { mockBackend } from "$lib/ipc/mock";
import { emptyImportRequest, failWith } from "$lib/ipc/mock/jobs";
import { dialogs } from "$lib/state/dialogs.svelte";
import { importing } from "$lib/state/importing.svelte";
import { imports, showNew } from "$lib/state/imports.svelte";
import { conversations, files, memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { search } from "$lib/state/search-field.svelte";
import { vault } from "$lib/state/vault.svelte";

const CHATGPT = "/d/chatgpt-export.zip";
let mock: Mock;

beforeEach(async () => {
  nav.go("home");
  mock = await start();
  await vault.refresh();
});

const pressedIds = () =>
  [...document.querySelectorAll("table [aria-pressed=true]")].map((each) => (each as HTMLElement).dataset.testid);
const listLabel = () => screen.queryByTestId("import-items")?.getAttribute("aria-label") ?? null;
const segments = () =>
  [...document.querySelectorAll(".segment")].map((each) => each.textContent?.replaceAll(/\s+/g, " "));

async function openPlan() {
  await importing.inspect([CHATGPT]);
  return render(ImportSheet);
}

async function openReport(paths = [CHATGPT]) {
  await importing.inspect(paths);
  await importing.run();
  return render(ImportSheet);
}

describe("a number of the plan", () => {
  it("opens the list of the items that it counts", async () => {
    const { container } = await openPlan();
    const cells = [...container.ownerDocument.querySelectorAll("tbody td, tfoot td")];
    const plainTexts = cells.filter((cell) => !cell.querySelector("button")).map((cell) => cell.textContent?.trim());
    expect(cells.length).toBe(35);
    expect(new Set(plainTexts)).toEqual(new Set(["0"]));
    await fireEvent.click(screen.getByTestId("outcome-memory-unchanged"));
    expect([pressedIds(), listLabel()]).toEqual([["outcome-memory-unchanged"], "Memories, Unchanged"]);
    await fireEvent.click(screen.getByTestId("outcome-memory-added"));
    expect([pressedIds(), listLabel()]).toEqual([["outcome-memory-added"], "Memories, New"]);
    await fireEvent.click(screen.getByTestId("outcome-memory-added"));
    expect([pressedIds(), listLabel()]).toEqual([[], null]);
  });

  it("lists new items with their first words, and together with all other items under Found", async () => {
    await importing.inspect([CHATGPT]);
    const preview = importing.plans[0]?.preview as ImportReport;
    const addedEntries = entriesOf(preview, { kind: "memory", outcome: "added" });
    expect([addedEntries.entries.length, addedEntries.more]).toEqual([14, 0]);
    expect(addedEntries.entries[0]?.text).toBe("What the new memory 1 begins with");
    const foundEntries = entriesOf(preview, { kind: "memory", outcome: "found" });
    expect([foundEntries.entries.length, foundEntries.entries[0]?.outcome]).toEqual([208, "failed"]);
  });

  it("shows how many are counted but not listed", async () => {
    await openPlan();
    await fireEvent.click(screen.getByTestId("outcome-message-unchanged"));
    expect(screen.getByTestId("import-items-more").textContent).toBe("40,552 more items are not listed.");
    await fireEvent.click(screen.getByTestId("outcome-memory-blocked"));
    expect(screen.queryByTestId("import-items-more")).toBeNull();
  });
});

describe("a number of the report", () => {
  it("counts all items, not only listed ones", async () => {
    await openReport();
    expect(segments()).toEqual([
      "All 42,981",
      "Updated 40",
      "Unchanged 42,918",
      "Held back 12",
      "Skipped 6",
      "Unreadable 5",
    ]);
    await fireEvent.click(screen.getByText("Unchanged", { selector: ".segment" }));
    const report = importing.plans[0]?.report as ImportReport;
    const listed = report.items.filter((item) => item.outcome === "unchanged").length;
    expect(screen.getByTestId("import-items-more").textContent).toBe(
      `${(42_918 - listed).toLocaleString("en")} more items are not listed.`,
    );
  });

  it("opens the items of its kind, and links to new ones", async () => {
    await openReport();
    await fireEvent.click(screen.getByTestId("outcome-conversation-found"));
    expect([pressedIds(), listLabel()]).toEqual([["outcome-conversation-found"], "Conversations, Found"]);
    expect(segments()).toEqual(["All 1,823", "Updated 31", "Unchanged 1,790", "Held back 1", "Unreadable 1"]);
    await fireEvent.click(screen.getByText("Show them"));
    expect([nav.section, importing.stage]).toEqual(["conversations", "idle"]);
    expect(conversations.filter).toMatchObject({ kind: "conversation", batch: ["batch-new"] });
  });

  it("can be widened from one kind to all kinds", async () => {
    await openReport();
    await fireEvent.click(screen.getByTestId("outcome-memory-unchanged"));
    await fireEvent.click(screen.getByRole("button", { name: "Remove Memories" }));
    expect([pressedIds(), listLabel()]).toEqual([["outcome-all-unchanged"], "Unchanged"]);
  });

  it.each([
    ["memory", "memories", memories],
    ["conversation", "conversations", conversations],
    ["attachment", "files", files],
  ] as const)("opens the list of new ones: %s", async (kind, section, to) => {
    to.setFilter({ source: "gemini" });
    search.text = "harbour";
    await openReport();
    await fireEvent.click(screen.getByTestId(`outcome-${kind}-added`));
    expect([nav.section, search.text, dialogs.open]).toEqual([section, "", null]);
    expect(to.filter).toMatchObject({ kind, batch: ["batch-new"], source: null });
  });

  it("of new messages or of several kinds has no link, because no list shows exactly those", async () => {
    const { unmount } = await openReport();
    expect(screen.getByTestId("outcome-memory-added").textContent).toContain("14");
    for (const kind of ["message", "all"]) expect(screen.queryByTestId(`outcome-${kind}-added`), kind).toBeNull();
    expect(screen.getByTestId("import-items-new").textContent, "of all kinds").toBe("669 new items are in your vault.");
    await fireEvent.click(screen.getByTestId("outcome-message-found"));
    expect(screen.getByTestId("import-items-new").textContent).toBe("612 new items are in your vault.");
    expect(screen.queryByText("Show them")).toBeNull();
    unmount();
    await openReport(["/d/ines-notes.mem"]);
    await fireEvent.click(screen.getByTestId("outcome-all-added"));
    expect([nav.section, memories.filter.batch]).toEqual(["memories", ["batch-new-mem"]]);
  });

  it("of a former import is plain text if its items lack their kind, or if it was undone", async () => {
    const originalReport = await mock.importReport("b-1");
    mock.importReport = async () => ({
      ...originalReport,
      items: originalReport.items.map((item) => ({ ...item, kind: null })),
    });
    const { unmount } = render(ReportSheet, { batch: "b-1" });
    await screen.findByTestId("outcome-all-unchanged");
    expect(screen.queryByTestId("outcome-memory-unchanged")).toBeNull();
    expect(screen.getByTestId("outcome-memory-added")).toBeTruthy();
    unmount();
    await mock.undoImport("b-1");
    render(ReportSheet, { batch: "b-1" });
    await screen.findByTestId("outcome-all-unchanged");
    expect(screen.queryByTestId("outcome-memory-added")).toBeNull();
    expect(screen.queryByTestId("import-show-new")).toBeNull();
  });

  it("of everything found is plain text if everything is new, because the report then lists nothing", async () => {
    const originalReport = await mock.importReport("b-1");
    const zeroCounts = { updated: 0, unchanged: 0, blocked: 0, skipped: 0, failed: 0 };
    const all = { ...zeroCounts, found: 9, added: 9 };
    mock.importReport = async () => ({ ...originalReport, ...all, by_kind: { memory: all }, items: [] });
    render(ReportSheet, { batch: "b-1" });
    await screen.findByTestId("outcome-all-added");
    expect(screen.queryByTestId("outcome-all-found")).toBeNull();
  });

  it("of all items leaves out the new ones, which are in the lists of the vault", async () => {
    const report = await mock.importRun("x", importing.plans[0]?.request ?? emptyImportRequest, null, () => undefined);
    expect([report.found, report.added]).toEqual([43_650, 669]);
    expect(itemCount(report, { kind: null, outcome: "found" })).toBe(42_981);
  });
});

describe("new entries", () => {
  it("are shown for everything dropped together, without old filters", async () => {
    memories.setFilter({ tag: "house" });
    await openReport([CHATGPT, "/d/ines-notes.mem"]);
    await fireEvent.click(screen.getByTestId("import-show-new"));
    expect(nav.section).toBe("memories");
    expect(memories.filter).toMatchObject({ tag: null, batch: ["batch-new", "batch-new-mem"] });
    expect(chipsOf(memories.filter)).toEqual([{ label: "2 imports", off: { batch: null } }]);
  });

  it("have a link only if the import added some", async () => {
    const originalRun = mock.importRun;
    const mockAddedKinds = (kinds: string[]) => {
      mock.importRun = async (...args) => {
        const report = await originalRun(...args);
        const by_kind = Object.fromEntries(
          Object.entries(report.by_kind).map(([kind, n]) => [kind, kinds.includes(kind) ? n : { ...n, added: 0 }]),
        );
        return { ...report, by_kind, added: kinds.length };
      };
    };
    mockAddedKinds(["attachment", "message"]);
    const { unmount } = await openReport();
    await fireEvent.click(screen.getByTestId("import-show-new"));
    expect([nav.section, files.filter.batch]).toEqual(["files", ["batch-new"]]);
    unmount();
    for (const kinds of [[], ["message"]]) {
      mockAddedKinds(kinds);
      const { unmount } = await openReport();
      expect(screen.queryByTestId("import-show-new"), kinds.join()).toBeNull();
      unmount();
    }
  });

  it("become a filter with the import's time, which each list can clear", async () => {
    showNew(["b-1"], "conversation");
    await imports.load();
    const name = imports.name(["b-1"]);
    expect(name).toMatch(/^Import of .*\d, \d\d:\d\d(\s[AP]M)?$/);
    const { unmount } = render(ConversationList);
    await fireEvent.click(screen.getByRole("button", { name: `Remove ${name}` }));
    expect(conversations.filter.batch).toBeNull();
    unmount();
    showNew(["b-1"], "attachment");
    render(FilesView);
    await fireEvent.click(screen.getByRole("button", { name: `Remove ${name}` }));
    expect([files.filter.batch, files.filter.kind]).toEqual([null, "attachment"]);
  });
});

describe("undoing an import", () => {
  const undoQuestion = () => screen.queryByTestId("import-undo-ask");

  it("asks first, with the number of entries that were edited", async () => {
    await openReport();
    const { batches } = await mock.imports();
    Object.assign(batches[0] ?? {}, { edited_since: 3 });
    const undoImport = vi.spyOn(mock, "undoImport");
    await fireEvent.click(screen.getByTestId("import-undo"));
    await waitFor(() => expect(undoQuestion()?.textContent).toContain("3 items from this import were edited later."));
    expect(undoImport).not.toHaveBeenCalled();
    await fireEvent.click(document.querySelector("[data-cancel]") as HTMLElement);
    await waitFor(() => expect(undoQuestion()).toBeNull());
    await fireEvent.click(screen.getByTestId("import-undo"));
    await fireEvent.click(await screen.findByTestId("import-undo-anyway"));
    await waitFor(() => expect(undoImport).toHaveBeenCalledWith("batch-new"));
  });

  it("does nothing if the number of edits is unknown", async () => {
    await openReport();
    mock.imports = async () => Promise.reject(failWith("io", "The disk does not answer."));
    const undoImport = vi.spyOn(mock, "undoImport");
    await fireEvent.click(screen.getByTestId("import-undo"));
    await waitFor(() => expect((screen.getByTestId("import-undo") as HTMLButtonElement).disabled).toBe(false));
    expect(undoImport).not.toHaveBeenCalled();
  });

  it("removes the import from the filters of all lists", async () => {
    await openReport();
    showNew(["batch-new"], "memory");
    conversations.setFilter({ batch: ["b-1", "batch-new"] });
    await fireEvent.click(screen.getByTestId("import-undo"));
    await fireEvent.click(await screen.findByTestId("import-undo-anyway"));
    await waitFor(() => expect(memories.filter.batch).toBeNull());
    expect(conversations.filter.batch).toEqual(["b-1"]);
  });
});

describe("files an export names but does not contain", () => {
  const names = () =>
    [...document.querySelectorAll("[data-testid=import-missing-names] li")].map((li) => li.textContent);

  it("are listed by name in the plan", async () => {
    const originalPreview = mock.importPreview;
    mock.importPreview = async (...args) => ({
      ...(await originalPreview(...args)),
      missing_parts: ["conversations-002.json"],
      attachments: { referenced: 214, present: 210 },
      missing_attachments: 9,
    });
    await openPlan();
    expect(screen.getByTestId("import-missing").textContent).toMatch(/9 attachments .* 1 part of this export/s);
    expect(names()).toEqual([]);
    await fireEvent.click(screen.getByTestId("import-missing-see"));
    expect(names().slice(0, 3)).toEqual(["conversations-002.json", "9fK2.dat", "floor-plan.pdf"]);
    expect(screen.getByText("2 more items are not listed.")).toBeTruthy();
  });

  it("are linked from the report, filtered by assistant", async () => {
    files.setFilter({ batch: ["b-1"] });
    await openReport();
    expect(screen.getByTestId("import-missing-files").textContent).toBe("Show all missing files of ChatGPT");
    await fireEvent.click(screen.getByTestId("import-missing-files"));
    expect([nav.section, importing.stage]).toEqual(["files", "idle"]);
    expect(files.filter).toMatchObject({ file_kind: "missing", source: "chatgpt", batch: null });
    render(FilesView);
    await fireEvent.click(screen.getByRole("button", { name: "Remove ChatGPT" }));
    expect(files.filter.source).toBeNull();
  });
});

describe("a file without imported records", () => {
  const errorText = () =>
    screen.getByTestId("import-error").querySelector("p")?.textContent?.replaceAll(/\s+/g, " ").trim();
  const refusing = (code: string, details = {}) => {
    mock.importPreview = async () => Promise.reject(failWith(code, "Said by the core.", details));
  };

  it("is named with size, recognised format and reason", async () => {
    refusing("unsupported_version", { place: CHATGPT });
    await openPlan();
    await waitFor(() =>
      expect(errorText()).toBe(
        "Nothing was imported. We read chatgpt-export.zip (1.8 GB) and recognised ChatGPT, but Mementory can’t read its format version. Your vault is unchanged.",
      ),
    );
  });

  it.each([
    [{}, "Your vault is unchanged. If you trust the file, import it on the command line"],
    [
      { limit: "total_bytes", figure: "68719476736" },
      "Mementory reads at most 69 GB in one import. If you trust the file",
    ],
    [
      { limit: "expanded_bytes", figure: "190000000000" },
      "Unpacked, it would have 190 GB or more. If you trust the file",
    ],
    [{ limit: "element_bytes", figure: "268435456" }, "A single part of it has 268 MB or more. If you trust the file"],
    [{ limit: "tree_bytes", figure: "100663296" }, "would need 101 MB of memory or more. If you trust the file"],
    [
      { limit: "entries", figure: "1000000" },
      "at most 1,000,000 files or entries in one import. Export it in smaller parts",
    ],
    [{ limit: "elements", figure: "90" }, "A list in it has too many entries. Export it in smaller parts"],
  ])("says which limit it is over, and what to do: %j", async (details, advice) => {
    refusing("limit", { place: CHATGPT, ...details });
    await openPlan();
    await waitFor(() => expect(errorText()).toContain("(1.8 GB)"));
    expect(errorText()).toContain("but it is over Mementory’s size limits.");
    expect(errorText()).toContain(advice);
  });

  it.each([
    ["limit", false],
    ["refused_input", false],
    ["io", true],
    ["internal", true],
  ])("offers another attempt only if that could succeed: %s", async (code, canRetry) => {
    refusing(code, { place: CHATGPT });
    await openPlan();
    await screen.findByTestId("import-error");
    expect(screen.queryByTestId("import-again") !== null).toBe(canRetry);
  });

  it.each([
    ["malformed_entry", { place: "x" }, "part of it is damaged or doesn’t follow its format"],
    ["io", {}, "it could not be read to the end"],
  ])("says why in a part of the sentence: %s", async (code, details, reason) => {
    refusing(code, details);
    await openPlan();
    expect(errorText()).toContain(`recognised ChatGPT, but ${reason}. Your vault is unchanged.`);
  });

  it("is described only by the error if the error is not about the file", async () => {
    refusing("internal");
    await openPlan();
    expect(errorText()).toBe(
      "Nothing was imported. Something unexpected happened. Check the result before you try again.",
    );
  });

  it("has a report, and the guide of the assistant to export again", async () => {
    refusing("limit", { place: CHATGPT });
    await openPlan();
    await fireEvent.click(screen.getByTestId("import-ways"));
    expect(dialogs.open).toEqual({ kind: "guides", source: "chatgpt", back: { kind: "import" } });
    expect(importing.stage, "the failed import stays, to return to").toBe("failed");
    await fireEvent.click(screen.getByTestId("import-see-report"));
    expect(importing.stage).toBe("idle");
    expect(dialogs.open).toMatchObject({
      kind: "failed-import",
      failed: { paths: [CHATGPT], error: { code: "limit", message: "Said by the core.", details: { place: CHATGPT } } },
    });
  });

  it("that was pasted stays in its field, without a report", async () => {
    refusing("malformed");
    await importing.inspectText("Prefers tea to coffee.");
    render(ImportSheet);
    expect(screen.getByTestId("import-error")).toBeTruthy();
    expect(screen.queryByTestId("import-see-report")).toBeNull();
    expect(importing.text).toBe("Prefers tea to coffee.");
  });

  it("is reported for each of several failed imports, and if an import fails midway", async () => {
    refusing("io");
    await importing.inspect([CHATGPT, "/d/data-2026.zip"]);
    const { unmount } = render(ImportSheet);
    expect(screen.getAllByTestId("import-error").length).toBe(2);
    unmount();
    mock = mockBackend({ open: true });
    useBackend(mock);
    mock.importRun = async () => Promise.reject(failWith("disk_full", "Full."));
    await importing.inspect([CHATGPT]);
    await importing.run();
    render(ImportSheet);
    expect(errorText()).toContain("recognised ChatGPT, but the disk of your vault is full.");
  });

  it("that is empty is reported in the plan, with the way to export again", async () => {
    const originalPreview = mock.importPreview;
    mock.importPreview = async (...args) => ({ ...(await originalPreview(...args)), found: 0 });
    await openPlan();
    expect(screen.getByTestId("import-empty").textContent).toContain("recognised ChatGPT, but it contains no entries.");
    expect(screen.queryByTestId("import-see-report")).toBeNull();
    expect(screen.getByTestId("import-ways")).toBeTruthy();
  });

  it("offers no new export if the person wrote it", async () => {
    refusing("io");
    await importing.inspect(["/d/ines-notes.mem"]);
    render(ImportSheet);
    expect(screen.queryByTestId("import-ways")).toBeNull();
  });

  it("is named if it is not recognised", async () => {
    await importing.inspect([CHATGPT, "/d/poem.xyz"]);
    render(ImportSheet);
    expect(document.querySelector("[data-path='/d/poem.xyz'] .num")?.textContent).toBe(
      "The format “Plain text” fits best. Choose a format, or keep it as a file.",
    );
  });
});
