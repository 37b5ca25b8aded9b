// Accessibility of every screen: axe, contrast, structure, larger text, forced colours, more contrast, less motion and
// transparency, zoom. Each screen is visited once. The first screen of each kind is checked again with each setting;
// `npm run campaign -- screens` does so with all screens.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { runAlone } from "../tools/count.mjs";
import { contrastFaults, applyHoverStyles } from "./contrast.mjs";
import { checkInEnglish } from "./english.mjs";
import { Faults } from "./faults.mjs";
import { CLIPPED_SOURCE } from "./text-checks.mjs";
import { WINDOW_SIZES } from "./page.mjs";
import { forcedColourFaults, runningAnimations, structureFaults, translucentElements } from "./structure.mjs";
import { isFirst, needsAllSettings } from "./walk.mjs";

/** Reads axe only when it is needed, because this file is loaded before the packages are installed. */
const readAxe = () => readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** All rules of WCAG 2 A and AA and axe's best practice. */
const AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"];
/** Rules whose result depends on the theme. All other rules run in one theme. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];
const ALL_RULES = { runOnly: { type: "tag", values: AXE_TAGS } };
const ONLY_COLOUR_RULES = { runOnly: { type: "rule", values: COLOUR_RULES } };
/** Rules whose result depends on the size of the window. */
const SIZE_RULES = [
  ...[
    "target-size",
    "scrollable-region-focusable",
    "region",
    "heading-order",
    "page-has-heading-one",
    "landmark-unique",
  ],
  ...["button-name", "link-name", "label", "image-alt", "svg-img-alt", "role-img-alt", "aria-hidden-focus"],
  ...[
    "aria-input-field-name",
    "aria-toggle-field-name",
    "aria-required-children",
    "nested-interactive",
    "empty-heading",
  ],
];
const ONLY_SIZE_RULES = { runOnly: { type: "rule", values: SIZE_RULES } };

/** Source of a function that runs axe in the page. */
const RUN_AXE_SOURCE = `async (options) => {
  const { violations } = await axe.run(document, { ...options, resultTypes: ["violations"], elementRef: false });
  return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => id + ": " + help + "\\n      " + node.html.replaceAll(/ (?:class|id|data-[\\w-]+)="[^"]*"/g, "").slice(0, 200)));
}`;

/** Checks the accessibility of each screen. It is one of the checks that are passed to `checkInEnglish`. */
export class AccessibilityCheck {
  #kinds = new Map();
  #visits = 0;

  /** Loads axe into every page. */
  begin(browser) {
    return browser.devTools("Page.addScriptToEvaluateOnNewDocument", { source: readAxe() });
  }

  async visit(name, page) {
    this.#visits += 1;
    const [large, small] = WINDOW_SIZES;
    const place = `${name} at ${large.join("x")}`;
    await this.#inBothThemes(page, place);
    if (!needsAllSettings(name)) return;
    await this.#withSettings(page, place, isFirst(name));
    await this.#inSmall(page, small, `${name} at ${small.join("x")}`);
    // Apply hover styles to all elements. They stay until the next page is opened.
    await page.browser.run(String(applyHoverStyles));
    for (const theme of ["light", "dark"]) {
      await page.setTheme(theme);
      const { found } = await page.browser.run(String(contrastFaults));
      this.#note(`contrast under the pointer, ${theme}`, found, name);
    }
  }

  async #inBothThemes(page, place) {
    const { browser } = page;
    await page.setTheme("light");
    this.#note("axe", await browser.run(RUN_AXE_SOURCE, ALL_RULES), place);
    this.#note("structure", await browser.run(String(structureFaults)), place);
    this.#note("less motion", await browser.run(String(runningAnimations)), place);
    await this.#contrast(page, "contrast, light", place);
    await page.setTheme("dark");
    await this.#contrast(page, "contrast, dark", place);
  }

  async #withSettings(page, place, first) {
    const { browser } = page;
    this.#note("axe", await browser.run(RUN_AXE_SOURCE, ONLY_COLOUR_RULES), place);
    // More contrast changes only the design tokens, so one screen of each kind is enough.
    if (first) {
      await page.emulateMedia({ "prefers-contrast": "more" });
      await this.#contrast(page, "contrast in high-contrast mode, dark", place);
      await page.setTheme("light");
      await this.#contrast(page, "contrast in high-contrast mode, light", place);
    }
    await page.emulateMedia({ "forced-colors": "active" });
    this.#note("forced colours", await browser.run(String(forcedColourFaults)), place);
    await page.emulateMedia({ "prefers-reduced-transparency": "reduce" });
    this.#note("less transparency", await browser.run(String(translucentElements)), place);
    await page.emulateMedia();
    await browser.run("() => void (document.documentElement.dataset.textSize = 'larger')");
    await page.waitUntilIdle();
    this.#note("text size 20", await browser.run(CLIPPED_SOURCE), place);
    await browser.run("() => void delete document.documentElement.dataset.textSize");
  }

  /** Checks the screen in the smallest window at twice the pixel density, which is like a 200 % zoom. */
  async #inSmall(page, size, place) {
    const { browser } = page;
    await page.setSize(size, 2);
    await page.waitUntilIdle();
    this.#note("zoom 200 %", await browser.run(CLIPPED_SOURCE), place);
    this.#note("axe", await browser.run(RUN_AXE_SOURCE, ONLY_SIZE_RULES), place);
    this.#note("structure", await browser.run(String(structureFaults)), place);
  }

  async #contrast(page, kind, place) {
    const { found, checked } = await page.browser.run(String(contrastFaults));
    this.#note(kind, checked > 0 ? found : ["nothing was checked"], place);
  }

  #note(kind, faults, place) {
    const entry = this.#kinds.get(kind) ?? this.#kinds.set(kind, { checks: 0, faults: new Faults() }).get(kind);
    entry.checks += 1;
    entry.faults.add(faults, place);
  }

  report(count, total) {
    for (const [kind, { faults, checks }] of this.#kinds) {
      faults.print(kind);
      count.add(`accessibility: ${kind} (${checks} checks)`, faults.isEmpty);
    }
    count.add(`accessibility: all ${total} screens`, this.#visits === total);
  }
}

await runAlone(import.meta.url, (count) => checkInEnglish(count, [new AccessibilityCheck()]));
