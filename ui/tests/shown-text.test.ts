// Tests which part of a text is shown as a line, and which message is shown as evidence.
import { render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import { fileSummary } from "../src/features/files/kinds";
import { titleText } from "../src/features/home/data";
import TimelineView from "../src/features/people/TimelineView.svelte";
import { withoutOwnNote } from "../src/features/review/own-note";
import type { EvidenceMessage } from "$lib/ipc";
import { item } from "$lib/ipc/mock/data";
import { plainRow } from "$lib/state/records.svelte";
import type { Subject } from "$lib/state/subjects.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;
beforeEach(async () => {
  mock = await start();
});

describe("the line of a memory", () => {
  it("is its first words if the title is only the name of a file", () => {
    const text = "Prefers small tests.";
    expect(titleText({ title: "feedback_tests.md", text })).toBe(text);
    expect(titleText({ title: "food/amelia.md", text })).toBe(text);
    expect(titleText({ title: "reference_people", text })).toBe(text);
    expect(titleText({ title: null, text })).toBe(text);
    expect(titleText({ title: "How I like tests", text })).toBe("How I like tests");
    expect(titleText({ title: "Written in Node.js", text }), "a sentence").toBe("Written in Node.js");
    expect(titleText({ title: "empty.md", text: "" }), "there is nothing else").toBe("empty.md");
  });
});

describe("a memory with headings", () => {
  it("has a line for each heading in a timeline", async () => {
    const memory = item("m", "memory", "claude", "# Work\n\nPlans timetables.\n\n# Home\n\nMoved to Lisbon.", 1);
    mock.timeline = async () => ({ items: [memory] });
    const subject = { key: "p", tab: "topics", topic: { name: "Liv" }, memories: ["m"] } as unknown as Subject;
    render(TimelineView, { subject });
    const row = await screen.findByTestId("timeline-memory");
    await waitFor(() =>
      expect(row.querySelector(".text")?.textContent?.split("\n")).toEqual([
        "Work",
        "Plans timetables.",
        "Home",
        "Moved to Lisbon.",
      ]),
    );
  });
});

describe("evidence", () => {
  const message = (said_by: string, how: string, text: string) =>
    ({ id: text, said_by, how, text }) as unknown as EvidenceMessage;
  const MEMORY = "Plans bus timetables at a depot in Leeds.";
  const note = message("assistant", "linked", "plans bus timetables at a depot in Leeds");
  const said = message("user", "words", "I plan bus timetables.");

  it("does not contain the note by which the assistant kept the memory", () => {
    expect(withoutOwnNote([said, note], MEMORY)).toEqual([said]);
  });

  it("contains that note if there is nothing else, and whatever the person said", () => {
    expect(withoutOwnNote([note], MEMORY)).toEqual([note]);
    const sameText = message("user", "linked", MEMORY);
    expect(withoutOwnNote([sameText, note], MEMORY)).toEqual([sameText]);
    const other = message("assistant", "linked", "You said that you plan bus timetables.");
    expect(withoutOwnNote([said, other], MEMORY)).toEqual([said, other]);
  });
});

describe("a file that an export only lists", () => {
  it("names its assistant and its date, if it has one", () => {
    const row = { ...plainRow(item("a", "attachment", "gemini", "", 1)), present: false, created_at: null };
    expect(fileSummary(row)).toBe("Gemini, listed in the export but not included");
    expect(fileSummary({ ...row, created_at: "2020-10-02T08:00:00Z" })).toMatch(
      /^Gemini, .*2020, listed in the export but not included$/,
    );
  });
});
