// Tests of the window's single tooltip.
import { fireEvent, render, screen } from "@testing-library/svelte";
import Eraser from "@lucide/svelte/icons/eraser";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { tick } from "svelte";
import ThreadPane from "../src/features/conversations/ThreadPane.svelte";
import { useBackend } from "$lib/ipc";
import { mockBackend } from "$lib/ipc/mock";
import { nav } from "$lib/state/nav.svelte";
import IconButton from "$lib/ui/IconButton.svelte";
import TooltipLayer from "$lib/ui/TooltipLayer.svelte";

const tooltipTexts = () =>
  [...document.querySelectorAll("[data-tooltip-content]")].map((tip) => tip.textContent?.trim());

describe("the tooltip", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it("names the hovered element, one at a time", async () => {
    render(TooltipLayer);
    render(IconButton, { icon: Eraser, label: "Redact", keys: "R" });
    render(IconButton, { icon: Eraser, label: "Copy" });
    const hover = async (name: string) => {
      await fireEvent.pointerEnter(screen.getByRole("button", { name }));
      await vi.advanceTimersByTimeAsync(500);
    };
    expect(tooltipTexts()).toEqual([]);
    await hover("Redact");
    expect(tooltipTexts()).toEqual(["RedactR"]);
    await hover("Copy");
    expect(tooltipTexts()).toEqual(["Copy"]);
    await fireEvent.pointerDown(screen.getByRole("button", { name: "Copy" }));
    await vi.advanceTimersByTimeAsync(0);
    expect(tooltipTexts()).toEqual([]);
  });

  it("shows the target of a link in a conversation, on hover or focus", async () => {
    nav.message = "msg-a1"; // This message is rendered wherever the list is scrolled to.
    const mock = mockBackend({ open: true });
    useBackend(mock);
    const thread = await mock.thread("c-bath");
    const text = "[tables](https://exаmple.org/a?b=c) and [here](javascript:alert)"; // with a Cyrillic а
    render(TooltipLayer);
    render(ThreadPane, { thread: { ...thread, messages: [{ ...thread.messages[1]!, text }], active_path: [] } });
    await tick();
    const [first, second] = [...document.querySelectorAll<HTMLElement>("a[data-href]")] as [HTMLElement, HTMLElement];
    await fireEvent.pointerOver(first);
    await vi.advanceTimersByTimeAsync(499);
    expect(tooltipTexts()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(tooltipTexts()).toEqual(["https://xn--exmple-4nf.org/a?b=c"]);
    expect(document.getElementById(first.getAttribute("aria-describedby") ?? "-")?.textContent).toContain("xn--");
    await fireEvent.pointerDown(first);
    await vi.advanceTimersByTimeAsync(0);
    expect([tooltipTexts(), first.hasAttribute("aria-describedby")]).toEqual([[], false]);
    vi.spyOn(second, "matches").mockReturnValue(true);
    await fireEvent.focusIn(second);
    await vi.advanceTimersByTimeAsync(0);
    expect(tooltipTexts()).toEqual(["javascript:alert"]);
    await fireEvent.focusOut(second);
    await vi.advanceTimersByTimeAsync(0);
    expect(tooltipTexts()).toEqual([]);
  });
});
