import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";

const src = resolve(import.meta.dirname, "../src");
const sources = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.(svelte|css)$/.test(file))
  .map((file) => `${src}/${file}`);
const css = readFileSync(`${src}/styles/tokens.css`, "utf8");

/** Returns the declarations of every rule with exactly this selector, inside the media query `media` or outside. */
function declarations(selector: string, media: string | null): Record<string, string> {
  const found: Record<string, string> = {};
  const outside = css.replace(/@media[^{]*\{(?:[^{}]*\{[^{}]*\}\s*)*\}/g, "");
  const inside = [...css.matchAll(/@media ([^{]*)\{((?:[^{}]*\{[^{}]*\}\s*)*)\}/g)]
    .filter((match) => match[1]?.trim() === media)
    .map((match) => match[2]);
  for (const part of media === null ? [outside] : inside) {
    for (const rule of (part ?? "").replace(/\/\*.*?\*\//gs, "").matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
      if (rule[1]?.trim() !== selector) continue;
      for (const line of (rule[2] ?? "").matchAll(/(--[\w-]+):\s*([^;]+);/g))
        found[line[1] ?? ""] = (line[2] ?? "").trim();
    }
  }
  return found;
}

const light = declarations(":root", null);
const dark = declarations(':root[data-theme="dark"]', null);
const system = declarations(":root:not([data-theme])", "(prefers-color-scheme: dark)");

function luminance(hex: string): number {
  const channels = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  const [r = 0, g = 0, b = 0] = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [hi = 0, lo = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (hi + 0.05) / (lo + 0.05);
}

const surfaces = ["--bg-app", "--bg-list", "--bg-content", "--bg-raised", "--bg-sunken"];
const texts: [string, string[]][] = [
  [
    "--text",
    [...surfaces, "--bg-hover", "--bg-selected", "--bg-selected-idle", "--warn-soft", "--danger-soft", "--ok-soft"],
  ],
  [
    "--text-2",
    [...surfaces, "--bg-hover", "--bg-selected", "--bg-selected-idle", "--accent-soft", "--ok-soft", "--danger-soft"],
  ],
  ["--text-3", ["--bg-app", "--bg-list", "--bg-content", "--bg-raised", "--bg-sunken"]],
  ["--accent-text", [...surfaces, "--accent-soft", "--danger-soft", "--warn-soft"]],
  ["--on-accent", ["--accent", "--accent-hover"]],
  ["--on-danger", ["--danger", "--danger-hover"]],
  ["--danger-text", ["--danger-soft", "--bg-content", "--bg-raised"]],
  ["--warn-text", ["--warn-soft", "--bg-content", "--bg-list"]],
  ["--ok-text", ["--ok-soft", "--bg-content", "--bg-raised"]],
  ["--mark-text", ["--mark-bg", "--mark-current"]],
  ["--toast-text", ["--toast-bg"]],
  ["--toast-link", ["--toast-bg"]],
  ...[1, 2, 3, 4, 5, 6].map((n): [string, string[]] => [`--src-${n}-text`, [`--src-${n}-soft`]]),
];
const graphics: [string, string[]][] = [
  ["--line-control", ["--bg-content", "--bg-list", "--bg-raised", "--bg-app"]],
  ["--focus", ["--bg-content", "--bg-list", "--bg-app", "--bg-raised"]],
  ["--redacted", ["--bg-content", "--bg-list", "--bg-selected"]],
  ...[1, 2, 3, 4, 5, 6].map((n): [string, string[]] => [`--src-${n}`, ["--bg-content"]]),
];

describe("tokens", () => {
  it("have the same dark values for the setting and for the system theme", () => {
    expect(Object.keys(dark).length).toBeGreaterThan(40);
    expect(system).toEqual(dark);
  });

  it.each([
    ["light", light],
    ["dark", { ...light, ...dark }],
  ])("give enough contrast in %s", (_, theme: Record<string, string>) => {
    const lowContrasts: string[] = [];
    const check = (pairs: [string, string[]][], least: number) => {
      for (const [front, backs] of pairs) {
        for (const back of backs) {
          const ratio = contrast(theme[front] ?? "", theme[back] ?? "");
          if (!(ratio >= least)) lowContrasts.push(`${front} on ${back}: ${ratio.toFixed(2)}`);
        }
      }
    };
    check(texts, 4.5);
    check(graphics, 3);
    expect(lowContrasts).toEqual([]);
  });

  it("are the only place with colours and durations", () => {
    const found: string[] = [];
    for (const file of sources) {
      if (file.endsWith("tokens.css")) continue;
      const text = readFileSync(file, "utf8");
      const styles = file.endsWith(".css") ? text : (/<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? "");
      for (const match of styles.matchAll(/#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(|\b\d+ms\b/gi))
        found.push(`${file.slice(src.length)}: ${match[0]}`);
      if (/\sstyle="/.test(text.replace(/<style>[\s\S]*/, "")))
        found.push(`${file.slice(src.length)}: style attribute`);
    }
    expect(found).toEqual([]);
  });

  it("name every variable that the styles use", () => {
    const ownTokens = [...Object.keys(light), "--chosen", "--columns", "--lift"];
    // Bits UI sets this variable on the content of a popover.
    const knownTokens = new Set([...ownTokens, "--bits-popover-content-available-height"]);
    const missing = new Set<string>();
    for (const file of sources) {
      for (const match of readFileSync(file, "utf8").matchAll(/var\((--[\w-]+)/g))
        if (!knownTokens.has(match[1] ?? "")) missing.add(match[1] ?? "");
    }
    expect([...missing]).toEqual([]);
  });
});
