// Styles name sides by the direction of writing (inline-start, not left), so that the window mirrors itself for languages
// that are written from right to left.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../places.mjs";

const SRC = join(ROOT, "ui", "src");
const PHYSICAL = [
  /^(?:(?:min|max)-)?(?:width|height)$/,
  /^(?:left|right|top|bottom|float|clear)$/,
  /^(?:margin|padding|border|scroll-margin|scroll-padding)-(?:left|right|top|bottom)(?:-.*)?$/,
  /^border-(?:top|bottom)-(?:left|right)-radius$/,
  /^overscroll-behavior-[xy]$/,
];
/** Shorthands with one value for each side: the second is for the right and the fourth for the left. */
const SHORTHAND = /^(?:margin|padding|inset|border-(?:width|style|color)|scroll-(?:margin|padding))$/;

/** Declarations that name a physical side, one line each. */
export function physicalSides(css) {
  const found = [];
  for (const [, name, value] of css
    .replaceAll(/\/\*.*?\*\//gs, "")
    .matchAll(/(?<=[{;]\s*)([a-z-]+)\s*:\s*([^;{}]+);/g)) {
    if (PHYSICAL.some((pattern) => pattern.test(name))) found.push(`${name}: ${value}`);
    if (name === "text-align" && /^(?:left|right)$/.test(value)) found.push(`${name}: ${value}`);
    if (!SHORTHAND.test(name)) continue;
    let flat = value;
    while (/\([^()]*\)/.test(flat)) flat = flat.replaceAll(/\([^()]*\)/g, "");
    const parts = flat.trim().split(/\s+/);
    const four = value.match(/(?:[^\s()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))+/g) ?? [];
    if (parts.length === 4 && four[1] !== four[3]) found.push(`${name}: ${value}`);
  }
  return found;
}

/** Styles of the pages that name a physical side. */
export function physicalSidesInStyles() {
  return readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(?:svelte|css)$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(SRC, file), "utf8");
      const css = file.endsWith(".css") ? text : (/<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? "");
      return physicalSides(css).map((line) => `ui/src/${file}: ${line.replaceAll(/\s+/g, " ")}`);
    });
}
