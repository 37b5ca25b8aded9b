// A minimal W3C WebDriver client for the window tests. Every wait is for a condition, with a deadline.
import { setTimeout as pause } from "node:timers/promises";

const ELEMENT_KEY = "element-6066-11e4-a52e-4f735466cecf";
const POLL_MS = 50;
/** Time, in milliseconds, after which a text is typed again if the field does not show it. */
const RETYPE_MS = 3000;
/** Longest time, in milliseconds, that anything in the window may take before the test fails. */
const DEADLINE_MS = Number(process.env.MEMENTORY_DEADLINE_MS ?? 30_000);
/** Whether the tests also take pictures, for people to look at. No test depends on these pictures. */
export const TAKES_PICTURES = Boolean(process.env.MEMENTORY_PICTURES);

/**
 * Waits until `condition` returns a truthy value, and returns that value. If `condition` throws, it is called again
 * later.
 */
export async function until(what, condition, deadlineMs = DEADLINE_MS) {
  const end = Date.now() + deadlineMs;
  for (;;) {
    let reason = "";
    try {
      const value = await condition();
      if (value) return value;
    } catch (error) {
      reason = `: ${error.message}`;
    }
    if (Date.now() > end) throw new Error(`waited ${deadlineMs / 1000} s for ${what}${reason}`);
    await pause(POLL_MS);
  }
}

/** A WebDriver session with its window. */
export class Browser {
  #base;

  constructor(base, session) {
    this.#base = `${base}/session/${session}`;
  }

  /** Starts the program under test. */
  static open(base, application, args = []) {
    return Browser.start(base, { browserName: "wry", "tauri:options": { application, args } });
  }

  /** Starts the browser that these capabilities describe. */
  static async start(base, alwaysMatch) {
    const capabilities = { alwaysMatch };
    const { sessionId } = await call("POST", `${base}/session`, { capabilities });
    return new Browser(base, sessionId);
  }

  close() {
    return call("DELETE", this.#base);
  }

  /** Goes to an address and waits until it is loaded. */
  goTo(url) {
    return this.#post("url", { url });
  }

  /** Resizes the page itself, not the window around it. */
  async pageSize(width, height) {
    await until(`the page to be ${width} x ${height}`, async () => {
      const [across, down] = await this.run("() => [innerWidth, innerHeight]");
      if (across === width && down === height) return true;
      const outer = await call("GET", `${this.#base}/window/rect`);
      await this.#post("window/rect", {
        ...outer,
        width: outer.width + width - across,
        height: outer.height + height - down,
      });
      return false;
    });
  }

  /** Sends a command of the Chrome DevTools protocol. */
  devTools(cmd, params = {}) {
    return this.#post("goog/cdp/execute", { cmd, params });
  }

  /** Log entries since the last call, as DevTools protocol messages. */
  async log(type = "performance") {
    const entries = await this.#post("se/log", { type });
    return entries.map(({ message }) => JSON.parse(message).message);
  }

  /** The windows that are open. */
  windows() {
    return call("GET", `${this.#base}/window/handles`);
  }

  /** Runs a function in the page and returns its result. */
  run(script, ...args) {
    return this.#post("execute/sync", { script: `return (${script})(...arguments)`, args });
  }

  /** Runs an async function in the page and returns its result. An error becomes the result {error}. */
  runAsync(script, ...args) {
    const wait = "const done = arguments[arguments.length - 1]";
    const call = `(${script})(...[...arguments].slice(0, -1)).then(done, (error) => done({ error: String(error) }))`;
    return this.#post("execute/async", { script: `${wait}; ${call}`, args });
  }

  /** Waits until the page is painted. */
  drawn() {
    const script = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)))";
    return this.#post("execute/async", { script, args: [] });
  }

  /** A screenshot of the window. */
  async screenshot() {
    await this.drawn();
    return Buffer.from(await call("GET", `${this.#base}/screenshot`), "base64");
  }

  /**
   * Waits for a displayed element with this `data-testid`. Returns its WebDriver id. `more` is added to the selector.
   */
  find(id, more = "") {
    const selector = `[data-testid="${id}"]${more}`;
    return until(`${selector} on screen`, async () => {
      const found = await this.#post("elements", { using: "css selector", value: selector });
      for (const entry of found) {
        // If the element was replaced meanwhile, the call fails and the element is looked up again.
        const isDisplayed = call("GET", `${this.#base}/element/${entry[ELEMENT_KEY]}/displayed`).catch(() => false);
        if (await isDisplayed) return entry[ELEMENT_KEY];
      }
      return null;
    });
  }

  /** Clicks the element as soon as it is displayed and enabled. */
  async click(id, more = "") {
    await until(`${id}${more} to be clicked`, async () => {
      const element = await this.find(id, more);
      if (!(await call("GET", `${this.#base}/element/${element}/enabled`))) return false;
      await this.#post(`element/${element}/click`, {});
      return true;
    });
  }

  /**
   * Replaces the content of a field. On a busy machine, a window may lose keystrokes while it is being shown, so if the
   * field does not have the text soon, it is typed again.
   */
  async type(id, text, more = "") {
    let shownText = "";
    const isShown = async () => (shownText = await this.value(id, more)) === text;
    const typed = async () => {
      const element = await this.find(id, more);
      await this.#post(`element/${element}/clear`, {});
      await this.#post(`element/${element}/value`, { text });
      return until("the text", isShown, RETYPE_MS);
    };
    await until(`${id} to hold what was typed`, typed).catch((error) => {
      throw new Error(`${error.message}. It holds ${JSON.stringify(shownText)}.`);
    });
  }

  /** Empties a field. */
  async clear(id) {
    await this.#post(`element/${await this.find(id)}/clear`, {});
  }

  /** Types keys into the focused element. Special keys are WebDriver code points. */
  async keys(text) {
    const actions = [...text].flatMap((value) => [
      { type: "keyDown", value },
      { type: "keyUp", value },
    ]);
    await this.#post("actions", { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  /** Presses keys together: all keys but the last are held down while the last one is pressed. */
  async chord(...keys) {
    const down = keys.map((value) => ({ type: "keyDown", value }));
    const up = [...keys].reverse().map((value) => ({ type: "keyUp", value }));
    await this.#post("actions", { actions: [{ type: "key", id: "keyboard", actions: [...down, ...up] }] });
  }

  async text(id, more = "") {
    return call("GET", `${this.#base}/element/${await this.find(id, more)}/text`);
  }

  async attribute(id, name, more = "") {
    return call("GET", `${this.#base}/element/${await this.find(id, more)}/attribute/${name}`);
  }

  async value(id, more = "") {
    return call("GET", `${this.#base}/element/${await this.find(id, more)}/property/value`);
  }

  /** The current number of elements with this `data-testid`, whether visible or not. */
  count(id, more = "") {
    return this.run("(selector) => document.querySelectorAll(selector).length", `[data-testid="${id}"]${more}`);
  }

  /** Waits until no element has this `data-testid`. */
  gone(id) {
    return until(`${id} to be gone`, async () => (await this.count(id)) === 0);
  }

  #post(path, body) {
    return call("POST", `${this.#base}/${path}`, body);
  }
}

async function call(method, url, body) {
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(2 * DEADLINE_MS),
  });
  const { value } = await response.json();
  if (!response.ok) throw new Error(`${value?.error ?? response.status}: ${value?.message ?? ""}`);
  return value;
}
