import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { tick } from "svelte";
import { beforeEach, describe, expect, it } from "vitest";
import AskPassphrase from "../src/features/importing/AskPassphrase.svelte";
import PassphraseSheet from "../src/features/settings/PassphraseSheet.svelte";
import RecoverySheet from "../src/features/settings/RecoverySheet.svelte";
import Create from "../src/features/start/Create.svelte";
import Unlock from "../src/features/start/Unlock.svelte";
import { MOCK_PASSPHRASE } from "$lib/ipc/mock";
import { dialogs } from "$lib/state/dialogs.svelte";
import { session } from "$lib/state/session.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
  session.path = "/home/ines/Documents/Ines.mementory";
});

const type = (id: string, value: string) => fireEvent.input(screen.getByTestId(id), { target: { value } });
const button = (id: string) => screen.getByTestId(id) as HTMLButtonElement;
/** Returns the reason why a button is disabled, or an empty text if the button is enabled. */
const reasonOf = (id: string) => {
  const reasonId = button(id).getAttribute("aria-describedby");
  const reason = document.getElementById(reasonId ?? "")?.textContent ?? null;
  expect([id, button(id).disabled]).toEqual([id, reason !== ""]);
  return reason;
};
const expectReason = (id: string, text: string) => waitFor(() => expect(reasonOf(id)).toBe(text));

async function openNameStep() {
  render(Create);
  await waitFor(() => expect((screen.getByTestId("create-folder") as HTMLInputElement).value).not.toBe(""));
}
async function openPassphraseStep() {
  await openNameStep();
  await type("create-name", "Ines");
  await fireEvent.click(button("create-next"));
  await screen.findByTestId("create-passphrase");
}
/** Opens the last step of creating a vault, in which the person types groups of the recovery code. */
async function openRecoveryStep() {
  await openPassphraseStep();
  await type("create-passphrase", MOCK_PASSPHRASE);
  await type("create-repeat", MOCK_PASSPHRASE);
  await expectReason("create-next", "");
  await fireEvent.click(button("create-next"));
  await screen.findByTestId("recovery-code");
}
async function typeGroupsBack() {
  const groups = within(screen.getByTestId("recovery-code")).getAllByRole("listitem");
  for (const id of ["recovery-group-a", "recovery-group-b"])
    await type(id, groups[Number(screen.getByTestId(id).dataset.group) - 1]?.textContent ?? "");
}

describe("a disabled button says what is missing", () => {
  it("for the name of a vault", async () => {
    await openNameStep();
    await expectReason("create-next", "Give the vault a name.");
    await type("create-name", "a/b");
    await expectReason("create-next", "This name can’t be used.");
    await type("create-name", "Ines");
    await expectReason("create-next", "");
    await type("create-folder", " ");
    await expectReason("create-next", "Choose where to keep the vault.");
  });

  it("for a passphrase, with different reasons for too short and too weak", async () => {
    await openPassphraseStep();
    await expectReason("create-next", "Type a passphrase first.");
    await type("create-passphrase", "kite");
    await expectReason("create-next", "The passphrase is too short.");
    mock.passphraseStrength = async () => ({ score: 1, label: "Weak", reason: "It is a single word." });
    await type("create-passphrase", "incomprehensibilities");
    await expectReason("create-next", "The passphrase is too weak: it has to be at least “Fair”.");
    mock.passphraseStrength = async () => ({ score: 3, label: "Good", reason: null });
    await type("create-passphrase", MOCK_PASSPHRASE);
    await expectReason("create-next", "Now type the passphrase a second time.");
    await type("create-repeat", "hatbour");
    await expectReason("create-next", "The two passphrases don’t match yet.");
    await type("create-repeat", MOCK_PASSPHRASE);
    await expectReason("create-next", "");
  });

  it("for a recovery code", async () => {
    await openRecoveryStep();
    await expectReason("create-done", "Type the two groups from your copy of the recovery code.");
    await typeGroupsBack();
    await expectReason("create-done", "");
  });

  it("for another passphrase", async () => {
    dialogs.show({ kind: "passphrase" });
    render(PassphraseSheet);
    await expectReason("passphrase-save", "Type the current passphrase or the recovery code.");
    await type("passphrase-present", MOCK_PASSPHRASE);
    await expectReason("passphrase-save", "Type a passphrase first.");
    await type("passphrase-new", "kite");
    await expectReason("passphrase-save", "The passphrase is too short.");
  });

  it("for another recovery code", async () => {
    dialogs.show({ kind: "recovery" });
    render(RecoverySheet);
    await expectReason("recovery-make", "Type the current passphrase or the recovery code.");
    await type("recovery-present", MOCK_PASSPHRASE);
    await expectReason("recovery-make", "");
    await fireEvent.click(button("recovery-make"));
    await screen.findByTestId("recovery-code");
    await expectReason("recovery-done", "Type the two groups from your copy of the recovery code.");
    await typeGroupsBack();
    await expectReason("recovery-done", "");
  });

  it("for a file that is encrypted", async () => {
    render(AskPassphrase);
    await expectReason("import-open", "Type a passphrase first.");
    await type("import-passphrase", "river lamp");
    await expectReason("import-open", "");
  });
});

describe("the recovery code that is typed back", () => {
  it("has the focus in its first box when a vault is created", async () => {
    await openRecoveryStep();
    await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("recovery-group-a")));
  });

  it("has the focus in its first box when a new code is made in the settings", async () => {
    dialogs.show({ kind: "recovery" });
    render(RecoverySheet);
    await type("recovery-present", MOCK_PASSPHRASE);
    await fireEvent.click(button("recovery-make"));
    await screen.findByTestId("recovery-code");
    await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("recovery-group-a")));
  });
});

describe("the eye beside a passphrase", () => {
  const cases: [string, string, () => Promise<unknown>][] = [
    ["create-passphrase", "create-repeat", openPassphraseStep],
    [
      "passphrase-new",
      "passphrase-repeat",
      async () => (dialogs.show({ kind: "passphrase" }), render(PassphraseSheet)),
    ],
    ["unlock-passphrase", "unlock-submit", async () => (session.showUnlock(session.path!), render(Unlock))],
  ];

  it.each(cases)("is skipped by Tab from %s, and reached on the way back", async (field, next, show) => {
    await show();
    const input = await screen.findByTestId(field);
    const showButton = within(input.parentElement!).getByRole("button", { name: "Show" });
    input.focus();
    await tick();
    expect(showButton.tabIndex).toBe(-1);
    screen.getByTestId(next).focus();
    await tick();
    expect(showButton.tabIndex).toBe(0);
    showButton.focus();
    await fireEvent.click(showButton);
    expect(input.getAttribute("type")).toBe("text");
  });
});
