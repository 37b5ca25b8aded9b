// Tests that filters of a narrow window are in a popover, and that its two panes share the width.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import ListDetail from "../src/features/layout/ListDetail.svelte";
import FilterPopover from "../src/features/memories/FilterPopover.svelte";
import { start } from "./start-mock";
import { createRawSnippet } from "svelte";
import { appearance } from "$lib/state/appearance.svelte";
import { memories } from "$lib/state/lists.svelte";
import { vault } from "$lib/state/vault.svelte";
import Separator from "$lib/ui/Separator.svelte";

beforeEach(async () => {
  await start();
  await vault.refresh();
});

describe("the filter", () => {
  it("has the filters of the sidebar, including other kinds", async () => {
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

describe("two panes", () => {
  const separator = () => screen.getByRole("separator");
  const limits = () => ["min", "now", "max"].map((name) => Number(separator().getAttribute(`aria-value${name}`)));

  it("share the width: the detail pane keeps its minimum, whatever list width was stored", async () => {
    const root = document.documentElement.style;
    for (const [token, size] of [
      ["list-min", 18],
      ["list-max", 32.5],
      ["detail-min", 26.25],
    ])
      root.setProperty(`--pane-${token}`, `${size}rem`);
    let width = 857;
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockImplementation(() => width);
    appearance.listWidth = 510;
    const pane = createRawSnippet(() => ({ render: () => "<p></p>" }));
    const { unmount } = render(ListDetail, { list: pane, detail: pane });
    await waitFor(() => expect(limits()).toEqual([288, 436, 436]));
    await fireEvent.keyDown(separator(), { key: "ArrowRight" });
    expect(appearance.listWidth).toBe(436);
    await fireEvent.keyDown(separator(), { key: "ArrowLeft" });
    expect(appearance.listWidth).toBe(420);
    unmount();
    width = 1400;
    render(ListDetail, { list: pane, detail: pane });
    await waitFor(() => expect(limits()).toEqual([288, 420, 520]));
    appearance.listWidth = null;
  });

  it.each([
    ["ltr", 16],
    ["rtl", -16],
  ])("are resized in the direction of the key or the pointer (%s)", async (direction, step) => {
    const onresize = vi.fn();
    render(Separator, { width: 400, min: 288, max: 520, label: "Width", onresize });
    const handle = separator();
    handle.setPointerCapture = vi.fn();
    vi.spyOn(window, "getComputedStyle").mockReturnValue({ direction } as CSSStyleDeclaration);
    await fireEvent.keyDown(handle, { key: "ArrowRight" });
    expect(onresize).toHaveBeenLastCalledWith(400 + step);
    await fireEvent.keyDown(handle, { key: "ArrowLeft" });
    expect(onresize).toHaveBeenLastCalledWith(400 - step);
    await fireEvent.pointerDown(handle, { clientX: 700 });
    await fireEvent.pointerMove(handle, { clientX: 716 });
    expect(onresize).toHaveBeenLastCalledWith(400 + step);
    await fireEvent.pointerCancel(handle);
    await fireEvent.pointerMove(handle, { clientX: 780 });
    expect(onresize).toHaveBeenLastCalledWith(400 + step);
  });
});
