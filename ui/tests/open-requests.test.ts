import { render, screen, waitFor, fireEvent } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import { actions } from "../src/shell/palette/commands";
import App from "../src/shell/App.svelte";
import "../src/shell/Window.svelte";
import { start, type Mock } from "./start-mock";
import { MOCK_PASSPHRASE } from "$lib/ipc/mock";
import { dialogs } from "$lib/state/dialogs.svelte";
import { importing } from "$lib/state/importing.svelte";
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

  it("a vault among them is the one to unlock", async () => {
    mock.openRequest({ vault: "/media/disk/Other.mementory" });
    await waitFor(() => expect(session.path).toBe("/media/disk/Other.mementory"));
    expect(session.name).toBe("Other");
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

  it("offers no change of the passphrase, which nobody is told", async () => {
    await fireEvent.click(await screen.findByTestId("welcome-demo"));
    await screen.findByTestId("demonstration");
    expect(actions().some(({ id }) => id === "passphrase")).toBe(false);
    await fireEvent.click(screen.getByTestId("nav-settings"));
    await fireEvent.click(await screen.findByTestId("settings-security"));
    expect(await screen.findByText(/opens without a passphrase/)).toBeTruthy();
    expect(screen.queryByTestId("settings-passphrase")).toBeNull();
    expect(screen.queryByTestId("settings-recovery")).toBeNull();
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

  it("says there that it was locked, and how to open it again", async () => {
    await fireEvent.click(await screen.findByTestId("welcome-demo"));
    await screen.findByTestId("demonstration");
    session.locked("idle");
    const note = await screen.findByTestId("welcome-locked");
    expect(note.textContent).toMatch(/Locked at .* without activity/);
    expect(note.textContent).toContain("without a passphrase");
    await fireEvent.click(screen.getByTestId("welcome-demo"));
    await screen.findByTestId("demonstration");
    expect(screen.queryByTestId("welcome-locked")).toBeNull();
  });
});
