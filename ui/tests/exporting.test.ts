import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import ExportDone from "../src/features/exporting/ExportDone.svelte";
import ExportSheet from "../src/features/exporting/ExportSheet.svelte";
import type { ExportFormat } from "../src/features/exporting/formats";
import { attachedFileCounts } from "../src/features/exporting/losses";
import { excerpt, EXCERPT_LENGTH } from "../src/features/exporting/excerpt";
import { commands } from "../src/shell/palette/commands";
import type { Filter } from "$lib/ipc";
import { failWith } from "$lib/ipc/mock/jobs";
import { dialogs } from "$lib/state/dialogs.svelte";
import { ANY, periodStart } from "$lib/state/filter";
import { memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;
const MEMORIES: Filter = { ...ANY, kind: "memory" };
const PLAIN = { format: "mem", out: "", overwrite: false, sign: false, cover: true, filter: ANY };

beforeEach(async () => {
  mock = await start();
  await vault.refresh();
});

afterEach(() => void vi.useRealTimers());

const sheet = (filter: Filter | null = null, start: ExportFormat = "mem") =>
  render(ExportSheet, { filter, query: "", found: filter ? 24 : null, start });
const button = (id: string) => screen.getByTestId(id) as HTMLButtonElement;
const field = () => screen.getByTestId("export-text") as HTMLTextAreaElement;
/** Returns a list to which every text copied from now on is added. If `refuses` is true, copying fails. */
function recordCopies(refuses = false): string[] {
  const copiedTexts: string[] = [];
  vi.spyOn(mock, "copyText").mockImplementation(async (text) => {
    if (refuses) throw failWith("no_clipboard", "The clipboard can't be used.");
    copiedTexts.push(text);
  });
  return copiedTexts;
}

describe("the excerpt of a text", () => {
  it("is a short text as a whole, and a long text up to a line end", () => {
    expect(excerpt("one\ntwo\n", 8)).toBe("one\ntwo\n");
    expect(excerpt("one\ntwo\nthree\n", 10)).toBe("one\ntwo\n");
    expect(excerpt("one\ntwo\nthree\n", 8)).toBe("one\ntwo\n");
  });

  it("does not split a surrogate pair", () => {
    expect(excerpt("ab😀cd", 3)).toBe("ab");
    expect(excerpt("ab😀cd", 4)).toBe("ab😀");
  });
});

describe("the sheet", () => {
  const formats = () =>
    [...document.querySelectorAll("[role=radio][data-testid^=export-]")].map((card) =>
      card.getAttribute("data-testid"),
    );

  it("begins with what is exported, and folds the formats for certain programs away", async () => {
    sheet();
    const element = (id: string) => screen.getByTestId(id);
    const isBefore = (a: string, b: string) =>
      (element(a).compareDocumentPosition(element(b)) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
    expect([isBefore("export-scope-all", "export-mem"), isBefore("export-cover", "export-mem")]).toEqual([true, true]);
    expect(formats()).toContain("export-transfer_text");
    expect(formats()).not.toContain("export-letta");
    await fireEvent.click(element("export-more-formats"));
    await fireEvent.click(element("export-letta"));
    await fireEvent.click(element("export-more-formats"));
    await waitFor(() => expect(element("export-more-formats").textContent).toContain("Letta"));
  });

  it("shows the chosen format, also if it is for a certain program", () => {
    sheet(null, "claude");
    expect(formats()).toContain("export-claude");
  });
});

describe("the text for another assistant", () => {
  it("is shown as an excerpt in a field, and copied whole", async () => {
    const copiedTexts = recordCopies();
    const recordCopiedText = vi.spyOn(mock, "recordCopiedText");
    const exportText = vi.spyOn(mock, "exportText").mockResolvedValue("A line of the text.\n".repeat(2000));
    sheet(MEMORIES, "transfer_text");
    await waitFor(() => expect(field().value).not.toBe(""));
    expect([exportText.mock.lastCall?.[1].format, exportText.mock.lastCall?.[1].out]).toEqual(["transfer_text", ""]);
    expect(exportText.mock.lastCall?.[1]).toMatchObject({ filter: MEMORIES, cover: true });
    expect([field().readOnly, field().dir, field().value.length]).toEqual([true, "auto", EXCERPT_LENGTH]);
    expect(screen.getByTestId("export-text-on").textContent).toContain("(40 KB)");
    expect(screen.queryByTestId("export-path")).toBeNull();
    await fireEvent.click(button("export-copy"));
    await waitFor(() => expect(toasts.current?.text).toBe("Copied"));
    expect(copiedTexts.map((text) => text.length)).toEqual([40_000]);
    await waitFor(() => expect(recordCopiedText, "the copy is recorded in the log").toHaveBeenCalledOnce());
  });

  it("reports a failed copy", async () => {
    recordCopies(true);
    const recordCopiedText = vi.spyOn(mock, "recordCopiedText");
    sheet(MEMORIES, "transfer_text");
    await waitFor(() => expect(button("export-copy").disabled).toBe(false));
    await fireEvent.click(button("export-copy"));
    await waitFor(() => expect(toasts.current?.text).toContain("The clipboard isn’t available."));
    expect(recordCopiedText, "the log records no copy").not.toHaveBeenCalled();
    expect(toasts.current?.icon).toBe("alert");
  });

  it("is neither signed nor encrypted, and is copied only after accepting its losses", async () => {
    const exportRun = vi.spyOn(mock, "exportRun");
    sheet(null, "transfer_text");
    await screen.findByTestId("export-losses");
    await waitFor(() => expect(field().value).not.toBe(""));
    expect([screen.queryByTestId("export-sign"), screen.queryByTestId("export-encrypt")]).toEqual([null, null]);
    expect([button("export-copy").disabled, button("export-save").disabled]).toEqual([true, true]);
    await fireEvent.click(button("export-understood"));
    expect([button("export-copy").disabled, button("export-save").disabled]).toEqual([false, false]);
    await fireEvent.click(button("export-save"));
    await screen.findByTestId("export-verified");
    expect(exportRun.mock.lastCall?.[1].out).toMatch(/^\/home\/ines\/Ines \d{4}-\d\d-\d\d\.md$/);
    expect(exportRun.mock.lastCall?.[2]).toBeNull();
  });

  it("saves nothing if no path was chosen", async () => {
    const exportRun = vi.spyOn(mock, "exportRun");
    const chooseSave = vi.spyOn(mock, "chooseSave").mockResolvedValue(null);
    sheet(MEMORIES, "transfer_text");
    await waitFor(() => expect(button("export-save").disabled).toBe(false));
    await fireEvent.click(button("export-save"));
    await waitFor(() => expect(chooseSave).toHaveBeenCalled());
    expect(exportRun).not.toHaveBeenCalled();
  });

  it("is generated only in its own format, and cancelled when the sheet is closed", async () => {
    const exportText = vi.spyOn(mock, "exportText").mockReturnValue(new Promise(() => undefined));
    const cancelJob = vi.spyOn(mock, "cancelJob");
    const { unmount } = sheet(MEMORIES);
    await screen.findByText("Nothing will be lost.");
    await fireEvent.click(button("export-transfer_text"));
    await waitFor(() => expect(exportText).toHaveBeenCalled());
    expect(exportText.mock.calls.map(([, request]) => request.format)).toEqual(["transfer_text"]);
    unmount();
    expect(cancelJob).toHaveBeenCalledWith(exportText.mock.calls[0]?.[0]);
  });

  it("reports an error if it cannot be generated", async () => {
    vi.spyOn(mock, "exportText").mockRejectedValue(failWith("io", "x", { place: "/a" }));
    sheet(MEMORIES, "transfer_text");
    expect((await screen.findByTestId("export-error")).textContent).toContain("The text could not be created.");
    expect(button("export-copy").disabled).toBe(true);
  });

  it("is offered by the palette, with the current scope", async () => {
    nav.open("memories");
    await memories.load();
    commands()
      .find(({ id }) => id === "export-text")
      ?.run();
    expect(dialogs.open).toMatchObject({ kind: "export", format: "transfer_text", filter: { kind: "memory" } });
  });
});

describe("the scope of an export", () => {
  const requests = () => vi.spyOn(mock, "exportPreview");
  const choose = async (name: string, value: string) => {
    const trigger = screen.getByTestId(`export-choose-${name}`);
    trigger.focus();
    await fireEvent.keyDown(trigger, { key: "Enter" });
    const option = await screen.findByRole("option", { name: value });
    await fireEvent.pointerUp(option);
  };

  it("is everything, or what is on screen if the sheet was opened from a list", async () => {
    const { unmount } = sheet();
    expect(screen.queryByTestId("export-scope-screen")).toBeNull();
    expect(button("export-scope-all").getAttribute("aria-checked")).toBe("true");
    expect(screen.queryByTestId("export-choose")).toBeNull();
    unmount();
    sheet(MEMORIES);
    expect(button("export-scope-screen").getAttribute("aria-checked")).toBe("true");
  });

  it("follows the chosen kind, assistant, tag and days", async () => {
    sheet();
    await screen.findByTestId("export-losses");
    const previews = requests();
    await fireEvent.click(button("export-scope-choose"));
    await choose("kind", "Memories");
    await choose("source", "Claude");
    await choose("tag", "#house");
    await fireEvent.change(screen.getByTestId("export-choose-since"), { target: { value: "2020-01-01" } });
    expect(screen.getByTestId("export-counted").textContent).toBe("Counting");
    expect(button("export-save").disabled).toBe(true);
    await waitFor(() => expect(button("export-save").disabled).toBe(false));
    const since = new Date(2020, 0, 1).toISOString();
    const filter = { ...ANY, kind: "memory", source: "claude", tag: "house", since };
    expect(previews.mock.lastCall?.[1].filter).toEqual(filter);
    expect(screen.getByTestId("export-counted").textContent).toBe("2 memories");
    const exportRun = vi.spyOn(mock, "exportRun");
    await fireEvent.click(button("export-save"));
    await screen.findByTestId("export-verified");
    expect(exportRun.mock.lastCall?.[1].filter).toEqual(filter);
  });

  it("is counted after a pause, and saving waits for it", async () => {
    sheet();
    await screen.findByTestId("export-losses");
    const previews = requests();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await fireEvent.click(button("export-scope-choose"));
    await fireEvent.change(screen.getByTestId("export-choose-since"), { target: { value: "2020-01-01" } });
    await vi.advanceTimersByTimeAsync(249);
    await fireEvent.change(screen.getByTestId("export-choose-until"), { target: { value: "2030-01-01" } });
    await vi.advanceTimersByTimeAsync(249);
    expect([previews.mock.calls.length, button("export-save").disabled]).toEqual([0, true]);
    await vi.advanceTimersByTimeAsync(1);
    vi.useRealTimers();
    await fireEvent.click(await screen.findByTestId("export-understood"));
    expect(button("export-save").disabled).toBe(false);
    expect(previews).toHaveBeenCalledTimes(1);
  });

  it("can be empty, and then nothing can be saved", async () => {
    sheet();
    await fireEvent.click(button("export-scope-choose"));
    await fireEvent.change(screen.getByTestId("export-choose-until"), { target: { value: "1999-12-31" } });
    expect((await screen.findByTestId("export-nothing")).textContent).toContain("There is nothing to export.");
    expect(button("export-save").disabled).toBe(true);
  });

  it("switches masking on again when it changes", async () => {
    const previews = requests();
    sheet();
    const maskSwitch = () => screen.getByTestId("export-cover").querySelector<HTMLButtonElement>("[role=switch]")!;
    await waitFor(() => expect(maskSwitch().disabled).toBe(false));
    await fireEvent.click(maskSwitch());
    await fireEvent.click(await screen.findByTestId("uncover-confirm"));
    await waitFor(() => expect(previews.mock.lastCall?.[1].cover).toBe(false));
    await fireEvent.click(button("export-scope-choose"));
    await choose("kind", "Memories");
    await waitFor(() => expect(previews.mock.lastCall?.[1]).toMatchObject({ cover: true, filter: { kind: "memory" } }));
  });

  it("drops a preset period when it is clicked again", async () => {
    const previews = requests();
    sheet();
    await fireEvent.click(button("export-scope-choose"));
    const today = screen.getByRole("button", { name: "Today" });
    await fireEvent.click(today);
    expect(today.getAttribute("aria-pressed")).toBe("true");
    await waitFor(() => expect(previews.mock.lastCall?.[1].filter.since).toBe(periodStart("today")));
    await fireEvent.click(today);
    await waitFor(() => expect(previews.mock.lastCall?.[1].filter).toEqual(ANY));
  });
});

describe("the fingerprint of an export", () => {
  it.each([
    [false, "Copied", "check"],
    [true, "The clipboard isn’t available.", "alert"],
  ] as const)("is copied, or a toast says that it was not (%s)", async (refuses, text, icon) => {
    const copiedTexts = recordCopies(refuses);
    const request = { format: "mem", out: "/a.mem", filter: ANY, overwrite: false, sign: false, cover: true };
    render(ExportDone, { done: await mock.exportRun("job", request, null, () => undefined) });
    await fireEvent.click(screen.getByText("Copy fingerprint"));
    await waitFor(() => expect(toasts.current?.text).toContain(text));
    expect(toasts.current?.icon).toBe(icon);
    expect(copiedTexts).toEqual(refuses ? [] : ["sha256 9c41 e07b 55a2 fd30 18c6 2e9f"]);
  });
});

describe("a saved file that fails its check", () => {
  const runFailingExport = async (format: string) => {
    const exportRun = mock.exportRun;
    const request = {
      format,
      out: `/home/ines/Ines.${format}`,
      filter: ANY,
      overwrite: false,
      sign: false,
      cover: true,
    };
    return { ...(await exportRun("j", request, null, () => undefined)), validated: false };
  };

  it.each([
    ["mem", "Delete the folder"],
    ["alf", "Delete the file"],
  ])("is deleted by the main action: %s", async (format, label) => {
    const removeExport = vi.spyOn(mock, "removeExport");
    render(ExportDone, { done: await runFailingExport(format) });
    expect(screen.queryByTestId("export-done"), "there is no Done button").toBeNull();
    expect(button("export-delete").textContent).toContain(label);
    await fireEvent.click(button("export-delete"));
    await waitFor(() => expect(toasts.current?.text).toBe(`Ines.${format} was deleted`));
    expect(removeExport).toHaveBeenCalledExactlyOnceWith(`/home/ines/Ines.${format}`);
  });

  it.each([1, 3])("shows the first errors of its check: %i", async (errors) => {
    const first_error = { code: "checksum", place: "memories.jsonl:4", message: "its digest is another" };
    render(ExportDone, { done: { ...(await runFailingExport("mem")), first_error, errors } });
    const shownText = screen.getByTestId("export-invalid").textContent;
    expect(shownText).toMatch(/A checksum is missing or doesn’t match\.\s*Details\s+memories\.jsonl:4/);
    expect(shownText).toContain("Your vault is fine.");
    expect(shownText.includes("There are 2 more errors.")).toBe(errors === 3);
  });

  it("is not deleted if it was changed since, and can be kept", async () => {
    mock.removeExport = async () => Promise.reject(failWith("changed_since", "It is something else now."));
    render(ExportDone, { done: await runFailingExport("alf") });
    await fireEvent.click(button("export-delete"));
    expect(await screen.findByText("It was not deleted.")).toBeTruthy();
    dialogs.show({ kind: "shortcuts" });
    await fireEvent.click(button("export-keep"));
    expect(dialogs.open).toBeNull();
  });
});

describe("attached files", () => {
  const leftOut = (field: string, count: number) => ({ field, kind: "left_out", count });
  // The losses are those that the writer of each format reports. Of these formats, only .alf can contain files, and its
  // writer leaves out large ones.
  it.each<[ExportFormat, number, ReturnType<typeof leftOut>[], { exported: number; omitted: number }, string | null]>([
    [
      "mem",
      5,
      [leftOut("bytes", 5)],
      { exported: 0, omitted: 5 },
      "does not contain your 5 attached files, only their names and the text read from them.",
    ],
    [
      "zaxy",
      5,
      [leftOut("bytes", 5)],
      { exported: 0, omitted: 5 },
      "does not contain your 5 attached files, only their names and the text read from them.",
    ],
    [
      "mif",
      5,
      [leftOut("bytes", 5)],
      { exported: 0, omitted: 5 },
      "does not contain your 5 attached files, only their names and the text read from them.",
    ],
    [
      "pam",
      0,
      [leftOut("bytes", 5)],
      { exported: 0, omitted: 5 },
      "does not contain your 5 attached files, only their names and the text read from them.",
    ],
    ["alf", 5, [], { exported: 5, omitted: 0 }, "are exported unchanged. Nothing inside them is masked."],
    ["alf", 5, [leftOut("attachment", 3)], { exported: 2, omitted: 3 }, "2 attached files are exported unchanged"],
    [
      "alf",
      5,
      [leftOut("attachment", 5)],
      { exported: 0, omitted: 5 },
      "does not contain your 5 attached files, only their names and the text read from them.",
    ],
    ["alf", 0, [], { exported: 0, omitted: 0 }, null],
  ])("of %s are described as they are exported (%i, %j)", async (format, attachment, loss_counts, files, text) => {
    const preview = mock.exportPreview;
    mock.exportPreview = async (...args) => ({ ...(await preview(...args)), by_kind: { attachment }, loss_counts });
    const counts = attachedFileCounts(await mock.exportPreview("", PLAIN, false, () => undefined), format === "alf");
    expect(counts).toEqual(files);
    sheet(null, format);
    await waitFor(() => expect(screen.queryByTestId("export-cover")?.textContent).toContain("14 values"));
    await waitFor(() =>
      expect(
        (screen.queryByTestId("export-files") ?? screen.queryByTestId("export-files-stay"))?.textContent ?? null,
      ).toEqual(text && expect.stringContaining(text)),
    );
  });
});

it("names the same number of files before and after saving, whatever is lost beside them", async () => {
  const preview = mock.exportPreview;
  const leftOutLoss = (field: string, count: number) => ({ field, kind: "left_out", count });
  const loss_counts = [leftOutLoss("bytes", 4), leftOutLoss("passthrough", 3)];
  const by_kind = { attachment: 8 };
  mock.exportPreview = async (...args) => ({ ...(await preview(...args)), by_kind, loss_counts });
  sheet();
  const line = await screen.findByTestId("export-files-stay");
  expect(line.textContent).toContain("does not contain your 4 attached files");
  expect(screen.getByTestId("export-understood").closest("label, div")?.textContent).toContain(
    "I understand that this is left out: 4 files",
  );
  const request = { format: "mem", out: "/a.mem", filter: ANY, overwrite: false, sign: false, cover: true };
  const done = await mock.exportRun("j", request, null, () => undefined);
  render(ExportDone, { done: { ...done, by_kind, loss_counts, withheld: [] } });
  expect(screen.getByTestId("export-verified").textContent).toContain("Left out: 4 files.");
});

describe("a disabled Save", () => {
  const disabledReason = () => {
    const reason = document.getElementById(button("export-save").getAttribute("aria-describedby") ?? "")?.textContent;
    expect([button("export-save").disabled, button("export-save").title]).toEqual([
      reason !== "",
      reason || "/home/ines/Documents",
    ]);
    return reason;
  };
  const expectReason = (text: string) => waitFor(() => expect(disabledReason()).toBe(text));

  it("gives the missing confirmation or path as its reason, with the checkbox visible at every scroll position", async () => {
    sheet();
    await expectReason("Confirm that you understand what is left out.");
    const box = screen.getByTestId("export-understood");
    expect(box.closest(".notice, .foot, .body")?.className).toContain("notice");
    const scrolledTo = vi.spyOn(Element.prototype, "scrollIntoView").mockImplementation(() => undefined);
    await fireEvent.click(screen.getByTestId("export-see-lost"));
    expect((scrolledTo.mock.contexts[0] as HTMLElement).querySelector("[data-testid=export-losses]")).toBeTruthy();
    await fireEvent.click(box);
    await expectReason("");
    await fireEvent.input(screen.getByTestId("export-path"), { target: { value: " " } });
    await waitFor(() => expect(screen.getByTestId("missing").textContent).toBe("Choose where to save it."));
  });

  it("gives what its passphrase lacks as its reason", async () => {
    sheet();
    await fireEvent.click(screen.getByTestId("export-alf"));
    await screen.findByTestId("export-losses");
    await expectReason("");
    await fireEvent.click(screen.getByTestId("export-encrypt").querySelector("[role=switch]")!);
    await expectReason("Type a passphrase first.");
    await fireEvent.input(screen.getByTestId("export-passphrase"), { target: { value: "kite" } });
    await expectReason("The passphrase is too short.");
  });
});
