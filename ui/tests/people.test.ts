// Tests of people and topics in the memories, and of their timelines.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import PeopleView from "../src/features/people/PeopleView.svelte";
import { dialogs } from "$lib/state/dialogs.svelte";
import { nav } from "$lib/state/nav.svelte";
import { subjects } from "$lib/state/subjects.svelte";
import { vault } from "$lib/state/vault.svelte";
import en from "$lib/text/en.json";
import de from "$lib/text/de.json";
import ja from "$lib/text/ja.json";
import { start, type Mock } from "./start-mock";

/** The file with the words by which the program recognises relations. Each table of the file is one relation. */
const PEOPLE_WORDS = "../../src-tauri/crates/mementory-insight/data/people/en.toml";

describe("relations", () => {
  it("have a name in every language", () => {
    const lists = readFileSync(resolve(import.meta.dirname, PEOPLE_WORDS), "utf8");
    const tables = [...lists.matchAll(/^\[(\w+)\]$/gm)].map(([, name]) => name);
    const relations = tables.filter((name) => name !== "words" && name !== "names").map((name) => `relation.${name}`);
    expect(relations.length).toBeGreaterThan(30);
    for (const messages of [en, de, ja]) expect(relations.filter((key) => !(key in messages))).toEqual([]);
  });
});

describe("people and topics", () => {
  let mock: Mock;
  beforeEach(async () => {
    mock = await start();
    await vault.refresh();
    subjects.clear();
    subjects.tab = "people";
    nav.section = "people";
  });
  const rows = () => screen.findAllByTestId("subject");

  it("are listed with their relation, and the memories of the open one by date", async () => {
    render(PeopleView);
    const [first] = await rows();
    expect(first!.textContent).toMatch(/Liv\s*daughter/);
    const memories = await screen.findAllByTestId("timeline-memory");
    expect(memories).toHaveLength(Number(first!.querySelector("b")!.textContent));
    const dates = (await mock.timeline(subjects.current!.memories.slice())).items.map(
      (each) => each.created_at ?? "9999",
    );
    expect(dates).toEqual([...dates].sort());
  });

  it("have a tab for topics, and open a memory", async () => {
    render(PeopleView);
    await rows();
    await fireEvent.click(screen.getByTestId("topics-tab"));
    await waitFor(() => expect(subjects.current?.tab).toBe("topics"));
    const [memory] = await screen.findAllByTestId("timeline-memory");
    await fireEvent.click(memory!);
    expect(nav.section).toBe("memories");
    expect(subjects.current!.memories).toContain(nav.id);
  });

  it("ask before all memories about one are erased", async () => {
    render(PeopleView);
    await screen.findAllByTestId("timeline-memory");
    await fireEvent.click(screen.getByTestId("timeline-erase"));
    expect(dialogs.open).toMatchObject({ kind: "erase" });
    expect((dialogs.open as { ids: string[] }).ids.sort()).toEqual([...subjects.current!.memories].sort());
  });
});
