import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { tick } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import ConversationRow from "../src/features/conversations/ConversationRow.svelte";
import MemoryRow from "../src/features/memories/MemoryRow.svelte";
import Appearance from "../src/features/settings/Appearance.svelte";
import RecoverySheet from "../src/features/settings/RecoverySheet.svelte";
import FormatsSheet from "../src/features/settings/FormatsSheet.svelte";
import LicencesSheet from "../src/features/settings/LicencesSheet.svelte";
import Security from "../src/features/settings/Security.svelte";
import VaultAndBackup from "../src/features/settings/VaultAndBackup.svelte";
import RecoveryCopy from "../src/features/start/RecoveryCopy.svelte";
import { codeOf } from "$lib/ipc";
import { failWith } from "$lib/ipc/mock/jobs";
import { MOCK_PASSPHRASE } from "$lib/ipc/mock";
import { item } from "$lib/ipc/mock/data";
import { setCopyHandler } from "$lib/logic/copy-handler";
import { isLinux } from "$lib/logic/operating-system";
import { appearance } from "$lib/state/appearance.svelte";
import { copyWithToast, copyText } from "$lib/state/clipboard";
import { dialogs } from "$lib/state/dialogs.svelte";
import type { Row } from "$lib/state/records.svelte";
import { session } from "$lib/state/session.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { clock, longDay } from "$lib/text/format";
import CodeBlock from "$lib/ui/CodeBlock.svelte";
import { start, type Mock } from "./start-mock";

const CODE = "ABCD-EFGH-JKLM-NPQR-STVW-XYZ2-3456-789A";
let mock: Mock;

beforeEach(async () => {
  mock = await start();
});

const type = (id: string, value: string) => fireEvent.input(screen.getByTestId(id), { target: { value } });
const click = (id: string) => fireEvent.click(screen.getByTestId(id));

describe("a new recovery code", () => {
  it("is created with the passphrase, shown once, and accepted when two groups were typed back", async () => {
    const { recovery_code: before } = await mock.newRecoveryCode(MOCK_PASSPHRASE);
    dialogs.show({ kind: "recovery" });
    render(RecoverySheet);
    await type("recovery-present", "not this one");
    await click("recovery-make");
    await waitFor(() => expect(screen.getByTestId("recovery-present").getAttribute("aria-invalid")).toBe("true"));
    expect(screen.queryByTestId("recovery-code")).toBeNull();

    await type("recovery-present", MOCK_PASSPHRASE);
    await click("recovery-make");
    const codeGroups = within(await screen.findByTestId("recovery-code"))
      .getAllByRole("listitem")
      .map((group) => group.textContent ?? "");
    expect(codeGroups).toHaveLength(8);
    expect(codeGroups.join("-")).not.toBe(before);
    const doneButton = screen.getByTestId("recovery-done") as HTMLButtonElement;
    expect(doneButton.disabled).toBe(true);
    expect(screen.queryByRole("button", { name: "Close" })).toBeNull();
    for (const id of ["recovery-group-a", "recovery-group-b"])
      await type(id, codeGroups[Number(screen.getByTestId(id).dataset.group) - 1] ?? "");
    await waitFor(() => expect(doneButton.disabled).toBe(false));
    await fireEvent.click(doneButton);
    expect(dialogs.open).toBeNull();
    expect(toasts.current?.text).toContain("The new code is valid now.");
    await mock.lock();
    expect(await mock.unlock("u", "/home/ines/Documents/Ines.mementory", before, () => undefined).catch(codeOf)).toBe(
      "wrong_passphrase",
    );
    await mock.unlock("u", "/home/ines/Documents/Ines.mementory", codeGroups.join("-"), () => undefined);
  });

  it("changes the date shown for the code, not the one for the passphrase", async () => {
    render(Security);
    const { slots } = await mock.keySlots();
    const createdDay = longDay(slots[0]?.created_at);
    expect(
      await screen.findByText(`Set ${createdDay}. If you change it, your recovery code stays valid.`),
    ).toBeTruthy();
    expect(screen.getByText(`Created ${createdDay}. A new code replaces the old one.`)).toBeTruthy();
    await click("settings-recovery");
    expect(dialogs.open?.kind).toBe("recovery");
    await mock.newRecoveryCode(MOCK_PASSPHRASE);
    dialogs.close();
    expect(await screen.findByText(`Created ${longDay(Date.now())}. A new code replaces the old one.`)).toBeTruthy();
    expect(screen.getByText(`Set ${createdDay}. If you change it, your recovery code stays valid.`)).toBeTruthy();
  });
});

describe("copied text", () => {
  afterEach(() => appearance.setClearCopied("30"));

  it("is cleared after the chosen time, and the choice is stored", async () => {
    const setPreference = vi.spyOn(mock, "setPreference");
    const copyCalls = vi.spyOn(mock, "copyText");
    render(Security);
    const shownChoice = () => screen.getByTestId("settings-clear-copied").textContent?.trim();
    for (const [choice, label, value, seconds] of [
      ["120", "After 2 minutes", "120", 120],
      ["never", "Never", "never", null],
      ["30", "After 30 seconds", null, 30],
    ] as const) {
      appearance.setClearCopied(choice);
      await waitFor(() => expect(shownChoice()).toBe(label));
      expect(setPreference).toHaveBeenLastCalledWith("clear-copied", value);
      await copyWithToast("words");
      expect(copyCalls).toHaveBeenLastCalledWith("words", seconds);
    }
  });

  it("is cleared after 30 seconds if it is a recovery code, whatever was chosen", async () => {
    const copyCalls = vi.spyOn(mock, "copyText");
    appearance.setClearCopied("never");
    render(RecoveryCopy, { code: CODE, name: "Ines", groupsMatch: false });
    await fireEvent.click(screen.getByText("Copy"));
    expect(copyCalls.mock.calls).toEqual([[CODE, 30]]);
    await waitFor(() =>
      expect(toasts.current?.text).toBe("Copied. It is cleared from the clipboard after 30 seconds."),
    );

    copyCalls.mockRejectedValue(failWith("no_clipboard", "The clipboard can't be used."));
    await fireEvent.click(screen.getByText("Copy"));
    await waitFor(() => expect(toasts.current?.text).toContain("The clipboard isn’t available."));
  });

  it("is copied in the same way from a code block, which confirms only a success", async () => {
    const copyCalls = vi.spyOn(mock, "copyText").mockRejectedValueOnce(failWith("no_clipboard", "No."));
    setCopyHandler(copyText);
    render(CodeBlock, { text: "let a = 1", language: "js" });
    await fireEvent.click(screen.getByText("Copy"));
    expect(copyCalls).toHaveBeenLastCalledWith("let a = 1", 30);
    await tick();
    expect(screen.queryByText("Copied")).toBeNull();
    await fireEvent.click(screen.getByText("Copy"));
    expect(await screen.findByText("Copied")).toBeTruthy();
  });
});

describe("window guards", () => {
  const isOn = (id: string) => screen.getByTestId(id).getAttribute("aria-checked") === "true";

  it("shows which guards work on this system, and switches only those", async () => {
    for (const [system, away, hide] of [
      ["linux", "", "Works on macOS and Windows. Linux has no such protection."],
      ["windows", "On this system, the vault locks when the computer wakes up.", "Works on macOS and Windows."],
      [
        "macos",
        "On this system, the vault locks when the computer wakes up.",
        "From macOS 15 on, some programs can still record",
      ],
    ] as const) {
      await start({ system });
      const { container, unmount } = render(Security);
      const hideSwitch = (await screen.findByTestId("settings-hide")) as HTMLButtonElement;
      expect([hideSwitch.disabled, isOn("settings-hide")]).toEqual([system === "linux", system !== "linux"]);
      expect(isOn("settings-lock-away")).toBe(true);
      expect(container.textContent).toContain(hide);
      expect(container.textContent.includes("On this system, the vault locks")).toBe(away !== "");
      expect(container.textContent).toContain(away);
      unmount();
    }
  });

  it("keeps a changed switch, and reverts a rejected one", async () => {
    const onWindows = await start({ system: "windows" });
    const { unmount } = render(Security);
    await screen.findByTestId("settings-hide");
    for (const id of ["settings-lock-away", "settings-hide"]) {
      await click(id);
      await waitFor(() => expect(isOn(id)).toBe(false));
    }
    expect(await onWindows.windowGuards()).toMatchObject({ lock_when_away: false, hide_from_capture: false });
    unmount();

    vi.spyOn(onWindows, "setHideFromCapture").mockRejectedValue(failWith("io", "No."));
    render(Security);
    await screen.findByTestId("settings-hide");
    expect([isOn("settings-lock-away"), isOn("settings-hide")]).toEqual([false, false]);
    await click("settings-hide");
    await waitFor(() => expect(toasts.current?.text).toBeTruthy());
    expect(isOn("settings-hide")).toBe(false);
  });
});

describe("the vault and its backup", () => {
  it("backs up to a new named folder, and shows what was written and when", async () => {
    await vault.refresh();
    render(VaultAndBackup);
    expect(await screen.findByText("No backup of this vault is known.")).toBeTruthy();
    expect(screen.getByText("/home/ines/Documents/Ines.mementory")).toBeTruthy();
    const backup = vi.spyOn(mock, "backup");
    await click("backup-run");
    const note = await screen.findByTestId("backup-done");
    const backupPath = backup.mock.calls[0]?.[1] ?? "";
    expect(backupPath).toMatch(/^\/home\/ines\/Ines \d{4}-\d\d-\d\d \d{4}\.mementory$/);
    expect(note.textContent).toContain("1.9 GB");
    expect(note.textContent).toContain(backupPath.split("/").pop());
    expect(screen.getByText(/^Last backed up /)).toBeTruthy();
  });

  it("reports a failed backup, and says nothing if no folder was chosen", async () => {
    render(VaultAndBackup);
    vi.spyOn(mock, "chooseFolder").mockResolvedValueOnce(null);
    const backup = vi.spyOn(mock, "backup").mockRejectedValue(failWith("disk_full", "The disk is full."));
    await click("backup-run");
    expect(backup).not.toHaveBeenCalled();
    await click("backup-run");
    expect((await screen.findByRole("alert")).textContent).toContain("No backup was made.");
    expect(screen.getByText("No backup of this vault is known.")).toBeTruthy();
  });

  it("removes a vault from the list, and opens another vault only after it locked the open one", async () => {
    render(VaultAndBackup);
    await fireEvent.click(await screen.findByTestId("vault-forget"));
    await waitFor(() => expect(screen.queryByText("Family")).toBeNull());
    vi.spyOn(mock, "chooseVault").mockResolvedValue("/media/backup/Old.mementory");
    const lock = vi.spyOn(mock, "lock");
    await click("vault-open");
    await waitFor(() => expect(session.path).toBe("/media/backup/Old.mementory"));
    expect(lock).toHaveBeenCalled();
    expect(session.phase).toBe("unlock");
  });
});

describe("appearance", () => {
  const row = {
    ...item("m-9", "memory", "chatgpt", "Prefers short answers.", 3, { sensitive: true, title: "Short answers" }),
    snippet: null,
    highlights: [],
  } as unknown as Row;
  const rowProps = { selecting: false, checked: false, oncheck: () => undefined };

  it("shows times as usual in the system's region, unless 12 or 24 hours are chosen, and stores the choice", async () => {
    const setPreference = vi.spyOn(mock, "setPreference");
    render(Appearance);
    const eveningMs = new Date(2026, 10, 21, 21, 5).getTime();
    expect(appearance.hours).toBe("system");
    for (const [region, language, usual] of [
      ["en-US", "en", /^0?9:05\s?pm$/i],
      ["en-GB", "en", /^21:05$/],
      ["de-DE", "de", /^21:05$/],
      ["ja-JP", "ja", /^21:05$/],
    ] as const) {
      vi.spyOn(navigator, "languages", "get").mockReturnValue([region]);
      await appearance.setLanguage(language);
      expect(clock(eveningMs)).toMatch(usual);
      appearance.setHours("12");
      expect(clock(eveningMs)).toMatch(/9:05/);
      expect(setPreference).toHaveBeenLastCalledWith("hours", "12");
      appearance.setHours("24");
      expect(clock(eveningMs)).toBe("21:05");
      expect(setPreference).toHaveBeenLastCalledWith("hours", "24");
      appearance.setHours("system");
      expect(clock(eveningMs)).toMatch(usual);
      expect(setPreference).toHaveBeenLastCalledWith("hours", null);
    }
    vi.restoreAllMocks();
    await appearance.setLanguage("system");
  });

  it.runIf(isLinux)("switches notifications of the desktop off and on, where the program can show them", async () => {
    const setPreference = vi.spyOn(mock, "setPreference");
    render(Appearance);
    await click("settings-notifications");
    expect(appearance.notifications).toBe(false);
    expect(setPreference).toHaveBeenLastCalledWith("notifications", "off");
    await click("settings-notifications");
    expect(setPreference).toHaveBeenLastCalledWith("notifications", null);
  });

  it("applies blur and reduced motion to the whole window at once, and reverts them", async () => {
    render(Appearance);
    const root = document.documentElement.dataset;
    for (const [id, name, value] of [
      ["settings-blur", "blur", "on"],
      ["settings-motion", "motion", "less"],
    ] as const) {
      await click(id);
      expect(root[name]).toBe(value);
      await click(id);
      expect(root[name]).toBeUndefined();
    }
  });

  it("shows rows in one line, with unchanged text for screen readers", async () => {
    const twoLineRow = render(MemoryRow, { row, ...rowProps });
    const shownText = twoLineRow.container.querySelector(".meta")?.textContent ?? "";
    expect(shownText).toContain("ChatGPT");
    twoLineRow.unmount();
    appearance.setListRows("one");
    const oneLineRow = render(MemoryRow, { row, ...rowProps });
    const meta = oneLineRow.container.querySelector(".meta");
    expect(meta?.textContent).toBe(shownText);
    expect(meta?.classList.contains("visually-hidden")).toBe(true);
    oneLineRow.unmount();
    // A row of a search still shows its hit, also with one line per row.
    const rowWithoutHit = render(ConversationRow, { row, ...rowProps });
    expect(rowWithoutHit.container.textContent).not.toContain("Prefers short answers.");
    rowWithoutHit.unmount();
    const rowWithHit = render(ConversationRow, { row: { ...row, snippet: "Prefers short answers." }, ...rowProps });
    expect(rowWithHit.container.textContent).toContain("Prefers short answers.");
    appearance.setListRows("two");
  });
});

describe("about", () => {
  it("lists the formats that the core has, each with what the core does with it", async () => {
    const coreFormats = ["archives", "interchange", "agents", "engines", "files", "vendor"]
      .map((name) => join(__dirname, `../../src-tauri/crates/mementory-formats-${name}/src`))
      .flatMap((core) =>
        readdirSync(core, { recursive: true, encoding: "utf8" }).map((file) => [file, join(core, file)] as const),
      )
      .filter(([file]) => file.endsWith("mod.rs"))
      .flatMap(([file, path]) => {
        const text = readFileSync(path, "utf8");
        if (!text.includes("impl Format for")) return [];
        const stringFrom = (name: string) => new RegExp(`fn ${name}\\(&self\\)[^{]*{\\s*"([^"]+)"`).exec(text)?.[1];
        const capabilitiesSource = /fn capabilities[^]*?default\(\)/.exec(text)?.[0] ?? "";
        const hasCapability = (what: string) => capabilitiesSource.includes(`${what}: true`);
        // The id is a string in `fn id`, or the constant `FORMAT` of the same file, or else the name of the folder.
        const id = stringFrom("id") ?? /const FORMAT: &str = "([^"]+)"/.exec(text)?.[1] ?? dirname(file);
        return {
          id,
          name: stringFrom("name"),
          read: hasCapability("read"),
          write: hasCapability("write"),
          signs: hasCapability("signs"),
          encrypts: hasCapability("encrypts"),
        };
      });
    const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id);
    expect((await mock.formats()).sort(byId)).toEqual(coreFormats.sort(byId));
    render(FormatsSheet);
    expect(await screen.findAllByTestId("format-row")).toHaveLength(coreFormats.length);
  });

  it("names what is in the program, and its own licence", async () => {
    render(LicencesSheet);
    const sheet = await screen.findByTestId("licences-sheet");
    await fireEvent.click(await within(sheet).findByText("Mementory’s own licence"));
    expect(sheet.textContent).toContain("MIT License");
    await fireEvent.click(within(sheet).getByText("In the user interface"));
    expect(sheet.textContent).toMatch(/svelte \d+\.\d+\.\d+MIT/);
    expect(sheet.textContent).not.toContain("vitest");
  });
});
