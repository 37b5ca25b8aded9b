import { fireEvent, render, screen } from "@testing-library/svelte";
import { beforeEach, expect, it } from "vitest";
import Matrix from "../src/features/home/Matrix.svelte";
import { memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { clearContent } from "$lib/state/scope";

beforeEach(() => clearContent());

const column = (platform: string, memories: number) => ({
  platform,
  memories,
  profiles: 0,
  conversations: 0,
  newest: null,
  types: (memories > 0 ? { fact: memories } : {}) as Record<string, number>,
});

it("the number under an assistant opens all that it remembers; a zero opens nothing", async () => {
  render(Matrix, { columns: [column("chatgpt", 104), column("gemini", 0)], types: ["fact"] });
  const all = screen.getAllByTestId("home-memories");
  expect(all.map((button) => [button.textContent, button.getAttribute("aria-label")])).toEqual([
    ["104", "104 memories"],
  ]);
  memories.setFilter({ record_type: "goal" });
  await fireEvent.click(all[0]!);
  expect([nav.section, memories.filter.source, memories.filter.record_type, memories.filter.kind]).toEqual([
    "memories",
    "chatgpt",
    null,
    "memory",
  ]);
});
