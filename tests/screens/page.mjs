// One page in the browser: what a person does to it, what it can be made to look like, and when it is at rest.
import { until } from "../e2e/webdriver.mjs";

/** The smallest window last (ui.md §3). */
export const SIZES = [
  [1280, 800],
  [900, 600],
];
/** Nothing changes for so long: longer than what waits for a person to stop moving in a list. */
const QUIET_MS = 150;
/** A screen that never rests is looked at as it is. */
const LONGEST_MS = 5_000;

const key = (name, modifiers = "") =>
  `() => (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key: ${JSON.stringify(name)}, bubbles: true, cancelable: true, ctrlKey: ${modifiers.includes("C")}, shiftKey: ${modifiers.includes("S")} }))`;

/** Inside the page: until nothing has changed or moved for `quiet` ms and every picture is there. */
function rest(quiet, longest) {
  return new Promise((done) => {
    const started = performance.now();
    let since = started;
    const changed = () => (since = performance.now());
    const changes = new MutationObserver(changed);
    addEventListener("scroll", changed, true);
    changes.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    const moves = (each) => each.playState === "running" && each.effect?.getTiming().iterations !== Infinity;
    const look = () => {
      const now = performance.now();
      if (document.getAnimations().some(moves) || [...document.images].some((each) => !each.complete)) changed();
      if (now - since < quiet && now - started < longest) return void requestAnimationFrame(look);
      changes.disconnect();
      removeEventListener("scroll", changed, true);
      done(true);
    };
    requestAnimationFrame(look);
  });
}

/** Steps are methods of the page: click, type, wait for what then is there. */
export class Page {
  constructor(browser) {
    this.browser = browser;
  }
  /** Open the sample window anew, in its usual size and with the pointer on nothing. */
  async open(address, language) {
    await this.size(SIZES[0]);
    await this.away();
    await this.browser.goTo(address);
    await until("the window", () =>
      this.browser.run("() => typeof window.__speak === 'function' && document.querySelector('main, nav') !== null"),
    );
    await this.speak(language);
  }
  /** The pointer on nothing: where it was left decides what looks as if it were pointed at. */
  away() {
    return this.browser.devTools("Input.dispatchMouseEvent", { type: "mouseMoved", x: 0, y: 0 });
  }
  /** So many CSS pixels; with `factor` 2 as in a window twice as large that is zoomed to 200 %. */
  size([width, height], factor = 1) {
    const metrics = { width, height, deviceScaleFactor: factor, mobile: false };
    return this.browser.devTools("Emulation.setDeviceMetricsOverride", metrics);
  }
  /** Another language, in place. */
  async speak(language) {
    await this.browser.run("(language) => window.__speak(language)", language);
    await this.frames();
  }
  settled() {
    return this.browser.run(String(rest), QUIET_MS, LONGEST_MS);
  }
  /** What the system asks for, besides less motion. */
  async media(more = {}) {
    const wanted = Object.entries({ "prefers-reduced-motion": "reduce", ...more });
    await this.browser.devTools("Emulation.setEmulatedMedia", {
      features: wanted.map(([name, value]) => ({ name, value })),
    });
    await this.frames();
  }
  async theme(name) {
    await this.browser.run("(name) => void (document.documentElement.dataset.theme = name)", name);
    await this.frames();
  }
  /** Two frames, and the end of what passes from one look to the other. */
  frames() {
    return this.browser.run(`async () => {
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const ends = document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime !== Infinity);
      await Promise.allSettled(ends.map((each) => each.finished));
      return true;
    }`);
  }
  /** Click what has this id, wherever it is; the first of several. */
  async click(id, more = "") {
    const selector = `[data-testid="${id}"]${more}`;
    await until(`${selector} to be there`, () =>
      this.browser.run(
        "(selector) => { const found = [...document.querySelectorAll(selector)].find((each) => each.offsetParent && !each.disabled); found?.scrollIntoView({ block: 'nearest' }); found?.focus(); if (!found) return false; for (const type of ['pointerdown', 'pointerup']) found.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerType: 'mouse', button: 0, isPrimary: true })); found.click(); return true; }",
        selector,
      ),
    );
  }
  /** Open a menu: by the pointer itself, since it opens when that goes down. */
  menu(id) {
    return this.browser.click(id);
  }
  /** Press the right button on it. */
  async context(id, more = "") {
    const selector = `[data-testid="${id}"]${more}`;
    const place = await until(`${selector} to be there`, () =>
      this.browser.run(
        "(selector) => { const found = [...document.querySelectorAll(selector)].find((each) => each.offsetParent); if (!found) return null; const { left, top, width, height } = found.getBoundingClientRect(); return { x: left + Math.min(width / 2, 120), y: top + Math.min(height / 2, 40) }; }",
        selector,
      ),
    );
    for (const type of ["mousePressed", "mouseReleased"])
      await this.browser.devTools("Input.dispatchMouseEvent", { type, ...place, button: "right", clickCount: 1 });
    await this.there("context-menu");
  }
  there(id, more = "") {
    return until(`${id} to be there`, async () => (await this.browser.count(id, more)) > 0);
  }
  async type(id, text) {
    await this.there(id);
    await this.browser.run(
      "(id, text) => { const field = document.querySelector(`[data-testid=\"${id}\"]`); field.focus(); field.value = text; field.dispatchEvent(new InputEvent('input', { bubbles: true })); field.dispatchEvent(new Event('change', { bubbles: true })); }",
      id,
      text,
    );
  }
  press(name, modifiers) {
    return this.browser.run(key(name, modifiers));
  }
  /** Something of the sample backend: drop files, lock, or answer otherwise. */
  mock(script, ...args) {
    return this.browser.run(script, ...args);
  }
}
