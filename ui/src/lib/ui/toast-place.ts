type Box = Pick<DOMRect, "top" | "bottom" | "left" | "right">;

const overlaps = (a: Box, b: Box): boolean =>
  a.top < b.bottom && b.top < a.bottom && a.left < b.right && b.left < a.right;

/**
 * How many pixels a toast has to move up so that it covers none of these controls of a dialog. Returns the smallest
 * possible distance, and null if the toast would leave the window. Above a control, the toast keeps the same distance as
 * from the edge of the window.
 */
export function liftOver(toast: Box, controls: readonly Box[], windowHeight: number): number | null {
  const isFree = (lift: number) => {
    const moved = { ...toast, top: toast.top - lift, bottom: toast.bottom - lift };
    return moved.top >= 0 && !controls.some((control) => overlaps(moved, control));
  };
  const lifts = [0, ...controls.map((control) => Math.max(0, windowHeight - control.top))];
  return lifts.sort((a, b) => a - b).find(isFree) ?? null;
}

/** The visible controls of a dialog, except those of the toast itself. */
export function controlsOf(dialog: Element, toast: Element): DOMRect[] {
  const area = dialog.getBoundingClientRect();
  return [...dialog.querySelectorAll("a[href], button, input, textarea, select")]
    .filter((control) => !toast.contains(control))
    .map((control) => control.getBoundingClientRect())
    .filter((box) => box.width > 0 && overlaps(box, area));
}

/** The position of the toast in the window. Unlike `getBoundingClientRect`, it ignores the animation of the toast. */
export function boxOf({ offsetLeft, offsetTop, offsetWidth, offsetHeight }: HTMLElement): Box {
  return { left: offsetLeft, right: offsetLeft + offsetWidth, top: offsetTop, bottom: offsetTop + offsetHeight };
}
