import { fireEvent, render, screen } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import Matrix from "../src/features/home/Matrix.svelte";
import WorthALook from "../src/features/home/WorthALook.svelte";
import { columnsOf } from "../src/features/home/data";
import { useBackend } from "$lib/ipc";
import { mockBackend } from "$lib/ipc/mock";
import { ago } from "$lib/ipc/mock/data";
import { memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { clearContent } from "$lib/state/scope";
import { search } from "$lib/state/search.svelte";

beforeEach(() => clearContent());

const column = (platform: string, memories: number) => ({
  platform,
  memories,
  profiles: 0,
  conversations: 0,
  newest: null,
  exported: null,
  types: (memories > 0 ? { fact: memories } : {}) as Record<string, number>,
});

it("the number under an assistant opens all that it remembers; a zero opens nothing", async () => {
  render(Matrix, { columns: [column("chatgpt", 104), column("gemini", 0)], types: ["fact"] });
  const all = screen.getAllByTestId("home-memories");
  expect(all.map((button) => [button.textContent, button.getAttribute("aria-label")])).toEqual([
    ["104", "104 memories"],
  ]);
  memories.setFilter({ record_type: "goal" });
  search.text = "harbour";
  await fireEvent.click(all[0]!);
  expect(search.text, "of a search before").toBe("");
  expect([nav.section, memories.filter.source, memories.filter.record_type, memories.filter.kind]).toEqual([
    "memories",
    "chatgpt",
    null,
    "memory",
  ]);
});

describe("an export that is old", () => {
  const source = (platform: string, newest: number, exported: number | null) => ({
    platform,
    format: platform,
    counts: { memory: 1 },
    newest_at: ago(newest),
    exported_at: exported === null ? null : ago(exported),
  });
  // Not used for long, but exported today; used until its export, which is long ago; of the person's own.
  const columns = columnsOf([source("gemini", 400, 0), source("claude", 91, 91), source("me", 400, null)]);

  it("is one that was made long ago, whatever the age of what is in it", () => {
    useBackend(mockBackend({ open: true }));
    render(Matrix, { columns, types: ["fact"] });
    expect(screen.getAllByTestId("home-old").map((age) => age.textContent)).toEqual([
      expect.stringMatching(/^export of .*\d/),
    ]);
    expect(screen.getByTestId("home-old").closest("th")?.textContent).toContain("Claude");
    render(WorthALook, { columns, incomplete: [] });
    const old = screen.getAllByText(/is old$/).map((row) => row.textContent);
    expect(old).toEqual(["What Claude sent is old"]);
  });

  it("is judged by the newest of an assistant's exports", () => {
    const [column] = columnsOf([source("claude", 10, 200), { ...source("claude", 10, 3), format: "mem" }]);
    expect(column?.exported).toBe(ago(3));
  });
});
