// Tests of previewing and saving files of the vault.
import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import Attachment from "../src/features/conversations/Attachment.svelte";
import FileSheet from "../src/features/files/FileSheet.svelte";
import { decode, isProbablyText, MAX_SHOWN_BYTES } from "../src/features/files/text";
import DialogHost from "../src/shell/DialogHost.svelte";
import { start, type Mock } from "./start-mock";
import { failWith } from "$lib/ipc/mock/jobs";
import { dialogs } from "$lib/state/dialogs.svelte";
import { files } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { plainRow, type Row } from "$lib/state/records.svelte";
import { toasts } from "$lib/state/toasts.svelte";

let mock: Mock;
beforeEach(async () => {
  nav.section = "files";
  mock = await start();
});

async function file(name: string, more: Partial<Row> = {}): Promise<Row> {
  const { items } = await mock.list({
    filter: { ...files.filter, kind: "attachment" },
    sort: null,
    limit: 50,
    cursor: null,
  });
  return { ...plainRow(items.find((each) => each.title === name)!), ...more };
}

const sheet = (row: Row) => render(FileSheet, { row, onclose: vi.fn() });
const setContent = (bytes: Uint8Array) =>
  (mock.attachment = async (_, most) => bytes.slice(0, most).buffer as ArrayBuffer);
const utf8 = (text: string) => new TextEncoder().encode(text);

describe("an action of the sheet", () => {
  const open = async (action: string) => {
    const row = await file("harmonics_bergen.csv", { conversation_id: "c-bath" });
    dialogs.show({ kind: "file", row });
    render(DialogHost);
    const shown = await screen.findByTestId("file-sheet");
    await fireEvent.click(within(shown).getByText(action));
    return row;
  };

  it("opens the conversation", async () => {
    await open("Open the conversation");
    expect([nav.section, nav.id, dialogs.open]).toEqual(["conversations", "c-bath", null]);
  });

  it("moves the file to the Trash", async () => {
    const trash = vi.spyOn(mock, "trash");
    const { id } = await open("Move to Trash");
    await waitFor(() => expect(trash.mock.calls[0]?.[0]).toEqual([id]));
  });

  it("asks before the file is erased", async () => {
    const { id } = await open("Erase for good…");
    expect(dialogs.open).toEqual({ kind: "erase", ids: [id] });
  });
});

describe("the preview", () => {
  it("shows tables, code and notes as plain text, never as a page", async () => {
    const requests = vi.spyOn(mock, "attachment");
    sheet(await file("harmonics_bergen.csv"));
    await waitFor(() => expect(screen.getByTestId("file-text").textContent).toMatch(/^constituent,amplitude_m/));
    expect(requests).toHaveBeenCalledWith("f-3", MAX_SHOWN_BYTES);
    expect(screen.queryByTestId("file-beginning")).toBeNull();
    setContent(utf8("<h1>Tide</h1><script>window.ran = 1</script>"));
    sheet(await file("tide.rs", { id: "f-html", title: "tide.html", media_type: "text/html" }));
    await waitFor(() => expect(screen.getAllByTestId("file-text").at(-1)?.textContent).toContain("<h1>Tide</h1>"));
    expect(document.querySelector("pre h1, pre script")).toBeNull();
  });

  it("shows the start of a long text, and says so", async () => {
    setContent(utf8("é".repeat(MAX_SHOWN_BYTES)));
    sheet(await file("tide.rs", { size: 2 * MAX_SHOWN_BYTES }));
    await waitFor(() => expect(screen.getByTestId("file-beginning").textContent).toContain("beginning"));
    expect(screen.getByTestId("file-text").textContent).toBe("é".repeat(MAX_SHOWN_BYTES / 2));
  });

  it("says if there is no preview, or if loading failed", async () => {
    sheet(await file("structural-note-bathroom.pdf"));
    expect(screen.getByTestId("file-unshown")).toBeTruthy();
    setContent(new Uint8Array([0x50, 0, 1, 2]));
    sheet(await file("tide.rs"));
    await waitFor(() => expect(screen.getAllByTestId("file-unshown")).toHaveLength(2));
    mock.attachment = async () => {
      throw failWith("damaged", "An attachment does not pass its check.");
    };
    sheet(await file("load-calc.py"));
    expect(await screen.findByText("This can’t be shown.")).toBeTruthy();
  });

  it.each([
    ["text/plain; charset=x", "a", true],
    ["application/ld+json", "a", true],
    ["application/octet-stream", "Notes.MD", true],
    [null, "table.csv", true],
    ["image/svg+xml", "a.svg", true],
    ["image/png", "a.txt", false],
    ["application/pdf", "a", false],
    ["text/rtf", "a.rtf", false],
    [null, "archive.zip", false],
  ])("of %s called %s", (media_type, title, text) => {
    expect(isProbablyText({ media_type, title, text: title, present: true, file_kind: "other" })).toBe(text);
    expect(isProbablyText({ media_type, title, text: title, present: false, file_kind: "missing" })).toBe(false);
  });

  it("decodes texts in their encoding", () => {
    const decodeWhole = (bytes: number[], language = "en") => decode(new Uint8Array(bytes), false, language);
    expect(decodeWhole([0xef, 0xbb, 0xbf, 0x61])).toBe("a");
    expect(decodeWhole([0xff, 0xfe, 0x61, 0, 0xe9, 0])).toBe("aé");
    expect(decodeWhole([0xfe, 0xff, 0, 0x61])).toBe("a");
    expect(decodeWhole([0x47, 0x72, 0xfc, 0x6e])).toBe("Grün");
    expect(decodeWhole([0x93, 0xfa, 0x96, 0x7b], "ja")).toBe("日本");
    expect(decodeWhole([0x61, 0, 0x62])).toBeNull();
    expect(decodeWhole([])).toBe("");
    expect(decode(utf8("a€").slice(0, 3), true, "en"), "cut in two").toBe("a");
  });
});

describe("saving", () => {
  it("asks for a path, and shows it", async () => {
    const saveAttachment = vi.spyOn(mock, "saveAttachment");
    sheet(await file("voice-note-0412.m4a"));
    await fireEvent.click(screen.getByTestId("file-save"));
    await waitFor(() => expect(toasts.current?.text).toBe("Saved as voice-note-0412.m4a"));
    expect(saveAttachment.mock.calls[0]?.slice(1, 3)).toEqual(["f-9", "voice-note-0412.m4a"]);
    const showInFolder = vi.spyOn(mock, "showInFolder");
    await toasts.runAction();
    expect(showInFolder).toHaveBeenCalledWith("/home/ines/voice-note-0412.m4a");
  });

  it("says nothing if cancelled, and reports an error", async () => {
    sheet(await file("voice-note-0412.m4a"));
    mock.saveAttachment = async () => null;
    await fireEvent.click(screen.getByTestId("file-save"));
    await waitFor(() => expect((screen.getByTestId("file-save") as HTMLButtonElement).disabled).toBe(false));
    expect(toasts.current).toBeNull();
    mock.saveAttachment = async () => {
      throw failWith("io", "The disk is full.");
    };
    await fireEvent.click(screen.getByTestId("file-save"));
    expect(await screen.findByText("The file wasn’t saved.")).toBeTruthy();
  });

  it("continues if its sheet is closed, and reports path or error", async () => {
    const cancelJob = vi.spyOn(mock, "cancelJob");
    let end: { saved: (path: string) => void; failed: (error: Error) => void };
    mock.saveAttachment = () => new Promise((saved, failed) => (end = { saved, failed }));
    const begin = async () => {
      const { unmount } = sheet(await file("voice-note-0412.m4a"));
      await fireEvent.click(screen.getByTestId("file-save"));
      unmount();
    };
    await begin();
    expect(cancelJob).not.toHaveBeenCalled();
    end!.saved("/home/ines/voice-note-0412.m4a");
    await waitFor(() => expect(toasts.current?.text).toBe("Saved as voice-note-0412.m4a"));
    await begin();
    end!.failed(failWith("disk_full", "Full."));
    await waitFor(() => expect(toasts.current?.text).toContain("disk"));
  });

  it("is not offered for files the vault does not contain", async () => {
    sheet(await file("floorplan-1934.dwg"));
    expect(screen.queryByTestId("file-save")).toBeNull();
    expect(screen.queryByTestId("file-unshown")).toBeNull();
  });
});

it("a file in the reader opens the same sheet, without a link to the conversation", async () => {
  render(DialogHost);
  nav.go("conversations", "c-bath");
  const attachment = { id: "f-3", name: "harmonics_bergen.csv", media_type: "text/csv", size: 88_000, present: true };
  render(Attachment, { attachment });
  await fireEvent.click(screen.getByTestId("reader-file"));
  await waitFor(() => expect(screen.getByTestId("file-text").textContent).toContain("constituent"));
  expect(dialogs.open).toMatchObject({ kind: "file", row: { id: "f-3" } });
  expect(screen.queryByText("Open the conversation")).toBeNull();
});
