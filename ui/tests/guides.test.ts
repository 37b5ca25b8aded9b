import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import FailedReport from "../src/features/activity/FailedReport.svelte";
import GuidesSheet from "../src/features/guides/GuidesSheet.svelte";
import FirstSteps from "../src/features/home/FirstSteps.svelte";
import ImportSheet from "../src/features/importing/ImportSheet.svelte";
import DialogHost from "../src/shell/DialogHost.svelte";
import { commands } from "../src/shell/palette/commands";
import { FORMATS } from "$lib/ipc/formats";
import { webAddress } from "$lib/logic/markdown";
import { findSources, formatsByGroup, guideText, isReadable, SOURCES, sourceOf, textParts } from "$lib/state/guides";
import { dialogs } from "$lib/state/dialogs.svelte";
import { importing } from "$lib/state/importing.svelte";
import { LANGUAGES, setLanguage, type GuideText, type Guides, type Language } from "$lib/text/locale.svelte";
import { start, type Mock } from "./start-mock";

/**
 * Maps each format that can be read but has no guide to the reason. If a new format has no guide, the test fails until
 * the format is added here.
 */
const WITHOUT_GUIDE: Record<string, string> = {};

const GUIDE_PARTS = ["name", "steps", "has", "lacks", "time", "drop"] as const;
const sentencesOf = (guide: GuideText): string[] => Object.values(guide).flat();
const marksOf = (guide: GuideText, kind: "code" | "guide") =>
  sentencesOf(guide)
    .flatMap(textParts)
    .filter((part) => part.kind === kind)
    .map((part) => part.text)
    .sort();

let mock: Mock;
beforeEach(async () => {
  mock = await start();
});
afterEach(() => setLanguage("en"));

describe("the list of sources", () => {
  it("has a guide for every format that can be read", () => {
    const readableFormats = FORMATS.filter((format) => format.read && !format.onlyIfChosen).map(({ id }) => id);
    const missing = readableFormats.filter((id) => sourceOf(id) === null && !(id in WITHOUT_GUIDE));
    expect(missing, "add the format to a source in sources.json, or to WITHOUT_GUIDE").toEqual([]);
    expect(Object.keys(WITHOUT_GUIDE).filter((id) => sourceOf(id) !== null)).toEqual([]);
  });

  it("contains each source once, with the day when its guide was checked and with addresses that can be opened", () => {
    const ids = SOURCES.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const source of SOURCES) {
      expect([source.id, /^\d{4}-\d\d-\d\d$/.test(source.checked)]).toEqual([source.id, true]);
      expect(source.accepts.length).toBeGreaterThan(0);
      for (const href of source.links) expect([href, webAddress(href)?.protocol]).toEqual([href, "https:"]);
    }
  });

  it("finds the source of a format, and none for an unknown format", () => {
    expect(sourceOf("chatgpt")?.id).toBe("chatgpt");
    expect(sourceOf("alf_delta")?.id).toBe("portable");
    expect(sourceOf("generic_chat")?.id, "the general source, not one of its programs").toBe("anything");
    expect([sourceOf(null), sourceOf("no_such_format")]).toEqual([null, null]);
    expect(SOURCES.filter((source) => !isReadable(source)).every(({ group }) => group !== "other")).toBe(true);
  });

  it("offers every format that can be read exactly once, except those that accept any file", () => {
    const offeredFormats = formatsByGroup().flatMap(({ formats }) => formats);
    const readableFormats = FORMATS.filter((format) => format.read && !format.onlyIfChosen).map(({ id }) => id);
    expect(offeredFormats.sort()).toEqual([...readableFormats].sort());
  });
});

describe.each(Object.keys(LANGUAGES) as Language[])("the guides in %s", (language) => {
  let guides: Guides;
  let english: Guides;
  beforeEach(async () => {
    guides = await LANGUAGES[language].loadGuides();
    english = await LANGUAGES.en.loadGuides();
  });

  it("have the sources of the list, with all parts, in the same number of sentences as English", () => {
    expect(Object.keys(guides)).toEqual(SOURCES.map(({ id }) => id));
    for (const { id } of SOURCES) {
      const sizes = (guide: GuideText) =>
        [...GUIDE_PARTS, "notes" as const, "doubt" as const].map((part) => [part, [guide[part] ?? []].flat().length]);
      expect([id, sizes(guides[id])]).toEqual([id, sizes(english[id])]);
      expect([id, GUIDE_PARTS.filter((part) => guides[id][part].length === 0)]).toEqual([id, []]);
    }
  });

  it("name the same files and addresses as English", () => {
    for (const { id } of SOURCES) expect([id, marksOf(guides[id], "code")]).toEqual([id, marksOf(english[id], "code")]);
  });

  it("contain no word that the rules of texts forbid, and no mark that is not closed", () => {
    const forbidden = /\b(please|oops|successfully|bitte|hoppla|erfolgreich|e-mail-adressen?)\b|[!！]|お願い/i;
    for (const { id } of SOURCES)
      for (const sentence of sentencesOf(guides[id])) {
        expect(sentence).not.toMatch(forbidden);
        const text = textParts(sentence).filter((part) => part.kind === "text");
        expect(text.map((part) => part.text).join("")).not.toMatch(/[`*[\]{}]/);
      }
  });

  it("number only steps that follow one another, not other ways and exceptions", () => {
    const exceptionStarts = /^(Or |Oder |または|Business and Enterprise|Team and Enterprise|Team und Enterprise)/;
    for (const { id } of SOURCES)
      expect([id, guides[id].steps.filter((step) => exceptionStarts.test(step))]).toEqual([id, []]);
  });

  it("are translated", () => {
    if (language === "en") return;
    for (const { id } of SOURCES) {
      const untranslatedSteps = guides[id].steps.filter((step) => english[id].steps.includes(step));
      expect([id, untranslatedSteps]).toEqual([id, []]);
      expect([id, guides[id].drop.filter((each) => english[id].drop.includes(each))]).toEqual([id, []]);
    }
  });
});

describe("a link to another guide", () => {
  it("names a source of the list, the same in every language", async () => {
    for (const language of Object.keys(LANGUAGES) as Language[]) {
      const guides = await LANGUAGES[language].loadGuides();
      const links = SOURCES.flatMap(({ id }) => marksOf(guides[id], "guide").map((other) => `${id} ${other}`));
      expect(links).toEqual(["chatgpt pasted", "gemini pasted", "open_webui pasted"]);
    }
  });

  it("shows that guide", async () => {
    render(GuidesSheet, { source: "gemini", back: undefined });
    await fireEvent.click(screen.getByTestId("guide-other"));
    expect(screen.getByTestId("guide").dataset.id).toBe("pasted");
  });
});

describe("the search", () => {
  it("finds names, other names, formats and file names, with every word", async () => {
    const ids = (query: string) => findSources(query).map(({ id }) => id);
    expect(ids("")).toHaveLength(SOURCES.length);
    expect(ids("openai")).toEqual(["chatgpt", "codex"]);
    expect(ids("google cli")).toEqual(["gemini_cli"]);
    expect(ids("state.vscdb")).toEqual(["cursor"]);
    expect(ids("zzz")).toEqual([]);
    await setLanguage("de");
    expect(ids("einfügen")).toEqual(["pasted"]);
  });

  it("splits a sentence at its marks", () => {
    expect(textParts("Open `a*b` or *Settings > Data*.")).toEqual([
      { kind: "text", text: "Open " },
      { kind: "code", text: "a*b" },
      { kind: "text", text: " or " },
      { kind: "menu", text: "Settings > Data" },
      { kind: "text", text: "." },
    ]);
    expect(textParts("")).toEqual([]);
  });
});

describe("the page", () => {
  const guide = () => screen.getByTestId("guide");
  const shownGuide = () => guide().dataset.id;
  const search = (value: string) => fireEvent.input(screen.getByTestId("guides-search"), { target: { value } });

  it("shows the guide that was asked for, with all its parts", () => {
    render(GuidesSheet, { source: "claude", back: undefined });
    expect(shownGuide()).toBe("claude");
    const headings = within(guide())
      .getAllByRole("heading")
      .map((each) => each.textContent?.trim());
    expect(headings).toEqual([
      expect.stringContaining("Claude"),
      "How to get it",
      "What to drop here",
      "What is in it",
      "What is not in it",
      "How long it takes",
    ]);
    for (const step of guideText("claude").steps)
      expect(guide().textContent).toContain(step.replaceAll(/[`*]/g, "").replaceAll(" > ", " › ").slice(0, 60));
    expect(guide().querySelectorAll("ol li")).toHaveLength(guideText("claude").steps.length);
    expect(screen.getByTestId("guide-notes").textContent).toContain("only the primary owner can export");
    expect(screen.getByTestId("guide-checked").textContent).toContain("Last checked in November 2026");
    expect(screen.getByTestId("guide-doubt").textContent).toContain("Not certain.");
  });

  it("follows the search and the arrow keys, and offers the general guide if nothing is found", async () => {
    render(GuidesSheet, { source: null, back: undefined });
    expect(shownGuide()).toBe("chatgpt");
    await search("cursor");
    expect(shownGuide()).toBe("cursor");
    await search("zzz");
    expect(screen.queryByTestId("guide")).toBeNull();
    await fireEvent.click(screen.getByTestId("guides-anything"));
    expect(shownGuide()).toBe("anything");
    await search("google");
    const list = screen.getByRole("listbox", { name: "Sources" });
    await fireEvent.keyDown(screen.getByTestId("guides-search"), { key: "ArrowDown" });
    expect(document.activeElement).toBe(list);
    await fireEvent.keyDown(list, { key: "ArrowDown" });
    expect(shownGuide()).toBe("ai_studio");
  });

  it("says so if this version reads no such export, and names paths to copy", async () => {
    const unread = SOURCES.find((source) => !isReadable(source));
    if (unread) {
      const { unmount } = render(GuidesSheet, { source: unread.id, back: undefined });
      expect(screen.getByTestId("guide-unread")).toBeTruthy();
      unmount();
    }
    render(GuidesSheet, { source: "claude_code", back: undefined });
    expect(screen.getByRole("button", { name: /Copy the path .*~\/\.claude\/projects/ })).toBeTruthy();
  });

  it("opens a vendor's page only after a confirmation, and is shown again afterwards", async () => {
    const openLink = vi.spyOn(mock, "openLink");
    dialogs.show({ kind: "guides", source: "mem0" });
    render(DialogHost);
    await fireEvent.click(await screen.findByTestId("guide-link"));
    expect((await screen.findByTestId("link-dialog")).textContent).toContain("docs.mem0.ai");
    expect(openLink).not.toHaveBeenCalled();
    await fireEvent.click(screen.getByRole("button", { name: "Open" }));
    expect(openLink).toHaveBeenCalledWith("https://docs.mem0.ai/cookbooks/essentials/exporting-memories");
    await waitFor(() => expect(shownGuide()).toBe("mem0"));
  });

  it("leads to the choice of files, of a folder, and to pasting", async () => {
    mock.chooseFiles = async () => [];
    dialogs.show({ kind: "guides", source: "pasted" });
    render(DialogHost);
    await fireEvent.click(await screen.findByTestId("guide-file"));
    expect(dialogs.open?.kind, "a cancelled choice changes nothing").toBe("guides");
    mock.chooseFiles = async () => ["/d/chatgpt-export.zip"];
    await fireEvent.click(screen.getByTestId("guide-file"));
    await waitFor(() => expect(importing.paths).toEqual(["/d/chatgpt-export.zip"]));
    expect(dialogs.open?.kind).toBe("import");
    dialogs.show({ kind: "guides", source: "pasted" });
    await fireEvent.click(await screen.findByTestId("guide-text"));
    expect(dialogs.open?.kind).toBe("paste");
  });

  it("is reached from the report of a failed import, with the assistant that its error names", async () => {
    const error = { code: "only_a_list", message: "", details: { format: "claude", missing_parts: "x.zip" } };
    const failed = { kind: "failed-import", failed: { seq: 0, paths: ["/d/manifest.json"], error }, at: "" } as const;
    render(FailedReport, { failed: { ...failed.failed, paths: [...failed.failed.paths] }, at: "" });
    await fireEvent.click(screen.getByTestId("failed-guides"));
    expect(dialogs.open).toEqual({ kind: "guides", source: "claude", back: failed });
  });

  it("is reached from the first steps, the import sheet and the palette", async () => {
    const { unmount } = render(FirstSteps);
    await fireEvent.click(screen.getByTestId("first-gemini"));
    expect(dialogs.open).toEqual({ kind: "guides", source: "gemini" });
    await fireEvent.click(screen.getByTestId("first-guides"));
    expect(dialogs.open).toEqual({ kind: "guides" });
    unmount();
    importing.reset();
    render(ImportSheet);
    await fireEvent.click(screen.getByTestId("import-guides"));
    expect(dialogs.open).toEqual({ kind: "guides", back: { kind: "import" } });
    dialogs.close();
    commands()
      .find(({ id }) => id === "guides")
      ?.run();
    expect(dialogs.open).toEqual({ kind: "guides" });
  });
});

describe("a file that is not recognised", () => {
  const POEM = "/d/poem.xyz";

  it("names the nearest format with its reason, and can be kept as a file", async () => {
    await importing.inspect([POEM]);
    render(ImportSheet);
    const row = document.querySelector<HTMLElement>(`[data-path="${POEM}"]`)!;
    expect(row.textContent).toContain("The format “Plain text” fits best.");
    expect(within(row).getByTestId("import-nearest").textContent).toContain("one memory per paragraph");
    await fireEvent.click(within(row).getByTestId("import-keep-file"));
    await waitFor(() => expect(importing.chosen[POEM]).toBe("kept_file"));
    await waitFor(() => expect(row.textContent).toContain("Will be kept as a file and listed under Documents."));
    expect(importing.plans[0]?.request).toMatchObject({ paths: [POEM], format: "kept_file" });
    expect(within(row).queryByTestId("import-keep-file")).toBeNull();
  });

  it("leads to the guides and back, with the file still there", async () => {
    await importing.inspect([POEM]);
    dialogs.show({ kind: "import" });
    render(DialogHost);
    await fireEvent.click(await screen.findByTestId("import-file-guides"));
    expect(dialogs.open).toEqual({ kind: "guides", source: "pasted", back: { kind: "import" } });
    await fireEvent.click(await screen.findByTestId("guides-back"));
    expect(await screen.findByTestId("import-keep-file")).toBeTruthy();
    expect(importing.paths).toEqual([POEM]);
  });

  it("offers the nearest formats first, then all by group, and last to keep it as a file", async () => {
    await importing.inspect([POEM]);
    render(ImportSheet);
    const trigger = screen.getByTestId("import-format");
    trigger.focus();
    await fireEvent.keyDown(trigger, { key: "Enter" });
    const options = await waitFor(() => {
      const optionTexts = screen.getAllByRole("option").map((each) => each.textContent?.trim());
      expect(optionTexts.length).toBeGreaterThan(5);
      return optionTexts;
    });
    expect([options[0], options.at(-1)]).toEqual(["Plain text", "Keep as a file"]);
    expect(new Set(options).size, "each format once").toBe(options.length);
    const groups = screen.getAllByRole("group").map((each) => each.getAttribute("aria-labelledby"));
    const headings = groups.map((id) => document.getElementById(id ?? "")?.textContent).filter(Boolean);
    expect(headings[0]).toBe("Most likely");
    expect(headings).toContain("Assistants");
  });
});
