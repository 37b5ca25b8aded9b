import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import SensitiveActions from "../src/features/sensitive/SensitiveActions.svelte";
import SensitiveView from "../src/features/sensitive/SensitiveView.svelte";
import DialogHost from "../src/shell/DialogHost.svelte";
import Toast from "../src/shell/Toast.svelte";
import { failWith } from "$lib/ipc/mock/jobs";
import { dialogs } from "$lib/state/dialogs.svelte";
import { showError } from "$lib/state/trash-actions";
import { sensitive } from "$lib/state/sensitive.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
  await vault.refresh();
});

const announcements = () => [...document.querySelectorAll("[role=status]")].map((each) => each.textContent?.trim());

describe("a toast", () => {
  it("is assertive for errors, polite otherwise", async () => {
    render(Toast);
    showError(failWith("disk_full", "The disk is full."));
    expect((await screen.findByRole("alert")).textContent).toContain("The disk is full.");
    toasts.show("Saved", { icon: "check" });
    await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
    expect(screen.getByTestId("toast").getAttribute("role")).toBe("status");
  });

  it("is rendered in the open dialog, and stays when the dialog closes", async () => {
    const run = vi.fn();
    render(Toast);
    render(DialogHost);
    toasts.show("Saved", { action: { label: "Show", undo: false, run } });
    const dialogOfToast = () => screen.getByTestId("toast").closest("[role=dialog]");
    await screen.findByTestId("toast");
    expect(dialogOfToast()).toBeNull();
    dialogs.show({ kind: "write" });
    await waitFor(() => expect(dialogOfToast()?.getAttribute("aria-modal")).toBe("true"));
    expect(screen.getAllByTestId("toast").length).toBe(1);
    screen.getByTestId("toast-action").focus();
    await waitFor(() => expect(document.activeElement?.getAttribute("data-testid")).toBe("toast-action"));
    dialogs.close();
    await waitFor(() => expect(dialogOfToast()).toBeNull());
    expect(screen.getByTestId("toast").isConnected).toBe(true);
    await fireEvent.click(screen.getByTestId("toast-action"));
    expect(run).toHaveBeenCalledOnce();
    await waitFor(() => expect(screen.queryByTestId("toast")).toBeNull());
  });

  it("is removed while the dialog is still open", async () => {
    render(Toast);
    render(DialogHost);
    dialogs.show({ kind: "palette" });
    await screen.findByTestId("palette");
    toasts.show("Saved");
    await waitFor(() => expect(screen.getByTestId("toast").closest("[role=dialog]")).toBeTruthy());
    toasts.dismiss();
    await waitFor(() => expect(screen.queryByTestId("toast")).toBeNull());
  });
});

describe("sensitive findings", () => {
  it("announce the number of the shown list", async () => {
    render(SensitiveView);
    await waitFor(() => expect(announcements()).toContain("14 findings to review"), { timeout: 5000 });
    sensitive.tab = "ignored";
    await waitFor(() => expect(announcements().some((text) => text?.endsWith("ignored findings"))).toBe(true), {
      timeout: 5000,
    });
  });

  it("announce the progress of a scan", async () => {
    vi.spyOn(mock, "scanRecords").mockImplementation((_id, _all, onProgress) => {
      onProgress({ stage: "scan", done: 110, total: 200, unit: "records", records: 110 });
      return new Promise(() => undefined);
    });
    render(SensitiveActions);
    await fireEvent.click(screen.getByTestId("sensitive-rescan"));
    await waitFor(() => expect(announcements()).toContain("Scanning 50%"));
  });
});
