// What is shown only where somebody points: the one tooltip of the window.
import { fireEvent, render, screen } from "@testing-library/svelte";
import Eraser from "@lucide/svelte/icons/eraser";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import IconButton from "$lib/ui/IconButton.svelte";
import TooltipLayer from "$lib/ui/TooltipLayer.svelte";

const tips = () => [...document.querySelectorAll("[data-tooltip-content]")].map((tip) => tip.textContent?.trim());

describe("the tooltip", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it("says what the thing is that is pointed at, one at a time", async () => {
    render(TooltipLayer);
    render(IconButton, { icon: Eraser, label: "Redact", keys: "R" });
    render(IconButton, { icon: Eraser, label: "Copy" });
    const point = async (name: string) => {
      await fireEvent.pointerEnter(screen.getByRole("button", { name }));
      await vi.advanceTimersByTimeAsync(500);
    };
    expect(tips()).toEqual([]);
    await point("Redact");
    expect(tips()).toEqual(["RedactR"]);
    await point("Copy");
    expect(tips()).toEqual(["Copy"]);
    await fireEvent.pointerDown(screen.getByRole("button", { name: "Copy" }));
    await vi.advanceTimersByTimeAsync(0);
    expect(tips()).toEqual([]);
  });
});
