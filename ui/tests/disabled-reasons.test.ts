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
/** The reason why a button is disabled; empty if it is enabled. */
const why = (id: string) => {
  const about = button(id).getAttribute("aria-describedby");
  const said = document.getElementById(about ?? "")?.textContent ?? null;
  expect([id, button(id).disabled]).toEqual([id, said !== ""]);
  return said;
};
const says = (id: string, text: string) => waitFor(() => expect(why(id)).toBe(text));

async function naming() {
  render(Create);
  await waitFor(() => expect((screen.getByTestId("create-folder") as HTMLInputElement).value).not.toBe(""));
}
async function choosing() {
  await naming();
  await type("create-name", "Ines");
  await fireEvent.click(button("create-next"));
  await screen.findByTestId("create-passphrase");
}
/** Goes to the last step, in which the groups of the code are typed back. */
async function keeping() {
  await choosing();
  await type("create-passphrase", MOCK_PASSPHRASE);
  await type("create-repeat", MOCK_PASSPHRASE);
  await says("create-next", "");
  await fireEvent.click(button("create-next"));
  await screen.findByTestId("recovery-code");
}
async function back() {
  const groups = within(screen.getByTestId("recovery-code")).getAllByRole("listitem");
  for (const id of ["recovery-group-a", "recovery-group-b"])
    await type(id, groups[Number(screen.getByTestId(id).dataset.group) - 1]?.textContent ?? "");
}

describe("a disabled button says what is missing", () => {
  it("for the name of a vault", async () => {
    await naming();
    await says("create-next", "Give the vault a name.");
    await type("create-name", "a/b");
    await says("create-next", "This name can’t be used.");
    await type("create-name", "Ines");
    await says("create-next", "");
    await type("create-folder", " ");
    await says("create-next", "Choose where to keep the vault.");
  });

  it("for a passphrase, where too short is not too weak", async () => {
    await choosing();
    await says("create-next", "Type a passphrase first.");
    await type("create-passphrase", "kite");
    await says("create-next", "The passphrase is too short.");
    mock.passphraseStrength = async () => ({ score: 1, label: "Weak", reason: "It is a single word." });
    await type("create-passphrase", "incomprehensibilities");
    await says("create-next", "The passphrase is too weak: it has to be at least “Fair”.");
    mock.passphraseStrength = async () => ({ score: 3, label: "Good", reason: null });
    await type("create-passphrase", MOCK_PASSPHRASE);
    await says("create-next", "Now type the passphrase a second time.");
    await type("create-repeat", "hatbour");
    await says("create-next", "The two passphrases don’t match yet.");
    await type("create-repeat", MOCK_PASSPHRASE);
    await says("create-next", "");
  });

  it("for a recovery code", async () => {
    await keeping();
    await says("create-done", "Type both groups from your copy.");
    await back();
    await says("create-done", "");
  });

  it("for another passphrase", async () => {
    dialogs.show({ kind: "passphrase" });
    render(PassphraseSheet);
    await says("passphrase-save", "Type the current passphrase or the recovery code.");
    await type("passphrase-present", MOCK_PASSPHRASE);
    await says("passphrase-save", "Type a passphrase first.");
    await type("passphrase-new", "kite");
    await says("passphrase-save", "The passphrase is too short.");
  });

  it("for another recovery code", async () => {
    dialogs.show({ kind: "recovery" });
    render(RecoverySheet);
    await says("recovery-make", "Type the current passphrase or the recovery code.");
    await type("recovery-present", MOCK_PASSPHRASE);
    await says("recovery-make", "");
    await fireEvent.click(button("recovery-make"));
    await screen.findByTestId("recovery-code");
    await says("recovery-done", "Type both groups from your copy.");
    await back();
    await says("recovery-done", "");
  });

  it("for a file that is encrypted", async () => {
    render(AskPassphrase);
    await says("import-open", "Type a passphrase first.");
    await type("import-passphrase", "river lamp");
    await says("import-open", "");
  });
});

describe("the recovery code that is typed back", () => {
  it("has the focus in its first box when a vault is created", async () => {
    await keeping();
    await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("recovery-group-a")));
  });

  it("has it in the settings, too", async () => {
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
    ["create-passphrase", "create-repeat", choosing],
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
    const eye = within(input.parentElement!).getByRole("button", { name: "Show" });
    input.focus();
    await tick();
    expect(eye.tabIndex).toBe(-1);
    screen.getByTestId(next).focus();
    await tick();
    expect(eye.tabIndex).toBe(0);
    eye.focus();
    await fireEvent.click(eye);
    expect(input.getAttribute("type")).toBe("text");
  });
});
