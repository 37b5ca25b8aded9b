import { render, screen, waitFor, fireEvent } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import { commands } from "../src/shell/palette/commands";
import App from "../src/shell/App.svelte";
import "../src/shell/Window.svelte";
import { start, type Mock } from "./start-mock";
import { MOCK_PASSPHRASE } from "$lib/ipc/mock";
import { backup } from "$lib/state/backup.svelte";
import { detail } from "$lib/state/detail.svelte";
import { dialogs } from "$lib/state/dialogs.svelte";
import { importing } from "$lib/state/importing.svelte";
import { JobProgress } from "$lib/state/job.svelte";
import { takeOpenRequests } from "$lib/state/open-requests";
import { session } from "$lib/state/session.svelte";
import { toasts } from "$lib/state/toasts.svelte";

let mock: Mock;

describe("files that the system asks to open", () => {
  beforeEach(async () => {
    mock = await start({ open: false });
    session.phase = "starting";
    render(App);
    await waitFor(() => expect(session.phase).toBe("unlock"));
  });

  it("wait for the vault, and are then offered for import", async () => {
    mock.openRequest({ paths: ["/home/ines/Downloads/chatgpt.zip"] });
    const note = await screen.findByTestId("unlock-files");
    expect(note.textContent).toContain("1 item is waiting");
    expect(session.phase).toBe("unlock");
    await fireEvent.input(screen.getByTestId("unlock-passphrase"), { target: { value: MOCK_PASSPHRASE } });
    await fireEvent.click(screen.getByTestId("unlock-submit"));
    await waitFor(() => expect(dialogs.open?.kind).toBe("import"));
    expect(importing.paths).toEqual(["/home/ines/Downloads/chatgpt.zip"]);
  });

  it("are named if they cannot be opened, and nothing else changes", async () => {
    const reasons = ["missing", "no_file", "unreadable"];
    mock.openRequest({ refused: reasons.map((reason) => ({ path: `/tmp/${reason}.zip`, reason })) });
    await waitFor(() => expect(toasts.current).not.toBeNull());
    expect(toasts.current?.text).toContain("missing.zip can’t be found.");
    expect(toasts.current?.text).toContain("no_file.zip is neither a file nor a folder.");
    expect(toasts.current?.text).toContain("unreadable.zip can’t be read.");
    expect(session.phase).toBe("unlock");
    expect(importing.paths).toEqual([]);
  });

  it("may include a vault, which is then the vault to unlock", async () => {
    mock.openRequest({ vault: "/media/disk/Other.mementory" });
    await waitFor(() => expect(session.path).toBe("/media/disk/Other.mementory"));
    expect(session.name).toBe("Other");
  });

  it("may include the vault of the unlock screen on which files were dropped before", async () => {
    const { path } = session;
    mock.drop(["/tmp/a.zip"]);
    await waitFor(() => expect(session.phase).toBe("welcome"));
    mock.openRequest({ vault: path });
    await waitFor(() => expect(session.phase).toBe("unlock"));
    expect(session.path).toBe(path);
    expect(importing.paths).toEqual(["/tmp/a.zip"]);
  });

  it("say why a name or a second vault is refused", async () => {
    mock.openRequest({
      vault: "/tmp/One.mementory",
      refused: [
        { path: "/tmp/caf�.zip", reason: "not_unicode" },
        { path: "/tmp/Two.mementory", reason: "another_vault" },
      ],
    });
    await waitFor(() => expect(session.path).toBe("/tmp/One.mementory"));
    await waitFor(() => expect(toasts.current?.text).toContain("its name is not Unicode text"));
    expect(toasts.current?.text).toContain("Two.mementory is another vault");
  });

  it("wait until a vault is created, because its recovery code is shown once", async () => {
    session.phase = "create";
    mock.openRequest({ paths: ["/tmp/a.zip"] });
    await Promise.resolve();
    expect(importing.paths).toEqual([]);
    session.phase = "welcome";
    await waitFor(() => expect(importing.paths).toEqual(["/tmp/a.zip"]));
  });
});

describe("another vault that the system asks to open", () => {
  const other = "/media/disk/Other.mementory";

  beforeEach(async () => {
    mock = await start();
    session.phase = "starting";
    render(App);
    await waitFor(() => expect(session.phase).toBe("open"));
    await screen.findByTestId("nav-memories");
  });

  const openOther = () => mock.openRequest({ vault: other, paths: ["/tmp/a.zip"] });

  it("is opened at once if there is nothing to lose", async () => {
    openOther();
    await waitFor(() => expect(session.phase).toBe("unlock"));
    expect(session.path).toBe(other);
    expect(importing.paths).toEqual(["/tmp/a.zip"]);
  });

  it("waits for the answer while a form has unsaved edits, which stay if the person declines", async () => {
    detail.keepDraft("m-1", { text: "Half a thought", type: null, tags: [] });
    mock.openRequest({ vault: other });
    const question = await screen.findByTestId("confirm-dialog");
    expect(question.textContent).toContain("Lock Ines and open Other?");
    await fireEvent.click(screen.getByTestId("confirm-cancel"));
    await waitFor(() => expect(screen.queryByTestId("confirm-dialog")).toBeNull());
    expect(session.phase).toBe("open");
    expect(detail.drafts["m-1"]?.text).toBe("Half a thought");

    mock.openRequest({ vault: other });
    await fireEvent.click(await screen.findByTestId("confirm-yes"));
    await waitFor(() => expect(session.phase).toBe("unlock"));
    expect(session.path).toBe(other);
  });

  it("waits for the answer while a backup runs, also when it is chosen in the settings", async () => {
    backup.job = new JobProgress();
    openOther();
    await fireEvent.click(await screen.findByTestId("confirm-cancel"));
    // The files are offered to the vault that stays open.
    await waitFor(() => expect(dialogs.open?.kind).toBe("import"));
    expect(session.phase).toBe("open");
    dialogs.close();
    await fireEvent.click(screen.getByTestId("nav-settings"));
    await fireEvent.click(await screen.findByTestId("settings-vault"));
    mock.chooseVault = () => Promise.resolve(other);
    await fireEvent.click(await screen.findByTestId("vault-open"));
    await fireEvent.click(await screen.findByTestId("confirm-yes"));
    await waitFor(() => expect(session.path).toBe(other));
  });

  it("is opened without an answer if the vault locks while the question is asked", async () => {
    backup.job = new JobProgress();
    mock.openRequest({ vault: other });
    await screen.findByTestId("confirm-dialog");
    mock.lockNow();
    await waitFor(() => expect(session.path).toBe(other));
    expect(session.phase).toBe("unlock");
  });

  it("may be the demonstration, which opens after the same question", async () => {
    backup.job = new JobProgress();
    mock.openRequest({ demonstration: true });
    const question = await screen.findByTestId("confirm-dialog");
    expect(question.textContent).toContain("Lock Ines and open Demonstration?");
    await fireEvent.click(screen.getByTestId("confirm-yes"));
    await screen.findByTestId("demonstration");
  });

  it("changes nothing if it is the open one", async () => {
    backup.job = new JobProgress();
    mock.openRequest({ vault: session.path });
    await waitFor(async () => expect((await mock.takeOpenRequests()).vault).toBeNull());
    expect(dialogs.open).toBeNull();
    expect(session.phase).toBe("open");
  });
});

describe("the demonstration", () => {
  beforeEach(async () => {
    mock = await start({ open: false });
    session.phase = "starting";
    render(App);
    await waitFor(() => expect(session.phase).toBe("unlock"));
    session.phase = "welcome";
  });

  it("opens from the welcome screen, says what it is, and is deleted with one click", async () => {
    await fireEvent.click(await screen.findByTestId("welcome-demo"));
    const banner = await screen.findByTestId("demonstration");
    expect(banner.textContent).toContain("invented");
    await fireEvent.click(screen.getByTestId("demonstration-delete"));
    await screen.findByTestId("welcome-demo");
    expect((await mock.sessionState()).open).toBe(false);
  });

  it("is not deleted with what the person added unless they agree", async () => {
    await fireEvent.click(await screen.findByTestId("welcome-demo"));
    await screen.findByTestId("demonstration");
    await mock.add({ text: "My own words.", type: null, tags: [] });
    await fireEvent.click(screen.getByTestId("demonstration-delete"));
    expect((await screen.findByTestId("confirm-dialog")).textContent).toContain("1 new item");
    await fireEvent.click(screen.getByTestId("confirm-cancel"));
    await waitFor(() => expect(screen.queryByTestId("confirm-dialog")).toBeNull());
    expect((await mock.sessionState()).open).toBe(true);
    await fireEvent.click(screen.getByTestId("demonstration-delete"));
    await fireEvent.click(await screen.findByTestId("confirm-yes"));
    await screen.findByTestId("welcome-demo");
    expect((await mock.sessionState()).open).toBe(false);
  });

  it("is made again on request if it is incomplete or damaged", async () => {
    mock = await start({ open: false, unusableDemonstration: true });
    session.phase = "unlock";
    mock.openRequest({ demonstration: true });
    await takeOpenRequests();
    await fireEvent.click(await screen.findByTestId("demo-remake"));
    await screen.findByTestId("demonstration");
    await session.lock();
    await screen.findByTestId("welcome-demo");
    expect(screen.queryByTestId("demo-unusable")).toBeNull();
  });

  it("offers no change of the passphrase, which nobody is told", async () => {
    await fireEvent.click(await screen.findByTestId("welcome-demo"));
    await screen.findByTestId("demonstration");
    expect(commands().some(({ id }) => id === "passphrase")).toBe(false);
    await fireEvent.click(screen.getByTestId("nav-settings"));
    await fireEvent.click(await screen.findByTestId("settings-security"));
    expect(await screen.findByText(/opens without a passphrase/)).toBeTruthy();
    expect(screen.queryByTestId("settings-passphrase")).toBeNull();
    expect(screen.queryByTestId("settings-recovery")).toBeNull();
  });

  it("offers no backup, which nobody could open", async () => {
    await fireEvent.click(await screen.findByTestId("welcome-demo"));
    await screen.findByTestId("demonstration");
    await fireEvent.click(screen.getByTestId("nav-settings"));
    await fireEvent.click(await screen.findByTestId("settings-vault"));
    expect(await screen.findByText(/^A demonstration can’t be backed up/)).toBeTruthy();
    expect(screen.queryByTestId("backup-run")).toBeNull();
    expect(screen.queryByText(/passphrase and recovery code/)).toBeNull();
  });

  it("is not marked in any other vault", async () => {
    session.opened(await mock.unlock("j", "/home/ines/Documents/Ines.mementory", MOCK_PASSPHRASE, () => undefined));
    await waitFor(() => expect(session.phase).toBe("open"));
    expect(screen.queryByTestId("demonstration")).toBeNull();
  });

  it("leads back to the welcome screen when it locks, since its passphrase is no secret", async () => {
    await fireEvent.click(await screen.findByTestId("welcome-demo"));
    await screen.findByTestId("demonstration");
    expect(screen.queryByTestId("welcome-locked")).toBeNull();
    await session.lock();
    expect(session.phase).toBe("welcome");
  });

  it("says on the welcome screen that it was locked, and how to open it again", async () => {
    await fireEvent.click(await screen.findByTestId("welcome-demo"));
    await screen.findByTestId("demonstration");
    session.locked("idle");
    const note = await screen.findByTestId("welcome-locked");
    expect(note.textContent).toMatch(/Locked at .* without activity\. The demonstration opens again/);
    const again = screen.getByTestId("welcome-demo");
    expect(again.textContent?.trim()).toBe("Open the demonstration again");
    expect([...document.querySelectorAll("main .primary")], "the only main button").toEqual([again]);
    await fireEvent.click(again);
    await screen.findByTestId("demonstration");
    expect(screen.queryByTestId("welcome-locked")).toBeNull();
  });
});
