import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import RecoverySheet from "../src/features/settings/RecoverySheet.svelte";
import Security from "../src/features/settings/Security.svelte";
import { codeOf, useBackend } from "$lib/ipc";
import { mockBackend, MOCK_PASSPHRASE } from "$lib/ipc/mock";
import { dialogs } from "$lib/state/dialogs.svelte";
import { session } from "$lib/state/session.svelte";
import { clearContent } from "$lib/state/scope";
import { toasts } from "$lib/state/toasts.svelte";
import { longDay } from "$lib/text/format";

let mock = mockBackend({ open: true });

beforeEach(async () => {
  clearContent();
  mock = mockBackend({ open: true });
  useBackend(mock);
  session.opened(await mock.sessionState());
});

const type = (id: string, value: string) => fireEvent.input(screen.getByTestId(id), { target: { value } });
const click = (id: string) => fireEvent.click(screen.getByTestId(id));

describe("a new recovery code", () => {
  it("is made with the passphrase, shown once, and kept when two groups were typed back", async () => {
    const { recovery_code: before } = await mock.newRecoveryCode(MOCK_PASSPHRASE);
    dialogs.show({ kind: "recovery" });
    render(RecoverySheet);
    await type("recovery-present", "not this one");
    await click("recovery-make");
    await waitFor(() => expect(screen.getByTestId("recovery-present").getAttribute("aria-invalid")).toBe("true"));
    expect(screen.queryByTestId("recovery-code")).toBeNull();

    await type("recovery-present", MOCK_PASSPHRASE);
    await click("recovery-make");
    const shown = within(await screen.findByTestId("recovery-code"))
      .getAllByRole("listitem")
      .map((group) => group.textContent ?? "");
    expect(shown).toHaveLength(8);
    expect(shown.join("-")).not.toBe(before);
    const done = screen.getByTestId("recovery-done") as HTMLButtonElement;
    expect(done.disabled).toBe(true);
    expect(screen.queryByRole("button", { name: "Close" })).toBeNull();
    for (const id of ["recovery-group-a", "recovery-group-b"])
      await type(id, shown[Number(screen.getByTestId(id).dataset.group) - 1] ?? "");
    await waitFor(() => expect(done.disabled).toBe(false));
    await fireEvent.click(done);
    expect(dialogs.open).toBeNull();
    expect(toasts.current?.text).toContain("The new code is in force.");
    await mock.lock();
    expect(await mock.unlock("/home/ines/Documents/Ines.keepsake", before).catch(codeOf)).toBe("wrong_passphrase");
    await mock.unlock("/home/ines/Documents/Ines.keepsake", shown.join("-"));
  });

  it("moves its own date and not the passphrase’s", async () => {
    render(Security);
    const { slots } = await mock.keySlots();
    const made = longDay(slots[0]?.created_at);
    expect(await screen.findByText(`Set ${made}. Changing it keeps the recovery code.`)).toBeTruthy();
    expect(screen.getByText(`Made ${made}. A new code replaces the old one.`)).toBeTruthy();
    await click("settings-recovery");
    expect(dialogs.open?.kind).toBe("recovery");
    await mock.newRecoveryCode(MOCK_PASSPHRASE);
    dialogs.close();
    expect(await screen.findByText(`Made ${longDay(Date.now())}. A new code replaces the old one.`)).toBeTruthy();
    expect(screen.getByText(`Set ${made}. Changing it keeps the recovery code.`)).toBeTruthy();
  });
});
