// Compares every screen in English with its stored screenshot in `shots/`. `--update [prefix]` stores new screenshots.
// Look at them before you commit them.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runAlone } from "../tools/count.mjs";
import { checkInEnglish } from "./english.mjs";
import { WINDOW_SIZES } from "./page.mjs";
import { screenshotName, isFirst } from "./walk.mjs";

const STORED_FOLDER = fileURLToPath(new URL("shots/", import.meta.url));
const OUTPUT_FOLDER = fileURLToPath(new URL("out/shots/", import.meta.url));
/** File with the Chromium version and fonts of the stored screenshots, because the pixels differ with others. */
const MADE_WITH_FILE = join(STORED_FOLDER, "made-with.json");
const UPDATE_COMMAND = "`node tests/screens/shots.mjs --update`";
const SCALE = 0.5;
/**
 * Number of pixels, of 256,000, that may differ: a thin line may move by one row, as pictures are stored at half size.
 */
const MAX_DIFFERENT_PIXELS = 200;

/**
 * Source of a function that adds styles: they stop animations, and hide everything that depends on the speed of the
 * machine (rates, remaining time, tooltips) or on the languages of Chromium (the text in date fields).
 */
const FREEZE_SOURCE = `() => {
  const freeze = (window.__freeze ??= new CSSStyleSheet());
  freeze.replaceSync("*, ::before, ::after { animation: none !important; transition: none !important; caret-color: transparent !important; } .rate, .numbers > :last-child, [data-tooltip-content] { visibility: hidden !important; } ::-webkit-datetime-edit { opacity: 0 !important; } input[type=date] { inline-size: 130px !important; }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, freeze];
}`;
const UNFREEZE_SOURCE =
  "() => void (document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== window.__freeze))";

/** Runs inside the page. Returns the major version of Chromium, and text widths as a fingerprint of the fonts. */
function readVersions() {
  const style = getComputedStyle(document.documentElement);
  const pen = document.createElement("canvas").getContext("2d");
  const fonts = {};
  for (const family of ["--font-ui", "--font-mono"])
    for (const weight of ["400", "500", "600"])
      fonts[`${family} ${weight}`] = ["Hamburgefonstiv 0123456789", "يفضّل الردود", "日本語", "⌘⌃↵…·×"]
        .map((text) => {
          pen.font = `${weight} 100px ${style.getPropertyValue(family)}`;
          return Math.round(pen.measureText(text).width);
        })
        .join(" ");
  return { chromium: Number(/Chrome\/(\d+)/.exec(navigator.userAgent)?.[1]), fonts };
}

const storedFiles = () => readdirSync(STORED_FOLDER).filter((name) => name.endsWith(".png"));
/**
 * Only the first screen of each kind is also taken in the dark theme, because all screens use the same design tokens.
 */
const themesOf = (name) => (isFirst(name) ? ["light", "dark"] : ["light"]);

async function takeScreenshot(page) {
  const [width, height] = WINDOW_SIZES[0];
  await page.browser.run(FREEZE_SOURCE);
  await page.waitForFrames();
  const clip = { x: 0, y: 0, width, height, scale: SCALE };
  const { data } = await page.browser.devTools("Page.captureScreenshot", { format: "png", clip });
  await page.browser.run(UNFREEZE_SOURCE);
  return data;
}

/** A check for `checkInEnglish` that compares each screen with its stored screenshot, or stores new screenshots. */
export class Pictures {
  #seen = new Set();
  #equal = true;
  /** The reason why the comparison is skipped, or null. */
  #skipReason = null;
  #tools = null;

  /** `update`: whether to store new screenshots. `all`: whether the run covers all screens. */
  constructor({ update = false, all = true } = {}) {
    Object.assign(this, { update, all });
  }

  async visit(name, page) {
    this.#tools ??= await this.#begin(page);
    if (this.#skipReason !== null) return;
    const { compare, decodePicture, writePicture, readPicture } = this.#tools;
    for (const theme of themesOf(name)) {
      const file = `${screenshotName(name)}-${theme}.png`;
      this.#seen.add(file);
      await page.setTheme(theme);
      const actual = decodePicture(await takeScreenshot(page));
      if (this.update) {
        writePicture(join(STORED_FOLDER, file), actual);
        continue;
      }
      const expected = readPicture(join(STORED_FOLDER, file));
      if (expected === null) {
        this.#fault(`${name}, ${theme}: no screenshot is stored`);
        continue;
      }
      const { pixels, difference } = compare(actual, expected);
      if (pixels <= MAX_DIFFERENT_PIXELS) continue;
      mkdirSync(OUTPUT_FOLDER, { recursive: true });
      for (const [what, picture] of Object.entries({ ours: actual, theirs: expected, difference }))
        writePicture(join(OUTPUT_FOLDER, file.replace(".png", `-${what}.png`)), picture);
      this.#fault(`${name}, ${theme}: ${pixels} pixels differ`);
    }
  }

  async #begin(page) {
    const actual = await page.browser.run(String(readVersions));
    const text = `${JSON.stringify(actual, null, 2)}\n`;
    rmSync(OUTPUT_FOLDER, { recursive: true, force: true });
    const stored = existsSync(MADE_WITH_FILE) ? readFileSync(MADE_WITH_FILE, "utf8") : null;
    if (this.update && (this.all || stored === null)) {
      mkdirSync(STORED_FOLDER, { recursive: true });
      writeFileSync(MADE_WITH_FILE, text);
    } else if (stored !== text) {
      const { chromium } = JSON.parse(stored ?? "{}");
      const difference =
        chromium === actual.chromium ? "other fonts" : `Chromium ${chromium}, this is ${actual.chromium}`;
      this.#skipReason = stored === null ? "there are none" : `they were made with ${difference}`;
    }
    return import("./picture.mjs");
  }

  #fault(text) {
    this.#equal = false;
    console.log(`  picture: ${text}`);
  }

  report(count, total, narrowed) {
    if (this.#skipReason !== null)
      return count.leaveOut(`the screenshots: ${this.#skipReason}; to renew them: ${UPDATE_COMMAND}`);
    const obsoleteFiles = narrowed ? [] : storedFiles().filter((file) => !this.#seen.has(file));
    if (this.update) obsoleteFiles.forEach((file) => rmSync(join(STORED_FOLDER, file)));
    else obsoleteFiles.forEach((file) => this.#fault(`${file}: this screen no longer exists`));
    if (!this.#equal)
      console.log(`  ours, theirs and the difference: ${OUTPUT_FOLDER}; if the change is intended: ${UPDATE_COMMAND}`);
    count.add(`screenshots: ${total} screens are unchanged (${this.#seen.size} screenshots)`, this.#equal);
  }
}

const [, , flag, prefix] = process.argv;
const update = flag === "--update";
await runAlone(import.meta.url, (count) =>
  checkInEnglish(count, [new Pictures({ update, all: prefix === undefined })], prefix),
);
