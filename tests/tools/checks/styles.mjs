// Checks that styles name sides by the direction of writing (inline-start, not left). The window then mirrors itself
// for languages that are written from right to left.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../places.mjs";

const SOURCE_FOLDER = join(ROOT, "ui", "src");
const PHYSICAL_PROPERTIES = [
  /^(?:(?:min|max)-)?(?:width|height)$/,
  /^(?:left|right|top|bottom|float|clear)$/,
  /^(?:margin|padding|border|scroll-margin|scroll-padding)-(?:left|right|top|bottom)(?:-.*)?$/,
  /^border-(?:top|bottom)-(?:left|right)-radius$/,
  /^overscroll-behavior-[xy]$/,
];
/** Shorthands with one value for each side: the second is for the right and the fourth for the left. */
const SHORTHAND_PATTERN = /^(?:margin|padding|inset|border-(?:width|style|color)|scroll-(?:margin|padding))$/;

/** Declarations that name a physical side, one line each. */
export function physicalSides(css) {
  const declarations = [];
  for (const [, name, value] of css
    .replaceAll(/\/\*.*?\*\//gs, "")
    .matchAll(/(?<=[{;]\s*)([a-z-]+)\s*:\s*([^;{}]+);/g)) {
    if (PHYSICAL_PROPERTIES.some((pattern) => pattern.test(name))) declarations.push(`${name}: ${value}`);
    if (name === "text-align" && /^(?:left|right)$/.test(value)) declarations.push(`${name}: ${value}`);
    if (!SHORTHAND_PATTERN.test(name)) continue;
    let withoutBrackets = value;
    while (/\([^()]*\)/.test(withoutBrackets)) withoutBrackets = withoutBrackets.replaceAll(/\([^()]*\)/g, "");
    const parts = withoutBrackets.trim().split(/\s+/);
    const values = value.match(/(?:[^\s()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))+/g) ?? [];
    if (parts.length === 4 && values[1] !== values[3]) declarations.push(`${name}: ${value}`);
  }
  return declarations;
}

/**
 * Problems: CSS declarations in the pages that name a physical side (`left`) instead of a logical one (`inline-start`).
 */
export function physicalSidesInStyles() {
  return readdirSync(SOURCE_FOLDER, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(?:svelte|css)$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(SOURCE_FOLDER, file), "utf8");
      const css = file.endsWith(".css") ? text : (/<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? "");
      return physicalSides(css).map((line) => `ui/src/${file}: ${line.replaceAll(/\s+/g, " ")}`);
    });
}
