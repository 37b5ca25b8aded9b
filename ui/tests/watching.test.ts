import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import AttentionList from "../src/features/home/AttentionList.svelte";
import BackgroundImport from "../src/shell/BackgroundImport.svelte";
import WatchedFolders from "../src/features/settings/WatchedFolders.svelte";
import { failWith } from "$lib/ipc/mock/jobs";
import { dialogs } from "$lib/state/dialogs.svelte";
import { importing } from "$lib/state/importing.svelte";
import { nav } from "$lib/state/nav.svelte";
import { session } from "$lib/state/session.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { watching } from "$lib/state/watching.svelte";
import { auditText } from "$lib/text/core";
import { start, type Mock } from "./start-mock";

const EXPORT = "/home/ines/Downloads/chatgpt-export-2026-11-21.zip";
const OTHER = "/home/ines/Downloads/claude-2026-11-21.zip";
let mock: Mock;

beforeEach(async () => {
  mock = await start();
  await mock.onWatched(() => void watching.load());
  await mock.onWatchProgress((progress) => watching.onProgress(progress));
  nav.go("home");
});

const rows = () => screen.findAllByTestId("watched-folder");
const row = (name: string) =>
  waitFor(async () => {
    const found = (await rows()).find((each) => within(each).queryByText(name));
    if (!found) throw new Error(`no row ${name}`);
    return within(found);
  });

describe("watched folders", () => {
  it("are listed with mode, last detected file, and missing folders", async () => {
    render(WatchedFolders);
    const downloads = await row("Downloads");
    expect(downloads.getByText("/home/ines")).toBeTruthy();
    expect(downloads.getByText(/^Last found: chatgpt-export-2026-11-20\.zip, /)).toBeTruthy();
    expect(downloads.getByTestId("watched-mode").textContent?.trim()).toBe("Ask first");
    expect((await row("exports")).getByTestId("watched-mode").textContent?.trim()).toBe("Import automatically");
    const missingFolder = await row("Claude projects");
    expect(missingFolder.getByText("Not found. Is the drive connected?")).toBeTruthy();
    expect(missingFolder.getByTestId("watched-mode").textContent?.trim()).toBe("Paused");
    expect(missingFolder.queryByText(/^Last found: /)).toBeNull();
  });

  it("are added by choosing one, and removed with an Undo that restores the mode", async () => {
    render(WatchedFolders);
    expect(await rows()).toHaveLength(3);
    await fireEvent.click(screen.getByTestId("watched-add"));
    const addedRow = await row("ines");
    expect(addedRow.getByText("Only files that look like an assistant’s export")).toBeTruthy();
    await fireEvent.click((await row("exports")).getByTestId("watched-remove"));
    await waitFor(async () => expect(await rows()).toHaveLength(3));
    expect(toasts.current?.text).toBe("exports is no longer watched.");
    await toasts.undo();
    await waitFor(async () => expect(await rows()).toHaveLength(4));
    expect((await row("exports")).getByTestId("watched-mode").textContent?.trim()).toBe("Import automatically");
  });

  it("report a rejected folder in place, and change nothing if no folder is chosen", async () => {
    render(WatchedFolders);
    await rows();
    vi.spyOn(mock, "chooseFolder").mockResolvedValueOnce(null);
    const requests = vi.spyOn(mock, "watchFolder");
    await fireEvent.click(screen.getByTestId("watched-add"));
    expect(requests).not.toHaveBeenCalled();
    vi.spyOn(mock, "chooseFolder").mockResolvedValueOnce("/home/ines/Ines.mementory");
    await fireEvent.click(screen.getByTestId("watched-add"));
    expect((await screen.findByTestId("watched-problem")).textContent).toContain("is a vault or is inside one");
    expect(await rows()).toHaveLength(3);
  });

  it("change the mode at once, and log it", async () => {
    render(WatchedFolders);
    await rows();
    for (const folder of watching.folders ?? []) await watching.setMode(folder, "paused");
    await waitFor(async () =>
      expect((await row("Downloads")).getByTestId("watched-mode").textContent?.trim()).toBe("Paused"),
    );
    expect(auditText("watch", "own").text).toBe("Import automatically");
  });

  it("are replaced by a message if there are none yet", async () => {
    mock = await start({ empty: true });
    render(WatchedFolders);
    expect(await screen.findByTestId("watched-none")).toBeTruthy();
  });
});

describe("a detected file", () => {
  it("is offered once, and the offer opens the import sheet", async () => {
    await watching.load();
    mock.addFile(EXPORT);
    await waitFor(() =>
      expect(toasts.current?.text).toBe("Found in Downloads: chatgpt-export-2026-11-21.zip, ChatGPT."),
    );
    expect(toasts.current?.action?.label).toBe("Import…");
    await toasts.runAction();
    expect(dialogs.open).toEqual({ kind: "import" });
    expect(importing.paths).toEqual([EXPORT]);
    dialogs.close();
    await watching.load();
    expect(toasts.current).toBeNull();
  });

  it("is not announced over a sheet or if it was waiting already, but is in the list", async () => {
    render(WatchedFolders);
    await rows();
    dialogs.show({ kind: "write" });
    mock.addFile(EXPORT);
    expect(await screen.findByTestId("detected-file")).toBeTruthy();
    expect(toasts.current).toBeNull();
    await fireEvent.click(screen.getByTestId("detected-file-import"));
    expect(dialogs.open).toEqual({ kind: "write" });
    dialogs.close();
    mock.addFile(OTHER, false);
    await waitFor(() => expect(screen.getAllByTestId("detected-file")).toHaveLength(2));
    expect(toasts.current).toBeNull();
  });

  it("leaves the list when it is dismissed, or imported", async () => {
    render(WatchedFolders);
    await rows();
    mock.addFile(EXPORT);
    mock.addFile(OTHER);
    await waitFor(() => expect(screen.getAllByTestId("detected-file")).toHaveLength(2));
    const [latest] = screen.getAllByTestId("detected-file");
    expect(within(latest as HTMLElement).getByText("claude-2026-11-21.zip")).toBeTruthy();
    await fireEvent.click(within(latest as HTMLElement).getByTestId("detected-file-dismiss"));
    await waitFor(() => expect(screen.getAllByTestId("detected-file")).toHaveLength(1));
    await fireEvent.click(screen.getByTestId("detected-file-import"));
    await waitFor(() => expect(importing.stage).toBe("plan"));
    await importing.run();
    await watching.load();
    expect(screen.queryByTestId("detected-file")).toBeNull();
  });

  it("is one row on the home screen, which opens the file or the list", async () => {
    render(AttentionList, { columns: [], incomplete: [] });
    expect(screen.queryByTestId("attention-detected-files")).toBeNull();
    mock.addFile(EXPORT, false);
    await fireEvent.click(await screen.findByTestId("attention-detected-files"));
    expect([dialogs.open, importing.paths]).toEqual([{ kind: "import" }, [EXPORT]]);
    dialogs.close();
    mock.addFile(OTHER, false);
    await waitFor(() => expect(screen.getByTestId("attention-detected-files").textContent).toContain("2"));
    await fireEvent.click(screen.getByTestId("attention-detected-files"));
    expect([nav.section, nav.settingsPage]).toEqual(["settings", "folders"]);
  });

  it("imported automatically is announced once, with its report", async () => {
    await watching.load();
    const before = vault.revision;
    mock.finishImport("claude-2026-11-14.zip");
    await waitFor(() =>
      expect(toasts.current?.text).toBe("claude-2026-11-14.zip was imported automatically. 14 new, 3 updated."),
    );
    expect(vault.revision).toBe(before + 1);
    await toasts.runAction();
    expect(dialogs.open).toEqual({ kind: "report", batch: "batch-claude-2026-11-14.zip" });
    dialogs.close();
    await watching.load();
    expect([toasts.current, vault.revision]).toEqual([null, before + 1]);
  });

  it("shows the progress of an automatic import, which can be cancelled in the list", async () => {
    const cancelJob = vi.spyOn(mock, "cancelJob");
    render(BackgroundImport);
    render(WatchedFolders);
    await rows();
    mock.addFile(EXPORT, false);
    await screen.findByTestId("detected-file-import");
    expect(screen.queryByTestId("automatic-import-bar")).toBeNull();
    mock.reportImportProgress(EXPORT, 0.25);
    const progressBar = await screen.findByTestId("automatic-import-bar");
    expect(progressBar.textContent).toContain("Importing chatgpt-export-2026-11-21.zip");
    expect(screen.queryByTestId("detected-file-import")).toBeNull();
    const progressValues = () => screen.getAllByRole("progressbar").map((each) => each.getAttribute("aria-valuenow"));
    expect(progressValues()).toEqual(["0.25", "0.25"]);
    const requests = vi.spyOn(mock, "watched");
    mock.reportImportProgress(EXPORT, 0.5);
    await waitFor(() => expect(progressValues()).toEqual(["0.5", "0.5"]));
    expect(requests).not.toHaveBeenCalled();
    await fireEvent.click(screen.getByTestId("detected-file-stop"));
    expect(cancelJob).toHaveBeenCalledWith(EXPORT);
    await fireEvent.click(progressBar);
    expect([nav.section, nav.settingsPage]).toEqual(["settings", "folders"]);
    mock.finishImport("chatgpt-export-2026-11-21.zip");
    await waitFor(() => expect(screen.queryByTestId("automatic-import-bar")).toBeNull());
    expect(watching.progress).toBeNull();
  });

  it("is cleared by the lock, and a late answer does not restore it", async () => {
    mock.addFile(EXPORT);
    await waitFor(() => expect(watching.detectedFiles).toHaveLength(1));
    let answer: (found: Awaited<ReturnType<typeof mock.watched>>) => void = () => undefined;
    const overview = await mock.watched();
    vi.spyOn(mock, "watched").mockReturnValueOnce(new Promise((done) => (answer = done)));
    const lateLoad = watching.load();
    session.locked("person");
    expect([watching.detectedFiles, watching.folders]).toEqual([[], null]);
    answer(overview);
    await lateLoad;
    expect(watching.detectedFiles).toEqual([]);
  });

  it("shows nothing if loading fails, and locks the window if the vault is locked", async () => {
    vi.spyOn(mock, "watched").mockRejectedValueOnce(failWith("store", "x"));
    await watching.load();
    expect([session.phase, toasts.current]).toEqual(["open", null]);
    vi.spyOn(mock, "watched").mockRejectedValueOnce(failWith("locked", "x"));
    await watching.load();
    expect(session.phase).toBe("unlock");
  });
});
