import type { DetachedWindowAPI } from "happy-dom";
import { readFileSync } from "node:fs";
import { afterEach, expect, it } from "vitest";

const source = (name: string) => readFileSync(`${import.meta.dirname}/../src/styles/${name}.css`, "utf8");
const { device } = (window as unknown as { happyDOM: DetachedWindowAPI }).happyDOM.settings;

afterEach(() => {
  device.mediaType = "screen";
  document.head.replaceChildren();
  document.body.replaceChildren();
});

it("a print area may take several pages: neither it nor anything around it is fixed or clipped", () => {
  const style = document.createElement("style");
  style.textContent = `${source("base").replaceAll(/@import .*;/g, "")}
    ${source("print")}
    .sheet { position: fixed; overflow: hidden; block-size: 300px; transform: scale(1); }`;
  document.head.append(style);
  document.body.innerHTML = '<div class="sheet"><div class="print-area"><p>Code</p></div></div>';
  device.mediaType = "print";
  for (const selector of ["html", "body", ".sheet"]) {
    const { position, overflow, blockSize, transform } = getComputedStyle(document.querySelector(selector)!);
    expect({ selector, position, overflow, blockSize, transform }).toEqual({
      ...{ selector, position: "static", overflow: "visible", blockSize: "auto", transform: "none" },
    });
  }
  expect(["fixed", "absolute"]).not.toContain(getComputedStyle(document.querySelector(".print-area")!).position);
});
