// A page in the browser: user actions, display settings, and waiting until it is idle.
import { until } from "../e2e/webdriver.mjs";

/** Sizes of the window in CSS pixels. The last size is the smallest that the window can have. */
export const WINDOW_SIZES = [
  [1280, 800],
  [900, 600],
];
/**
 * The page is idle if nothing changes for this time, which is longer than the delay of 120 ms after which the window
 * searches.
 */
const IDLE_MS = 150;
/** A screen that does not become idle is checked all the same after this time. */
const MAX_WAIT_MS = 5_000;

const keyEventSource = (name, modifiers = "") =>
  `() => (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key: ${JSON.stringify(name)}, bubbles: true, cancelable: true, ctrlKey: ${modifiers.includes("C")}, shiftKey: ${modifiers.includes("S")} }))`;

/**
 * Runs inside the page. Waits until every request is answered, every picture is loaded, and nothing has changed or
 * moved for `quiet` ms, or for `longest` ms. If it did not wait for the requests, a picture that the sample backend is
 * still making would be missing.
 */
function waitUntilIdle(quiet, longest) {
  return new Promise((done) => {
    const started = performance.now();
    let since = started;
    const changed = () => (since = performance.now());
    const changes = new MutationObserver(changed);
    addEventListener("scroll", changed, true);
    changes.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    const isMoving = (each) => each.playState === "running" && each.effect?.getTiming().iterations !== Infinity;
    const poll = () => {
      const now = performance.now();
      const isLoading = window.__isWaiting?.() || [...document.images].some((each) => !each.complete);
      if (isLoading || document.getAnimations().some(isMoving)) changed();
      if (now - since < quiet && now - started < longest) return void requestAnimationFrame(poll);
      changes.disconnect();
      removeEventListener("scroll", changed, true);
      done(true);
    };
    requestAnimationFrame(poll);
  });
}

/** User actions on a page, and waiting for elements. */
export class Page {
  constructor(browser) {
    this.browser = browser;
  }
  /** Opens a fresh page with sample data, in the usual size and without the pointer on any element. */
  async open(address, language) {
    await this.setSize(WINDOW_SIZES[0]);
    await this.movePointerAway();
    await this.browser.goTo(address);
    await until("the window", () =>
      this.browser.run("() => typeof window.__speak === 'function' && document.querySelector('main, nav') !== null"),
    );
    await this.setLanguage(language);
  }
  /** Moves the pointer off all elements, so that none shows its hover state. */
  movePointerAway() {
    return this.browser.devTools("Input.dispatchMouseEvent", { type: "mouseMoved", x: 0, y: 0 });
  }
  /** Sets the size in CSS pixels. A `factor` of 2 is like a window of twice the size at 200 % zoom. */
  setSize([width, height], factor = 1) {
    const metrics = { width, height, deviceScaleFactor: factor, mobile: false };
    return this.browser.devTools("Emulation.setDeviceMetricsOverride", metrics);
  }
  /** Switches the language of the page. */
  async setLanguage(language) {
    await this.browser.run("(language) => window.__speak(language)", language);
    await this.waitForFrames();
  }
  /** Waits until the page is idle, but at most `MAX_WAIT_MS`. */
  waitUntilIdle() {
    return this.browser.run(String(waitUntilIdle), IDLE_MS, MAX_WAIT_MS);
  }
  /** Emulates reduced motion and the further system preferences in `more`. */
  async emulateMedia(more = {}) {
    const preferences = Object.entries({ "prefers-reduced-motion": "reduce", ...more });
    await this.browser.devTools("Emulation.setEmulatedMedia", {
      features: preferences.map(([name, value]) => ({ name, value })),
    });
    await this.waitForFrames();
  }
  async setTheme(name) {
    await this.browser.run("(name) => void (document.documentElement.dataset.theme = name)", name);
    await this.waitForFrames();
  }
  /** Waits for two frames and the end of all transitions. */
  waitForFrames() {
    return this.browser.run(`async () => {
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const transitions = document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime !== Infinity);
      await Promise.allSettled(transitions.map((each) => each.finished));
      return true;
    }`);
  }
  /** Clicks the first visible element with this test id. */
  async click(id, more = "") {
    const selector = `[data-testid="${id}"]${more}`;
    await until(`${selector} to be there`, () =>
      this.browser.run(
        "(selector) => { const found = [...document.querySelectorAll(selector)].find((each) => each.offsetParent && !each.disabled); found?.scrollIntoView({ block: 'nearest' }); found?.focus(); if (!found) return false; for (const type of ['pointerdown', 'pointerup']) found.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerType: 'mouse', button: 0, isPrimary: true })); found.click(); return true; }",
        selector,
      ),
    );
  }
  /** Opens a menu with a real click, because it opens on pointerdown. */
  openMenu(id) {
    return this.browser.click(id);
  }
  /** Right-clicks an element. */
  async openContextMenu(id, more = "") {
    const selector = `[data-testid="${id}"]${more}`;
    const place = await until(`${selector} to be there`, () =>
      this.browser.run(
        "(selector) => { const found = [...document.querySelectorAll(selector)].find((each) => each.offsetParent); if (!found) return null; const { left, top, width, height } = found.getBoundingClientRect(); return { x: left + Math.min(width / 2, 120), y: top + Math.min(height / 2, 40) }; }",
        selector,
      ),
    );
    for (const type of ["mousePressed", "mouseReleased"])
      await this.browser.devTools("Input.dispatchMouseEvent", { type, ...place, button: "right", clickCount: 1 });
    await this.waitFor("context-menu");
  }
  waitFor(id, more = "") {
    return until(`${id} to be there`, async () => (await this.browser.count(id, more)) > 0);
  }
  async type(id, text) {
    await this.waitFor(id);
    await this.browser.run(
      "(id, text) => { const field = document.querySelector(`[data-testid=\"${id}\"]`); field.focus(); field.value = text; field.dispatchEvent(new InputEvent('input', { bubbles: true })); field.dispatchEvent(new Event('change', { bubbles: true })); }",
      id,
      text,
    );
  }
  press(name, modifiers) {
    return this.browser.run(keyEventSource(name, modifiers));
  }
  /** Runs a script that controls the mock backend: to drop files, to lock, or to change what the backend returns. */
  mock(script, ...args) {
    return this.browser.run(script, ...args);
  }
}
