import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import Unlock from "../src/features/start/Unlock.svelte";
import { start, type Mock } from "./start-mock";
import { BackendError, useBackend } from "$lib/ipc";
import { mockBackend, MOCK_PASSPHRASE } from "$lib/ipc/mock";
import { dialogs } from "$lib/state/dialogs.svelte";
import { nav } from "$lib/state/nav.svelte";
import { session } from "$lib/state/session.svelte";
import { toasts } from "$lib/state/toasts.svelte";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
});

const type = (id: string, value: string) => fireEvent.input(screen.getByTestId(id), { target: { value } });

const VAULT_PATH = "/home/ines/Documents/Ines.mementory";

describe("unlock", () => {
  beforeEach(async () => {
    mock = await start({ open: false });
    session.opened({ ...(await mock.sessionState()), path: VAULT_PATH });
    session.locked("person");
  });

  async function attempt(secret: string) {
    await type("unlock-passphrase", secret);
    await fireEvent.click(screen.getByTestId("unlock-submit"));
  }

  it("begins with the first section, unless it is the vault that was open before", async () => {
    const state = { ...(await mock.sessionState()), vault_id: "first" };
    session.opened(state);
    nav.open("files");
    session.opened(state);
    expect(nav.section).toBe("files");
    session.locked("person");
    session.opened({ ...state, path: "/home/ines/Other.mementory", vault_id: "another" });
    expect(nav.section).toBe("home");
  });

  it("explains a wrong passphrase in full, and empties the field", async () => {
    render(Unlock);
    await attempt("nope");
    const error = await screen.findByTestId("unlock-error");
    expect(error.textContent).toContain("That passphrase doesn’t open this vault.");
    expect(error.textContent).toContain("The vault itself is fine.");
    expect((screen.getByTestId("unlock-passphrase") as HTMLInputElement).value).toBe("");
  });

  it.each([
    ["vault_damaged", "2 pages of the vault"],
    ["vault_missing", "can’t be found"],
    ["vault_in_use", "Close the window, or wait until the command ends."],
    ["newer_schema", "newer version of Mementory"],
  ])("explains %s with a text of its own", async (failing, text) => {
    useBackend(mockBackend({ failing }));
    render(Unlock);
    await attempt("anything");
    expect((await screen.findByTestId("unlock-error")).textContent).toContain(text);
  });

  it.each([
    [{ erasures_reapplied: 2 }, /something was erased from the vault 2 times/],
    [{ erasure_ledger: "none" }, /has no list of what was erased/],
    [{ erasures_reapplied: 1, erasure_ledger: "failed" }, /could not be erased from this copy/],
    [{}, null],
  ])("says what the list of erasures did: %o", async (answer, shownText) => {
    mock.unlock = async () => ({ ...(await mock.sessionState()), open: true, path: VAULT_PATH, ...answer });
    render(Unlock);
    await attempt("anything");
    await waitFor(() => expect(session.phase).toBe("open"));
    const shown = toasts.current?.text ?? null;
    if (shownText === null) expect(shown).toBeNull();
    else expect(shown).toMatch(shownText);
  });

  it("offers a new passphrase to a person who needed the recovery code", async () => {
    mock.unlock = async () => ({ ...(await mock.sessionState()), open: true, path: VAULT_PATH });
    render(Unlock);
    await fireEvent.click(await screen.findByTestId("unlock-use-code"));
    const groups = document.querySelectorAll("input");
    await fireEvent.paste(groups[0]!, { clipboardData: { getData: () => "K7PM-2XQD-W9RA-HT4C-N6VE-3BJY-F8ZK-QM5G" } });
    await fireEvent.click(screen.getByTestId("unlock-submit"));
    await waitFor(() => expect(toasts.current?.text).toContain("Unlocked with the recovery code."));
    await toasts.runAction();
    expect(dialogs.open?.kind).toBe("passphrase");
  });

  it("shows the number of damaged pages only if counted", async () => {
    const mock = mockBackend({ open: false });
    mock.unlock = async () =>
      Promise.reject(new BackendError({ code: "vault_damaged", message: "cut off", details: { place: "store.db" } }));
    useBackend(mock);
    render(Unlock);
    await attempt("anything");
    const error = await screen.findByTestId("unlock-error");
    expect(error.textContent).toContain("A check found damage in this vault.");
    expect(error.textContent).not.toMatch(/\d/);
    expect(screen.getByTestId("unlock-use-code"), "it isn't known that the passphrase is right").toBeTruthy();
  });

  it("links from a damaged vault to its backups, and lets the person choose a backup elsewhere", async () => {
    const mock = mockBackend({ failing: "vault_damaged" });
    useBackend(mock);
    render(Unlock);
    expect(screen.getByTestId("unlock-use-code")).toBeTruthy();
    await attempt("anything");
    await fireEvent.click(await screen.findByTestId("unlock-open-backup"));
    expect(screen.queryByTestId("unlock-use-code"), "the code would not help: the passphrase is right").toBeNull();
    const found = await screen.findAllByTestId("unlock-backup");
    expect(found.map((each) => each.textContent)).toEqual([
      expect.stringContaining("Ines 2026-11-15 0912"),
      expect.stringContaining("Ines 2026-10-30 1840"),
    ]);
    expect(document.activeElement).toBe(found[0]);
    mock.chooseVault = async () => null;
    await fireEvent.click(screen.getByTestId("unlock-other-backup"));
    expect(session.path, "a cancelled dialog changes nothing").toBe(VAULT_PATH);
    await fireEvent.click(found[1]!);
    expect([session.phase, session.name]).toEqual(["unlock", "Ines 2026-10-30 1840"]);
    expect(session.path).toBe("/home/ines/Documents/Ines 2026-10-30 1840.mementory");
    expect(screen.queryByTestId("unlock-error"), "the error of the damaged vault is gone").toBeNull();
  });

  it("shows why the search index is rebuilt and its progress, and can be cancelled", async () => {
    const mock = mockBackend({ open: false });
    let endUnlock: (error: Error) => void = () => undefined;
    const cancelledJobs: string[] = [];
    mock.unlock = (_id, _path, _secret, onProgress) => {
      onProgress({ stage: "index_damaged", done: 30, total: 120, unit: "records", records: 0 });
      return new Promise((_, reject) => (endUnlock = reject));
    };
    mock.cancelJob = async (id) => {
      cancelledJobs.push(id);
      endUnlock(new BackendError({ code: "cancelled", message: "", details: {} }));
    };
    useBackend(mock);
    render(Unlock);
    await attempt("anything");
    const shown = await screen.findByTestId("unlock-index");
    expect(shown.textContent).toContain("The search index is damaged.");
    expect(shown.textContent).toContain("It is being rebuilt from your vault. Nothing is lost.");
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("0.25");
    await fireEvent.click(screen.getByTestId("unlock-stop"));
    expect(await screen.findByTestId("unlock-stopped")).toBeTruthy();
    expect(cancelledJobs).toHaveLength(1);
    expect([session.phase, screen.queryByTestId("unlock-error")]).toEqual(["unlock", null]);
  });

  it("pauses for 5 seconds after 5 failed attempts, and says so", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const { unmount } = render(Unlock);
    for (let n = 1; n <= 5; n += 1) {
      await attempt("nope");
      await vi.waitFor(() => expect(session.failures).toBe(n));
      await vi.waitFor(() => expect(screen.getByTestId("unlock-submit").getAttribute("aria-busy")).toBeNull());
    }
    await vi.waitFor(() => expect(screen.getByText(/try again in 5 seconds/)).toBeTruthy());
    expect((screen.getByTestId("unlock-submit") as HTMLButtonElement).disabled).toBe(true);
    await vi.advanceTimersByTimeAsync(2000);
    unmount();
    session.showUnlock("/media/backup/Family.mementory");
    session.showUnlock(VAULT_PATH);
    render(Unlock);
    expect(screen.getByText(/try again in 3 seconds/), "coming back does not shorten the pause").toBeTruthy();
    expect((screen.getByTestId("unlock-submit") as HTMLButtonElement).disabled).toBe(true);
    await vi.advanceTimersByTimeAsync(3200);
    expect((screen.getByTestId("unlock-submit") as HTMLButtonElement).disabled).toBe(false);
    vi.useRealTimers();
  });

  it("opens with the passphrase", async () => {
    render(Unlock);
    await attempt(MOCK_PASSPHRASE);
    await waitFor(() => expect(session.phase).toBe("open"));
  });
});

describe("unlock by code or passphrase", () => {
  beforeEach(async () => {
    mock = await start({ open: false });
    session.showUnlock("/home/ines/Documents/Ines.mementory");
  });

  it("tries neither a passphrase as a code nor a code as a passphrase", async () => {
    const unlockCalls = vi.spyOn(mock, "unlock");
    render(Unlock);
    await fireEvent.click(screen.getByTestId("unlock-use-code"));
    await fireEvent.click(screen.getByTestId("unlock-submit"));
    await fireEvent.input(screen.getAllByTestId("unlock-group")[0]!, { target: { value: "K7PM" } });
    await fireEvent.click(screen.getByTestId("unlock-use-passphrase"));
    expect((screen.getByTestId("unlock-passphrase") as HTMLInputElement).value).toBe("");
    await fireEvent.click(screen.getByTestId("unlock-submit"));
    expect(unlockCalls).not.toHaveBeenCalled();
  });

  it("goes back to the passphrase after a wrong code", async () => {
    render(Unlock);
    await fireEvent.click(screen.getByTestId("unlock-use-code"));
    await fireEvent.input(screen.getAllByTestId("unlock-group")[0]!, { target: { value: "K7PM" } });
    await fireEvent.click(screen.getByTestId("unlock-submit"));
    await screen.findByTestId("unlock-error");
    await fireEvent.click(screen.getByTestId("unlock-use-passphrase"));
    expect(screen.getByTestId("unlock-passphrase")).toBeTruthy();
    expect(screen.queryByTestId("unlock-error")).toBeNull();
  });

  it("says that a job still runs, until it ends", async () => {
    let release: () => void = () => undefined;
    mock.lock = () => new Promise<void>((done) => (release = done));
    session.phase = "open";
    const locking = session.lock();
    render(Unlock);
    expect(screen.queryByTestId("unlock-finishing")).toBeNull();
    expect((await screen.findByTestId("unlock-finishing")).textContent).toContain("finished or undone first");
    release();
    await locking;
    await waitFor(() => expect(screen.queryByTestId("unlock-finishing")).toBeNull());
  });
});
