import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import ExportSheet from "../src/features/exporting/ExportSheet.svelte";
import { failWith } from "$lib/ipc/mock/jobs";
import { importing } from "$lib/state/importing.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
});

const type = (id: string, value: string) => fireEvent.input(screen.getByTestId(id), { target: { value } });

describe("an encrypted file that is imported", () => {
  it("is opened with a passphrase, which is forgotten when the import ends", async () => {
    await importing.inspect(["/d/encrypted.alf", "/d/chatgpt-export.zip"]);
    expect([importing.stage, importing.encryptedFiles.length, importing.unrecognised.length]).toEqual(["locked", 1, 0]);
    await importing.openEncrypted("not this one");
    expect([importing.stage, importing.passphraseWrong]).toEqual(["locked", true]);
    const importRun = vi.spyOn(mock, "importRun");
    await importing.openEncrypted("river lamp");
    expect([importing.stage, importing.plans.map((plan) => plan.label)]).toEqual([
      "plan",
      ["encrypted.alf", "ChatGPT export"],
    ]);
    await importing.run();
    expect(importRun.mock.calls.map((call) => call[2])).toEqual(["river lamp", "river lamp"]);
    await importing.inspect(["/d/chatgpt-export.zip"]);
    await importing.run();
    expect(importRun.mock.calls.map((call) => call[2])).toEqual(["river lamp", "river lamp", null]);
  });

  it("can be left out of the import", async () => {
    await importing.inspect(["/d/encrypted.alf", "/d/chatgpt-export.zip"]);
    await importing.skipEncrypted();
    expect([importing.stage, importing.paths]).toEqual(["plan", ["/d/chatgpt-export.zip"]]);
  });

  it("asks for a passphrase if only the preview needs it", async () => {
    const originalPreview = mock.importPreview;
    mock.importPreview = async (id, request, passphrase, onProgress) => {
      if (!passphrase) throw failWith("passphrase_needed", "It is encrypted.");
      return originalPreview(id, request, passphrase, onProgress);
    };
    await importing.inspect(["/d/chatgpt-export.zip"]);
    expect([importing.stage, importing.passphraseWrong]).toEqual(["locked", false]);
    await importing.openEncrypted("river lamp");
    expect(importing.stage).toBe("plan");
  });
});

describe("an encrypted export", () => {
  it("needs the passphrase twice, and exists only in formats that can be encrypted", async () => {
    const exportRun = vi.spyOn(mock, "exportRun");
    const previews = vi.spyOn(mock, "exportPreview");
    render(ExportSheet, { filter: null, query: "", found: null, start: "mem" });
    expect(screen.queryByTestId("export-encrypt")).toBeNull();
    await fireEvent.click(screen.getByTestId("export-alf"));
    await fireEvent.click(within(await screen.findByTestId("export-encrypt")).getByRole("switch"));
    await screen.findByTestId("export-losses");
    const save = screen.getByTestId("export-save") as HTMLButtonElement;
    expect(save.disabled).toBe(true);
    await type("export-passphrase", "harbour copper nineteen kite");
    await type("export-repeat", "harbour copper nineteen kite");
    await waitFor(() => expect(save.disabled).toBe(false));
    await fireEvent.click(save);
    await screen.findByTestId("export-verified");
    expect(exportRun.mock.calls.map(([, request, passphrase]) => [request.format, passphrase])).toEqual([
      ["alf", "harbour copper nineteen kite"],
    ]);
    expect(previews.mock.calls.at(-1)?.[2]).toBe(true);
  });

  it("always needs the passphrase in a format that is always encrypted", async () => {
    const exportRun = vi.spyOn(mock, "exportRun");
    const previews = vi.spyOn(mock, "exportPreview");
    render(ExportSheet, { filter: null, query: "", found: null, start: "amem" });
    const box = within(await screen.findByTestId("export-encrypt")).getByRole("switch") as HTMLButtonElement;
    expect([box.getAttribute("aria-checked"), box.disabled]).toEqual(["true", true]);
    await screen.findByTestId("export-losses");
    expect(previews.mock.calls.at(-1)?.[2]).toBe(true);
    await fireEvent.click(screen.getByTestId("export-understood"));
    const save = screen.getByTestId("export-save") as HTMLButtonElement;
    expect(save.disabled).toBe(true);
    await type("export-passphrase", "harbour copper nineteen kite");
    await type("export-repeat", "harbour copper nineteen kite");
    await waitFor(() => expect(save.disabled).toBe(false));
    await fireEvent.click(save);
    await screen.findByTestId("export-verified");
    expect(exportRun.mock.calls.map(([, request, passphrase]) => [request.format, passphrase])).toEqual([
      ["amem", "harbour copper nineteen kite"],
    ]);
  });
});
