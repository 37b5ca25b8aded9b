import { mount, unmount } from "svelte";
import type { IconComponent } from "./types";

const cache = new Map<IconComponent, Node>();

/**
 * Returns a copy of an icon's SVG. Rendering an icon is the most expensive part of a list row, so each icon is rendered
 * only once and then copied.
 */
export function iconSvg(of: IconComponent): Node {
  let found = cache.get(of);
  if (!found) {
    const box = document.createElement("span");
    const shape = mount(of, { target: box, props: { size: "100%", strokeWidth: 1.75, "aria-hidden": "true" } });
    found = box.querySelector("svg")?.cloneNode(true) ?? document.createTextNode("");
    void unmount(shape);
    cache.set(of, found);
  }
  return found.cloneNode(true);
}
