import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import PasteSheet from "../src/features/importing/PasteSheet.svelte";
import DialogHost from "../src/shell/DialogHost.svelte";
import { run } from "../src/shell/commands";
import { start, type Mock } from "./start-mock";
import { BackendError } from "$lib/ipc";
import { dialogs } from "$lib/state/dialogs.svelte";
import { clearContent } from "$lib/state/lock-cleanup";
import { tick } from "svelte";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
  dialogs.close();
});

const field = () => screen.getByTestId("paste-text") as HTMLTextAreaElement;

describe("importing the clipboard", () => {
  it("fills the field with the clipboard's text, which is read once", async () => {
    const clipboardText = vi.spyOn(mock, "clipboardText");
    render(DialogHost);
    run("paste");
    await waitFor(() => expect(field().value).toBe("Prefers tea to coffee.\nIs learning Portuguese."));
    expect((screen.getByTestId("paste-inspect") as HTMLButtonElement).disabled).toBe(false);
    await fireEvent.input(field(), { target: { value: "" } });
    expect(clipboardText).toHaveBeenCalledOnce();
    expect(screen.queryByTestId("paste-read"), "it was not empty").toBeNull();
  });

  it.each([
    [async () => null, "The clipboard contains no text."],
    [() => Promise.reject(new BackendError({ code: "no_clipboard", message: "", details: {} })), "can’t be read"],
    [() => Promise.reject(new BackendError({ code: "limit", message: "", details: {} })), "too long for this field"],
  ])("leaves the field empty and says why", async (answer, why) => {
    mock.clipboardText = answer;
    render(DialogHost);
    run("paste");
    expect((await screen.findByTestId("paste-read")).textContent).toContain(why);
    expect(field().value).toBe("");
    await fireEvent.input(field(), { target: { value: "By hand." } });
    expect(screen.queryByTestId("paste-read")).toBeNull();
  });

  it("reads the clipboard only on request, and does not overwrite text that was typed meanwhile", async () => {
    const clipboardText = vi.spyOn(mock, "clipboardText");
    render(DialogHost);
    dialogs.show({ kind: "paste" });
    await screen.findByTestId("paste-text");
    expect(clipboardText).not.toHaveBeenCalled();
    dialogs.close();
    const answer = delayClipboard();
    run("paste");
    await screen.findByTestId("paste-text");
    await fireEvent.input(field(), { target: { value: "By hand." } });
    answer("From elsewhere.");
    await tick();
    await tick();
    expect(field().value).toBe("By hand.");
  });

  it("does not fill a field after locking", async () => {
    const answer = delayClipboard();
    render(PasteSheet, { clipboard: true });
    clearContent();
    answer("From elsewhere.");
    await tick();
    await tick();
    expect(field().value).toBe("");
  });
});

/** Makes the next read of the clipboard wait. Returns a function that ends the wait with the given text. */
function delayClipboard(): (text: string) => void {
  let answer: (text: string) => void = () => undefined;
  mock.clipboardText = () => new Promise((done) => (answer = done));
  return (text) => answer(text);
}
