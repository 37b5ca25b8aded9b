import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import EvidenceSheet from "../src/features/activity/EvidenceSheet.svelte";
import FirstSteps from "../src/features/home/FirstSteps.svelte";
import OriginalRecord from "../src/features/memories/OriginalRecord.svelte";
import WriteSheet from "../src/features/memories/WriteSheet.svelte";
import { start, type Mock } from "./start-mock";
import { BackendError } from "$lib/ipc";
import { FORMATS } from "$lib/ipc/formats";
import { dialogs } from "$lib/state/dialogs.svelte";
import { importing } from "$lib/state/importing.svelte";
import { dayTime } from "$lib/text/format";
import Button from "$lib/ui/Button.svelte";

let mock: Mock;

beforeEach(async () => {
  mock = await start({ pace: 0 });
});

describe("a memory that is written", () => {
  it("is saved by Ctrl Enter wherever the focus is, with the tag that is being typed", async () => {
    const add = vi.spyOn(mock, "add");
    render(WriteSheet);
    const tags = screen.getByTestId("edit-tags");
    tags.focus();
    await fireEvent.keyDown(tags, { key: "Enter", ctrlKey: true });
    expect(add, "nothing is written yet").not.toHaveBeenCalled();
    expect(document.activeElement, "the focus stays").toBe(tags);
    await fireEvent.input(screen.getByTestId("write-text"), { target: { value: "Likes tea." } });
    tags.focus();
    await fireEvent.input(tags, { target: { value: "drinks" } });
    await fireEvent.keyDown(tags, { key: "Enter", ctrlKey: true });
    await waitFor(() => expect(add).toHaveBeenCalledOnce());
    expect(add.mock.calls[0]?.[0]).toEqual({ type: "fact", text: "Likes tea.", tags: ["drinks"] });
  });
});

describe("the original record", () => {
  it("names its format as the rest of the window does", async () => {
    const { record } = await mock.show("m-0", false, true);
    const format = FORMATS.find(({ id }) => id === record.origin?.format);
    render(OriginalRecord, { id: "m-0" });
    await waitFor(() => expect(screen.getByTestId("original-record").textContent).toContain(format!.name));
  });

  it("that cannot be loaded is reported in the window's words", async () => {
    mock.show = () => Promise.reject(new BackendError({ code: "store", message: "page 7", details: {} }));
    render(OriginalRecord, { id: "m-0" });
    expect((await screen.findByRole("alert")).textContent).toContain("The vault’s database could not be used.");
    expect(screen.getByTestId("original-record").textContent).not.toContain("BackendError");
  });
});

describe("the first steps", () => {
  it("lead to a folder instead of a file", async () => {
    mock.chooseFolder = async () => null;
    render(FirstSteps);
    await fireEvent.click(screen.getByTestId("first-folder"));
    expect(dialogs.open, "a cancelled dialog changes nothing").toBeNull();
    mock.chooseFolder = async () => "/home/ines/.cursor";
    await fireEvent.click(screen.getByTestId("first-folder"));
    await waitFor(() => expect(importing.paths).toEqual(["/home/ines/.cursor"]));
    expect(dialogs.open?.kind).toBe("import");
  });
});

describe("an Evidence Pack", () => {
  it("shows the time of its check", async () => {
    render(EvidenceSheet);
    const make = await screen.findByTestId("evidence-save");
    await waitFor(() => expect((make as HTMLButtonElement).disabled).toBe(false));
    await fireEvent.click(make);
    const result = await screen.findByTestId("evidence-result");
    expect(result.textContent).toContain(`Checked ${dayTime(Date.now())}`);
  });
});

describe("motion", () => {
  const source = (file: string) => readFileSync(resolve(import.meta.dirname, `../src/${file}`), "utf8");

  it.each(["Popover", "MenuEntries", "Select", "TagInput"])("%s is a floating panel", (name) => {
    expect(source(`lib/ui/${name}.svelte`)).toMatch(/class="floating /);
  });

  it("floating panels fade in and move by 4 px, and only fade with reduced motion", () => {
    const styles = source("styles/base.css");
    expect(styles).toMatch(/\.floating \{[^}]*animation: float var\(--dur-2\) var\(--ease-out\)/);
    expect(styles).toContain("translateY(calc(-1 * var(--way) * var(--space-2)))");
    const tokens = source("styles/tokens.css");
    expect(tokens.match(/--dur-3: 1ms; --way: 0;/g), "by the system, or by the setting").toHaveLength(2);
    expect(tokens.indexOf("--way: 1;"), "and these come after it").toBeLessThan(tokens.indexOf("--way: 0;"));
    expect(tokens).toContain("--way: 1;");
  });

  it("a busy button has three dots instead of the spinner with reduced motion", () => {
    render(Button, { busy: true });
    const [turning, still] = [".turning svg", ".still svg"].map((each) => document.querySelector(each));
    expect([turning !== null, still?.classList.contains("lucide-ellipsis")]).toEqual([true, true]);
    expect(source("lib/ui/Spinner.svelte").match(/\.still \{\s+display: inline-flex/g)).toHaveLength(2);
  });
});
