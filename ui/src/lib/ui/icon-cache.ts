import { mount, unmount } from "svelte";
import type { IconComponent } from "./types";

const cache = new Map<IconComponent, Node>();

/** A copy of an icon's SVG. Each icon is rendered only once, because that is the most expensive part of a list row. */
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
