// Every screen in English beside the picture of it that is kept in `shots/`. `--update [prefix]` makes those anew: look at
// them before they are committed.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { byItself } from "../tools/count.mjs";
import { inEnglish } from "./english.mjs";
import { SIZES } from "./page.mjs";
import { fileOf, isFirst } from "./walk.mjs";

const KEPT = fileURLToPath(new URL("shots/", import.meta.url));
const OUT = fileURLToPath(new URL("out/shots/", import.meta.url));
/** With what the kept pictures were made: other fonts or another Chromium draw others. */
const MADE_WITH = join(KEPT, "made-with.json");
const ANEW = "`node tests/screens/shots.mjs --update`";
const SCALE = 0.5;
/** So many points of 256,000 may be others: at half scale a thin line falls on one row of points or the next. */
const POINTS = 200;

/** Nothing moves, nothing blinks, and nothing is seen that tells how fast this machine is (a rate, the time left, a
 * tooltip that comes after a while) or which languages Chromium was installed with: it writes the days in fields of dates
 * in one that it has. (They have the focus of their field, so they stay where they are.) */
const STILL = `() => {
  const still = (window.__still ??= new CSSStyleSheet());
  still.replaceSync("*, ::before, ::after { animation: none !important; transition: none !important; caret-color: transparent !important; } .rate, .numbers > :last-child, [data-tooltip-content] { visibility: hidden !important; } ::-webkit-datetime-edit { opacity: 0 !important; } input[type=date] { inline-size: 130px !important; }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, still];
}`;
const MOVING =
  "() => void (document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== window.__still))";

/** Inside the page: the major version of Chromium, and how wide texts are in the fonts that the tokens end up with. */
function madeWith() {
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

const files = () => readdirSync(KEPT).filter((name) => name.endsWith(".png"));
/** In the dark one of each kind: the tokens are the same on all of them. */
const themes = (name) => (isFirst(name) ? ["light", "dark"] : ["light"]);

async function shot(page) {
  const [width, height] = SIZES[0];
  await page.browser.run(STILL);
  await page.frames();
  const clip = { x: 0, y: 0, width, height, scale: SCALE };
  const { data } = await page.browser.devTools("Page.captureScreenshot", { format: "png", clip });
  await page.browser.run(MOVING);
  return data;
}

/** The pictures of all screens, for `inEnglish`: made anew, or compared with the kept ones. */
export class Pictures {
  #seen = new Set();
  #same = true;
  /** Why they are left out. */
  #why = null;
  #tools = null;

  /** `update`: make them anew; `all`: not only some. */
  constructor({ update = false, all = true } = {}) {
    Object.assign(this, { update, all });
  }

  async visit(name, page) {
    this.#tools ??= await this.#begin(page);
    if (this.#why !== null) return;
    const { compared, decoded, keep, kept } = this.#tools;
    for (const theme of themes(name)) {
      const file = `${fileOf(name)}-${theme}.png`;
      this.#seen.add(file);
      await page.theme(theme);
      const ours = decoded(await shot(page));
      if (this.update) {
        keep(join(KEPT, file), ours);
        continue;
      }
      const theirs = kept(join(KEPT, file));
      if (theirs === null) {
        this.#fault(`${name}, ${theme}: none is kept`);
        continue;
      }
      const { points, difference } = compared(ours, theirs);
      if (points <= POINTS) continue;
      mkdirSync(OUT, { recursive: true });
      for (const [what, picture] of Object.entries({ ours, theirs, difference }))
        keep(join(OUT, file.replace(".png", `-${what}.png`)), picture);
      this.#fault(`${name}, ${theme}: ${points} points are not as they were`);
    }
  }

  async #begin(page) {
    const now = await page.browser.run(String(madeWith));
    const text = `${JSON.stringify(now, null, 2)}\n`;
    rmSync(OUT, { recursive: true, force: true });
    const then = existsSync(MADE_WITH) ? readFileSync(MADE_WITH, "utf8") : null;
    if (this.update && (this.all || then === null)) {
      mkdirSync(KEPT, { recursive: true });
      writeFileSync(MADE_WITH, text);
    } else if (then !== text) {
      const { chromium } = JSON.parse(then ?? "{}");
      const other = chromium === now.chromium ? "other fonts" : `Chromium ${chromium}, this is ${now.chromium}`;
      this.#why = then === null ? "there are none" : `they were made with ${other}`;
    }
    return import("./picture.mjs");
  }

  #fault(text) {
    this.#same = false;
    console.log(`  picture: ${text}`);
  }

  tell(count, total, narrowed) {
    if (this.#why !== null) return count.leaveOut(`the pictures of the screens: ${this.#why}; make them anew: ${ANEW}`);
    const left = narrowed ? [] : files().filter((file) => !this.#seen.has(file));
    if (this.update) left.forEach((file) => rmSync(join(KEPT, file)));
    else left.forEach((file) => this.#fault(`${file}: there is no such screen any more`));
    if (!this.#same) console.log(`  ours, theirs and the difference: ${OUT}; if it is to be so: ${ANEW}`);
    count.add(`pictures: ${total} screens look as they did (${this.#seen.size} pictures)`, this.#same);
  }
}

const [, , flag, prefix] = process.argv;
const update = flag === "--update";
await byItself(import.meta.url, (count) =>
  inEnglish(count, [new Pictures({ update, all: prefix === undefined })], prefix),
);
