// The narrow window: what moves into the filter.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import FilterPopover from "../src/features/memories/FilterPopover.svelte";
import { useBackend } from "$lib/ipc";
import { mockBackend } from "$lib/ipc/mock";
import { memories } from "$lib/state/lists.svelte";
import { clearContent } from "$lib/state/scope";
import { session } from "$lib/state/session.svelte";
import { vault } from "$lib/state/vault.svelte";

beforeEach(async () => {
  clearContent();
  const mock = mockBackend({ open: true });
  useBackend(mock);
  session.opened(await mock.sessionState());
  await vault.refresh();
});

describe("the filter", () => {
  it("has what the sidebar has, also what is kept beside the memories", async () => {
    memories.setFilter({ source: "gemini" });
    render(FilterPopover, { list: memories });
    await fireEvent.click(screen.getByTestId("filter-button"));
    const kind = await screen.findByTestId("filter-kind");
    expect(kind.textContent?.trim()).toBe("Memories");
    kind.focus();
    await fireEvent.keyDown(kind, { key: "Enter" });
    const options = await screen.findAllByRole("option");
    expect(options.map((each) => each.textContent?.trim())).toEqual(["Memories", "Profile notes (3)"]);
    await fireEvent.pointerUp(options[1]!);
    await waitFor(() => expect(memories.filter).toMatchObject({ kind: "profile", source: null }));
  });
});
