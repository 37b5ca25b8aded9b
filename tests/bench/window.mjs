// Measures the window with a large vault. The measuring code runs inside the web view itself. WebKit reports whole
// milliseconds.
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { manyConversations } from "../cli/generated.mjs";
import { Display, homeWithRecentVaults } from "../e2e/display.mjs";
import { Browser, until } from "../e2e/webdriver.mjs";
import { TARGET } from "../tools/places.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { Stop } from "../tools/sh.mjs";
import { chatgptExport, hasGenerator } from "./data.mjs";
import { publish, setup } from "./report.mjs";
import { quantile } from "./measure.mjs";
import { writeMemories } from "./memories.mjs";

const PASSPHRASE = "correct horse battery staple lamp";
const MEMORY_COUNT = 20_000;
const LONG_CONVERSATION_MESSAGES = 3000;
/** A word that occurs only in the long conversations. */
const TITLE_WORD = "bellwether";
const FRAME_COUNT = 300;
const REPETITION_COUNT = 21;
/** Time between the last key and the search, in milliseconds. */
const DEBOUNCE_MS = 120;

/** Source of `drawn()`, which resolves after two frames, when everything is painted. */
const DRAWN_SOURCE = "const drawn = () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));";

/**
 * Source of a function that clicks on `on`. It returns the milliseconds until `ready` exists and is laid out, and until
 * it is painted. It observes mutations, because polling in each frame would cause extra frames.
 */
const MEASURE_OPEN_SOURCE = `async (on, ready) => {
  ${DRAWN_SOURCE}
  const before = performance.now();
  const appeared = new Promise((go) => {
    const checkReady = () => {
      const found = document.querySelector(ready);
      if (!found) return;
      changes.disconnect();
      found.getBoundingClientRect();
      go(performance.now() - before);
    };
    const changes = new MutationObserver(checkReady);
    changes.observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  document.querySelector(on).click();
  const laidOut = await appeared;
  await drawn();
  return [laidOut, performance.now() - before];
}`;

/**
 * Source of a function that types `words` into the search field. It returns the milliseconds until different rows are
 * laid out, and until they are painted; null if the first five rows stay the same or the list is empty for two seconds.
 */
const MEASURE_SEARCH_SOURCE = `async (words) => {
  ${DRAWN_SOURCE}
  const field = document.querySelector('[data-testid="search-field"]');
  const list = document.querySelector('[data-pane="list"]');
  // Compare only the first rows, because the row of the open record stays in the page even when scrolled out of view.
  const rows = () => [...list.querySelectorAll('[data-testid="list-row"]')].filter((row) => row.ariaPosInSet <= 5).map((row) => row.dataset.id).join();
  const firstRows = rows();
  const before = performance.now();
  const laidOut = new Promise((go) => {
    const changes = new MutationObserver(() => {
      const now = rows();
      if (now === firstRows || now === "") return;
      changes.disconnect();
      list.getBoundingClientRect();
      go(performance.now() - before);
    });
    changes.observe(list, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-id", "aria-posinset"] });
    setTimeout(() => (changes.disconnect(), go(null)), 2000);
  });
  field.value = words;
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  const layoutTime = await laidOut;
  if (layoutTime === null) return null;
  await drawn();
  return [layoutTime, performance.now() - before];
}`;

/**
 * Source of a function that scrolls the tallest scrollable element in `selector` by `step` pixels per frame. `costs`
 * has the milliseconds from the start of each scroll event until all scripts and the layout are done. `gaps` has the
 * milliseconds between frames. Both are empty if nothing can be scrolled far enough within five seconds.
 */
const MEASURE_SCROLL_SOURCE = `async (selector, step, frames) => {
  const scrollRange = (each) => each.scrollHeight - each.clientHeight;
  const bars = () => [...document.querySelectorAll(selector + " *")].filter((each) => /auto|scroll/.test(getComputedStyle(each).overflowY));
  let bar = null;
  for (const end = performance.now() + 5000; performance.now() < end; await new Promise(requestAnimationFrame)) {
    bar = bars().reduce((a, b) => (a && scrollRange(a) >= scrollRange(b) ? a : b), null);
    if (bar && scrollRange(bar) > 10 * step) break;
  }
  if (!bar) return { costs: [], gaps: [] };
  bar.scrollTop = 0;
  await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  let workStart = null;
  const noteStart = () => (workStart ??= performance.now());
  window.addEventListener("scroll", noteStart, true);
  // The element may already be at its end, because the found message is there. In that case, scroll up.
  const direction = scrollRange(bar) - bar.scrollTop < step ? -1 : 1;
  const costs = [];
  const gaps = [];
  let last = null;
  for (let n = 0; n < frames; n += 1) {
    await new Promise((go) => requestAnimationFrame((at) => {
      if (last !== null) gaps.push(at - last);
      last = at;
      if (workStart !== null) {
        bar.getBoundingClientRect();
        costs.push(performance.now() - workStart);
      }
      workStart = null;
      bar.scrollTop += direction * step;
      go();
    }));
  }
  window.removeEventListener("scroll", noteStart, true);
  return { costs, gaps, at: bar.scrollTop };
}`;

/** Runs `npm run bench -- window`. Returns the exit code. */
export async function measureWindow() {
  if (process.platform !== "linux") throw new Stop("The window is measured on Linux only.");
  if (!hasGenerator()) throw new Stop("../shared/exports/gen_exports.py is missing.");
  const run = { ...setup(), rows: [], wrong: [] };
  const { vault, counts } = await createLargeVault(run);
  await cargoTool("tauri-driver", "^2");
  const home = mkdtempSync(join(tmpdir(), "mementory-window-"));
  // Without a graphics device the program sets this variable itself, but not when it is automated
  // (webkit_rendering.rs).
  const extraEnv = existsSync("/dev/dri") ? {} : { WEBKIT_DISABLE_COMPOSITING_MODE: "1" };
  const display = await Display.start({ ...homeWithRecentVaults(home, vault), ...extraEnv });
  try {
    const browser = await Browser.open(await display.driver(), join(TARGET, "release", "mementory-app"));
    await measureAll(browser, run.rows);
    await browser.close();
  } finally {
    await display.stopAndRemove(home);
  }
  return publish(run, {
    file: "RESULTS-window.md",
    title: "Benchmark of the window",
    facts: [`In the vault: ${counts}`, "Software rendering under Xvfb, 1280x800"],
    columns: ["What", "Median", "p95", "Longest", "Aim"],
    notes:
      "Measured in the web view. Opening: from the click until the new content is laid out, and until the second frame after that. " +
      `Searching: from the end of the pause of ${DEBOUNCE_MS} ms after the last key until the rows are laid out, and until they are drawn. ` +
      "Scrolling: a frame's scripts and layout, from the scroll event until the layout is forced; painting is left out.",
  });
}

/** Creates a vault with a million messages, 20,000 memories and two conversations of 3,000 messages. */
async function createLargeVault({ mementory, folder }) {
  const vault = join(folder, "large");
  mementory.run(vault, "create", vault, "--kdf-floor");
  const { path } = await chatgptExport(20_000, 1000);
  mementory.run(vault, "import", path);
  mementory.run(vault, "import", writeMemories(join(folder, "memories.mem"), MEMORY_COUNT).path);
  const longFile = join(folder, "long.json");
  writeFileSync(longFile, manyConversations(TITLE_WORD, 2, LONG_CONVERSATION_MESSAGES));
  mementory.run(vault, "import", longFile);
  const { counts } = mementory.run(vault, "info").value;
  return {
    vault,
    counts: `${counts.message} messages, ${counts.memory} memories, ${counts.conversation} conversations`,
  };
}

async function measureAll(browser, rows) {
  const add = (what, times, aim, off = 0) => {
    const quantileMs = (part) => `${Math.round(quantile(times, part) - off)} ms`;
    rows.push([what, quantileMs(0.5), quantileMs(0.95), quantileMs(1), aim]);
    console.log(`  ${what}: median ${quantileMs(0.5)}, p95 ${quantileMs(0.95)}, longest ${quantileMs(1)} (aim ${aim})`);
  };
  await browser.type("unlock-passphrase", PASSPHRASE);
  await browser.click("unlock-submit");
  await browser.find("home");

  const homeTimes = [];
  for (let n = 0; n < REPETITION_COUNT; n += 1) {
    await browser.runAsync(MEASURE_OPEN_SOURCE, '[data-testid="nav-trash"]', '[data-testid="nav-trash"][aria-current]');
    homeTimes.push(
      await browser.runAsync(MEASURE_OPEN_SOURCE, '[data-testid="nav-home"]', '[data-testid="home-matrix"] td'),
    );
  }
  addOpeningTimes("Home", homeTimes, "300 ms", add);

  await browser.click("nav-memories");
  await browser.find("list-row");
  addScrollTimes(
    await browser.runAsync(MEASURE_SCROLL_SOURCE, '[role="listbox"]', 180, FRAME_COUNT),
    "Scrolling 20,000 memories",
    add,
  );
  const typed = async (what, words) => {
    const times = [];
    for (const each of words) times.push(await browser.runAsync(MEASURE_SEARCH_SOURCE, each));
    const validTimes = times.filter((time) => time !== null);
    console.log(`  ${what}: ${validTimes.length} of ${words.length} answers have other rows than the one before`);
    if (validTimes.length < words.length / 3)
      throw new Stop(`${what}: only ${validTimes.length} answers of ${words.length}.`);
    add(
      `${what}: until the rows are laid out`,
      validTimes.map(([layoutTime]) => layoutTime),
      "none",
      DEBOUNCE_MS,
    );
    add(
      `${what}: until they are drawn`,
      validTimes.map(([, drawn]) => drawn),
      "50 ms",
      DEBOUNCE_MS,
    );
  };
  // Type prefixes of several words in turn, because consecutive prefixes of one word often have the same results.
  const words = "harbour trains bees cello metric sources kitchen paper answers reads garden travel".split(" ");
  const memory = [1, 2, 3, 4, 5, 6].flatMap((letters) => words.map((word) => word.slice(0, letters)));
  await typed("Searching memories", memory);

  await browser.click("nav-conversations");
  await until("the list of conversations", async () => (await browser.count("list-row")) > 5);
  addScrollTimes(
    await browser.runAsync(MEASURE_SCROLL_SOURCE, '[role="listbox"]', 180, FRAME_COUNT),
    "Scrolling 20,000 conversations",
    add,
  );
  await typed("Searching a million messages", memory);

  // Alternate between the two long conversations, because a conversation that is already open is not opened again.
  await browser.runAsync(MEASURE_SEARCH_SOURCE, TITLE_WORD);
  const row = '[data-testid="list-row"]';
  const ids = await until("the long conversations in the list", async () => {
    const found = await browser.run(`() => [...document.querySelectorAll('${row}')].map((each) => each.dataset.id)`);
    return found.length === 2 && (await browser.count("reader-message")) > 0 && found;
  });
  const opening = [];
  for (let n = 0; n < REPETITION_COUNT; n += 1) {
    const id = `[data-id="${ids[(n + 1) % 2]}"]`;
    opening.push(
      await browser.runAsync(
        MEASURE_OPEN_SOURCE,
        row + id,
        `[data-testid="reader"]${id} [data-testid="reader-message"]`,
      ),
    );
  }
  addOpeningTimes(`Opening a conversation of ${LONG_CONVERSATION_MESSAGES} messages`, opening, "150 ms", add);
  addScrollTimes(
    await browser.runAsync(MEASURE_SCROLL_SOURCE, '[data-testid="reader"]', 180, FRAME_COUNT),
    `Scrolling its ${LONG_CONVERSATION_MESSAGES} messages`,
    add,
  );
}

function addOpeningTimes(what, times, aim, add) {
  const timesAt = (at) => times.map((time) => time[at]);
  add(`${what}: until it is laid out`, timesAt(0), "none");
  add(`${what}: until it is drawn`, timesAt(1), aim);
}

function addScrollTimes({ costs, gaps }, what, add) {
  if (costs.length < FRAME_COUNT / 2)
    throw new Stop(`${what}: only ${costs.length} frames of ${FRAME_COUNT} scrolled.`);
  add(`${what}: scripts and layout of a frame`, costs, "8 ms");
  add(`${what}: from frame to frame`, gaps, "none");
}
