// Tests of the place of a toast over a dialog.
import { describe, expect, it } from "vitest";
import { controlsOf, liftOver } from "$lib/ui/toast-place";

const HEIGHT = 600;
/** A toast 40 pixels high, 20 pixels above the lower edge of the window. */
const TOAST = { left: 200, right: 600, top: 540, bottom: 580 };
const control = (top: number, bottom: number, left = 180, right = 620) => ({ left, right, top, bottom });

describe("a toast", () => {
  it("stays at the lower edge if it covers no control there", () => {
    expect(liftOver(TOAST, [], HEIGHT)).toBe(0);
    expect(liftOver(TOAST, [control(400, 500), control(550, 570, 0, 190)], HEIGHT)).toBe(0);
  });

  it("moves above what it would cover, past controls without enough space between them", () => {
    const button = control(550, 585);
    expect(liftOver(TOAST, [button], HEIGHT)).toBe(HEIGHT - button.top);
    const field = control(480, 515);
    expect(liftOver(TOAST, [button, field], HEIGHT), "between them the toast would cover the field").toBe(
      HEIGHT - field.top,
    );
  });

  it("has no place if every place in the window would cover a control", () => {
    expect(liftOver(TOAST, [control(0, HEIGHT)], HEIGHT)).toBeNull();
  });

  it("is not one of the controls that it avoids, and neither is what is scrolled out of the dialog", () => {
    const dialog = document.createElement("div");
    dialog.innerHTML = "<input><button></button><div><button></button></div>";
    const [field, button] = dialog.querySelectorAll("input, button");
    const box = (top: number) => new DOMRect(0, top, 100, 20);
    dialog.getBoundingClientRect = () => new DOMRect(0, 0, 100, 200);
    field!.getBoundingClientRect = () => box(50);
    button!.getBoundingClientRect = () => box(250);
    const toast = dialog.querySelector("div")!;
    toast.querySelector("button")!.getBoundingClientRect = () => box(60);
    expect(controlsOf(dialog, toast).map(({ top }) => top)).toEqual([50]);
  });
});
