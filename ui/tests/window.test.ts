import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import FirstSteps from "../src/features/home/FirstSteps.svelte";
import About from "../src/features/settings/About.svelte";
import SigningKeys from "../src/features/settings/SigningKeys.svelte";
import App from "../src/shell/App.svelte";
import BackgroundImport from "../src/shell/BackgroundImport.svelte";
import { reportActivity } from "../src/shell/user-activity";
import Window from "../src/shell/Window.svelte";
import { useBackend } from "$lib/ipc";
import { mockBackend } from "$lib/ipc/mock";
import { dialogs } from "$lib/state/dialogs.svelte";
import { memories } from "$lib/state/lists.svelte";
import { importing } from "$lib/state/importing.svelte";
import { nav } from "$lib/state/nav.svelte";
import { session } from "$lib/state/session.svelte";
import { clearContent } from "$lib/state/lock-cleanup";
import { toasts } from "$lib/state/toasts.svelte";
import { start, type Mock } from "./start-mock";

const FILES = ["/d/chatgpt-export.zip"];
let mock: Mock;

async function open(options: Parameters<typeof mockBackend>[0], phase: typeof session.phase) {
  clearContent();
  nav.section = "home";
  mock = mockBackend(options);
  useBackend(mock);
  session.phase = "starting";
  render(App);
  await waitFor(() => expect(session.phase).not.toBe("starting"));
  if (phase !== session.phase) session.phase = phase;
}

describe("a file over the window", () => {
  it("does not interrupt creating a vault", async () => {
    await open({ empty: true }, "create");
    await screen.findByTestId("create-name");
    mock.drop(FILES, true);
    expect(screen.queryByTestId("drop-overlay")).toBeNull();
    mock.drop(FILES);
    await waitFor(() => expect(screen.getByTestId("create-name")).toBeTruthy());
    expect([session.phase, importing.paths]).toEqual(["create", []]);
  });

  it("does not replace an open sheet", async () => {
    await open({ open: true }, "open");
    await screen.findByTestId("home-matrix");
    dialogs.show({ kind: "write" });
    mock.drop(FILES, true);
    await Promise.resolve();
    expect(screen.queryByTestId("drop-overlay")).toBeNull();
    mock.drop(FILES);
    expect([dialogs.open?.kind, importing.stage]).toEqual(["write", "idle"]);
  });

  it("is compared with the vault even if that opens before the inspection ends", async () => {
    await open({}, "unlock");
    let release: () => void = () => undefined;
    const detect = mock.detect;
    mock.detect = async (...args) => {
      await new Promise<void>((done) => (release = done));
      return detect(...args);
    };
    mock.drop(FILES);
    await screen.findByTestId("peek");
    session.opened({ ...(await mock.unlock("u", "/v", "harbour copper nineteen kite", () => undefined)) });
    await waitFor(() => expect(dialogs.open?.kind).toBe("import"));
    release();
    await waitFor(() => expect([importing.stage, importing.plans.length]).toEqual(["plan", 1]));
  });

  it("is shown by its literal name, with direction controls spelled out", async () => {
    await open({}, "unlock");
    mock.drop(["/d/\u202egnp.eliforp.zip"]);
    expect((await screen.findByTestId("peek")).querySelector("strong")?.textContent).toBe("[U+202E]gnp.eliforp.zip");
  });

  it("reports a failed inspection, before and after the vault is open", async () => {
    await open({}, "unlock");
    const detect = mock.detect;
    mock.detect = async () => Promise.reject(new Error("the disk is gone"));
    mock.drop(FILES);
    expect((await screen.findByTestId("peek-problem")).textContent).toContain("Something unexpected happened.");
    session.opened(await mock.unlock("u", "/v", "harbour copper nineteen kite", () => undefined));
    expect((await screen.findByTestId("import-error")).textContent).toContain("Something unexpected happened.");
    mock.detect = detect;
    await fireEvent.click(screen.getByText("Try again"));
    await waitFor(() => expect([importing.stage, importing.plans.length]).toEqual(["plan", 1]));
  });
});

describe("importing", () => {
  beforeEach(async () => {
    mock = await start();
  });

  it("shows the sheet as soon as files were chosen", async () => {
    mock.importPreview = () => new Promise(() => undefined);
    render(FirstSteps);
    await fireEvent.click(screen.getByText("Choose files…"));
    await waitFor(() => expect(dialogs.open?.kind).toBe("import"));
  });

  it.each([
    ["failed", "Import failed"],
    ["cancelled", "Import cancelled"],
    ["report", "Import finished. See the report"],
  ] as const)("says in the bar how it ended: %s", async (stage, text) => {
    render(BackgroundImport);
    importing.background = true;
    importing.stage = stage;
    expect((await screen.findByTestId("import-background-bar")).textContent?.trim()).toBe(text);
  });
});

it("writing down a recovery code counts as activity", async () => {
  await open({ empty: true }, "create");
  const recordInput = vi.spyOn(mock, "recordInput");
  vi.spyOn(performance, "now").mockReturnValue(1e9);
  reportActivity();
  expect(recordInput).toHaveBeenCalledTimes(1);
});

describe("a copy in the settings", () => {
  it.each([
    ["key", SigningKeys, "Copy public key"],
    ["details", About, "Copy details"],
  ] as const)("of the %s that the system refuses is shown as refused", async (_what, view, label) => {
    mock = await start();
    const copyText = vi.spyOn(mock, "copyText");
    render(view);
    const copyButton = await screen.findByText(label);
    for (const [answer, icon] of [
      [() => Promise.reject(new Error("no")), "alert"],
      [() => Promise.resolve(), "check"],
    ] as const) {
      copyText.mockImplementation(answer);
      toasts.clear();
      await fireEvent.click(copyButton);
      await waitFor(() => expect(toasts.current?.icon).toBe(icon));
    }
  });
});

describe("the code behind the unlock screen", () => {
  let loaded: (module: { default: typeof Window }) => void;
  let failLoading: (error: Error) => void;
  let shownFirst = false;
  const loadWindow = vi.fn<() => Promise<{ default: typeof Window }>>();
  const unlock = async () =>
    session.opened(await mock.unlock("u", session.path ?? "", "harbour copper nineteen kite", () => undefined));

  beforeEach(async () => {
    mock = await start({ open: false });
    nav.section = "home";
    shownFirst = false;
    loadWindow.mockReset();
    loadWindow.mockImplementation(() => {
      shownFirst = screen.queryByTestId("unlock-passphrase") !== null;
      return new Promise((resolve, reject) => ([loaded, failLoading] = [resolve, reject]));
    });
    render(App, { loadWindow });
  });

  it("is loaded once, after the first screen is shown", async () => {
    const field = await screen.findByTestId("unlock-passphrase");
    await waitFor(() => expect(loadWindow).toHaveBeenCalledTimes(1));
    expect([shownFirst, field.closest("[inert]")]).toEqual([true, null]);
    await unlock();
    loaded({ default: Window });
    await screen.findByTestId("home-matrix");
    expect(loadWindow).toHaveBeenCalledTimes(1);
  });

  it("keeps the unlock screen until it is loaded", async () => {
    const field = await screen.findByTestId("unlock-passphrase");
    await waitFor(() => expect(loadWindow).toHaveBeenCalledTimes(1));
    await unlock();
    await waitFor(() => expect(screen.getByTestId("unlock-submit").getAttribute("aria-busy")).toBe("true"));
    expect(screen.getByTestId("unlock-passphrase")).toBe(field);
    expect(field.closest("[inert]")).not.toBeNull();
    loaded({ default: Window });
    await screen.findByTestId("home-matrix");
    expect(screen.queryByTestId("unlock-passphrase")).toBeNull();
  });

  it("says if it cannot be loaded, once the vault is open, and can lock the vault", async () => {
    await screen.findByTestId("unlock-passphrase");
    await waitFor(() => expect(loadWindow).toHaveBeenCalledTimes(1));
    failLoading(new Error("the file is gone"));
    expect(screen.queryByTestId("window-problem")).toBeNull();
    await unlock();
    expect((await screen.findByTestId("window-problem")).textContent).toContain("could not be loaded");
    await fireEvent.click(screen.getByTestId("window-lock"));
    await screen.findByTestId("unlock-passphrase");
    expect((await mock.sessionState()).open).toBe(false);
  });
});

describe("the list of memories", () => {
  it("announces its number once it is stable", async () => {
    await open({ open: true }, "open");
    nav.go("memories");
    await waitFor(() => expect(memories.total).toBeGreaterThan(2));
    const shownText = () => [...document.querySelectorAll("[role=status]")].map((each) => each.textContent);
    await waitFor(() => expect(shownText()).toContain(`${memories.total} memories`), { timeout: 5000 });
  });
});
