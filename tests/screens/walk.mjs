// The way through every screen, by what each is called. What is looked at there is somebody else's matter.
import { until } from "../e2e/webdriver.mjs";
import { REVIEW } from "./review.mjs";

const OPEN = "open";
const PASSPHRASE = "harbour copper nineteen kite";
const key = (name, modifiers = "") =>
  `() => (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key: ${JSON.stringify(name)}, bubbles: true, cancelable: true, ctrlKey: ${modifiers.includes("C")}, shiftKey: ${modifiers.includes("S")} }))`;

/** Steps are methods of the page: click, type, wait for what then is there. */
export class Page {
  constructor(browser) {
    this.browser = browser;
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

/** What is dropped on the window. */
export const FILES = ["/home/ines/chatgpt-export-2026-11-21.zip", "/home/ines/damaged.mem", "/home/ines/about-me.md"];
export const ENCRYPTED = "/home/ines/encrypted.alf";
const drop = (page, paths = FILES, over = false) =>
  page.mock("(paths, over) => void window.__mock.drop(paths, over)", paths, over);
const refuse = (page, method, code) => page.mock("(method, code) => void window.__refuse(method, code)", method, code);

async function toRecovery(page) {
  await page.click("welcome-create");
  await page.type("create-name", "Ines");
  await page.click("create-next");
  await page.type("create-passphrase", PASSPHRASE);
  await page.type("create-repeat", PASSPHRASE);
  await page.click("create-next");
  await page.there("recovery-code");
}
const memory = async (page) => {
  await page.click("nav-memories");
  await page.there("list-row");
  await page.type("search-field", "Sandviken");
  await page.click("list-row", '[data-id="m-0"]');
  await page.there("detail-text");
};
const conversation = async (page) => {
  await page.click("nav-conversations");
  await page.click("list-row", '[data-id="c-bath"]');
  await page.there("reader-message");
};
const palette = async (page, typed) => {
  await page.press("k", "C");
  await page.type("palette-field", typed);
};
const settings = (name) => async (page) => {
  await page.click("nav-settings");
  await page.click(`settings-${name}`);
};
const dropped = async (page) => {
  await drop(page);
  await until("the plan", () =>
    page.browser.run("() => document.querySelectorAll('[data-testid=import-file]').length === 3"),
  );
  await until("the plan", () =>
    page.browser.run("() => !document.querySelector('[data-testid=import-confirm]')?.disabled"),
  );
};
const exporting = async (page) => {
  await page.click("export-button");
  await page.there("export-sheet");
};

/** name, how the sample window is opened, the way there. */
export const SCREENS = [
  ["welcome", "empty", (page) => page.there("welcome-create")],
  [
    "welcome, looked inside",
    "empty",
    async (page) => (await page.there("welcome-create"), await drop(page), page.there("peek")),
  ],
  ["create, name", "empty", (page) => page.click("welcome-create")],
  [
    "create, passphrase too weak",
    "empty",
    async (page) => {
      await page.click("welcome-create");
      await page.type("create-name", "Ines");
      await page.click("create-next");
      await page.type("create-passphrase", "kite");
      await page.type("create-repeat", "kites");
    },
  ],
  ["create, recovery code", "empty", toRecovery],
  ["unlock", "", (page) => page.there("unlock-passphrase")],
  [
    "welcome, opened before",
    "",
    async (page) => {
      await page.there("unlock-passphrase");
      await page.mock("() => document.querySelector('footer .link').click()");
      await page.there("welcome-create");
    },
  ],
  ...["wrong_passphrase", "vault_damaged", "vault_missing", "vault_in_use", "newer_schema", "io"].map((code) => [
    `unlock, ${code}`,
    `failing-${code}`,
    async (page) => {
      await page.type("unlock-passphrase", "nope");
      await page.click("unlock-submit");
      await page.there("unlock-error");
    },
  ]),
  [
    "unlock, by code",
    "",
    async (page) => {
      await page.click("unlock-use-code");
    },
  ],
  [
    "locked by itself",
    OPEN,
    async (page) => (await page.there("home"), page.mock("() => void window.__mock.lockNow()")),
  ],
  ["first run", `${OPEN},empty`, (page) => page.there("first-steps")],
  ...["memories", "conversations", "files", "sensitive", "activity", "trash"].map((section) => [
    `${section}, empty`,
    `${OPEN},empty`,
    (page) => page.click(`nav-${section}`),
  ]),
  ["home", OPEN, (page) => page.there("home-matrix")],
  [
    "home, as a table",
    OPEN,
    async (page) => (
      await page.there("home-matrix"),
      page.mock("() => document.querySelector('.legend .link')?.click()")
    ),
  ],
  ["memories", OPEN, async (page) => (await page.click("nav-memories"), page.there("list-row"))],
  [
    "memories, filter",
    OPEN,
    async (page) => (await page.click("nav-memories"), await page.there("list-row"), page.click("filter-button")),
  ],
  [
    "memories, search",
    OPEN,
    async (page) => {
      await page.click("nav-memories");
      await page.there("list-row");
      await page.type("search-field", "bathroom");
      await until("hits", () => page.browser.run("() => document.querySelector('mark') !== null"));
    },
  ],
  [
    "memories, no hits",
    OPEN,
    async (page) => {
      await page.click("nav-memories");
      await page.there("list-row");
      await page.type("search-field", "membrane");
      await until("no rows", async () => (await page.browser.count("list-row")) === 0);
    },
  ],
  ["memory", OPEN, memory],
  ["memory, menu", OPEN, async (page) => (await memory(page), page.menu("detail-more"))],
  [
    "memory, original record",
    OPEN,
    async (page) => (await memory(page), await page.menu("detail-more"), page.click("detail-original")),
  ],
  ["memory, edit", OPEN, async (page) => (await memory(page), page.click("detail-edit"))],
  [
    "memory, edit refused",
    OPEN,
    async (page) => {
      await memory(page);
      await refuse(page, "edit", "disk_full");
      await page.click("detail-edit");
      await page.type("edit-text", "Other words");
      await page.click("edit-save");
    },
  ],
  ["memory, redact", OPEN, async (page) => (await memory(page), page.click("detail-redact"))],
  [
    "memory, redact, kinds",
    OPEN,
    async (page) => (await memory(page), await page.click("detail-redact"), page.menu("redact-kind")),
  ],
  [
    "memory, erase",
    OPEN,
    async (page) => {
      await memory(page);
      await page.menu("detail-more");
      await page.click("detail-erase");
      await page.there("erase-copies");
    },
  ],
  [
    "receipt",
    OPEN,
    async (page) => {
      await memory(page);
      await page.menu("detail-more");
      await page.click("detail-erase");
      await page.there("erase-copies");
      await page.click("erase-confirm");
      await page.there("receipt-complete");
    },
  ],
  [
    "selection",
    OPEN,
    async (page) => {
      await page.click("nav-memories");
      await page.there("list-row");
      await page.mock("() => document.querySelector('[role=listbox]')?.focus()");
      for (const name of [" ", "ArrowDown", " "]) await page.press(name);
      await page.press("a", "C");
    },
  ],
  ["toast", OPEN, async (page) => (await memory(page), await page.click("detail-trash"), page.there("toast"))],
  ["write a memory", OPEN, async (page) => (await page.click("nav-memories"), page.click("write-button"))],
  ["conversations", OPEN, async (page) => (await page.click("nav-conversations"), page.there("list-row"))],
  ["reader", OPEN, conversation],
  [
    "reader, find",
    OPEN,
    async (page) => {
      await conversation(page);
      await page.click("reader-find");
      await page.type("find-field", "joists");
    },
  ],
  ["files", OPEN, async (page) => (await page.click("nav-files"), page.there("file-card"))],
  [
    "file",
    OPEN,
    async (page) => (await page.click("nav-files"), await page.click("file-card"), page.there("file-sheet")),
  ],
  ...REVIEW,
  ["activity", OPEN, async (page) => (await page.click("nav-activity"), page.there("activity-line"))],
  ["changes", OPEN, async (page) => (await page.click("nav-activity"), page.click("activity-changes"))],
  [
    "tombstones",
    OPEN,
    async (page) => (
      await page.click("nav-activity"),
      await page.click("activity-tombstones"),
      page.there("tombstone")
    ),
  ],
  [
    "receipt, not complete",
    OPEN,
    async (page) => {
      await page.there("home");
      await page.click("nav-activity");
      await page.click("activity-tombstones");
      await page.there("tombstone");
      await page.mock(
        "() => [...document.querySelectorAll('[data-testid=tombstone]')].at(-1)?.querySelector('button')?.click()",
      );
      await page.there("receipt");
    },
  ],
  ["log checked", OPEN, async (page) => (await page.click("nav-activity"), page.click("activity-check"))],
  [
    "undo an import",
    OPEN,
    async (page) => (await page.click("nav-activity"), page.mock("() => 0"), page.click("activity-undo")),
  ],
  [
    "import report",
    OPEN,
    async (page) => (await page.click("nav-activity"), await page.click("activity-report"), page.there("import-sum")),
  ],
  ["trash", OPEN, async (page) => (await page.click("nav-trash"), page.there("trash-empty"))],
  ...["security", "appearance", "keys", "about"].map((name) => [`settings, ${name}`, OPEN, settings(name)]),
  [
    "settings, about, checked",
    OPEN,
    async (page) => (await settings("about")(page), await page.click("check-vault"), page.there("check-report")),
  ],
  [
    "settings, passphrase",
    OPEN,
    async (page) => {
      await settings("security")(page);
      await page.click("settings-passphrase");
      await page.type("passphrase-new", "kite");
    },
  ],
  ["settings, languages", OPEN, async (page) => (await settings("appearance")(page), page.menu("settings-language"))],
  [
    "context-menu-memory",
    OPEN,
    async (page) => {
      await page.click("nav-memories");
      await page.context("list-row", '[aria-posinset="2"]');
    },
  ],
  [
    "context-menu-checked",
    OPEN,
    async (page) => {
      await page.click("nav-memories");
      await page.there("list-row");
      await page.mock("() => document.querySelector('[role=listbox]')?.focus()");
      await page.press("ArrowDown");
      for (let n = 0; n < 2; n += 1) await page.press("ArrowDown", "S");
      await page.context("list-row", '[aria-posinset="3"]');
    },
  ],
  [
    "context-menu-conversation",
    OPEN,
    async (page) => (await page.click("nav-conversations"), page.context("list-row", '[data-id="c-tide"]')),
  ],
  [
    "context-menu-message",
    OPEN,
    async (page) => (await conversation(page), page.context("reader-message", '[data-id="msg-a2"]')),
  ],
  [
    "context-menu-file",
    OPEN,
    async (page) => (await page.click("nav-files"), page.context("file-card", '[data-id="f-3"]')),
  ],
  [
    "context-menu-trash",
    OPEN,
    async (page) => (await page.click("nav-trash"), page.context("list-row", '[aria-posinset="2"]')),
  ],
  [
    "conversations, selection",
    OPEN,
    async (page) => {
      await page.click("nav-conversations");
      await page.there("list-row");
      await page.mock("() => document.querySelector('[role=listbox]')?.focus()");
      for (let n = 0; n < 3; n += 1) await page.press("ArrowDown", "S");
    },
  ],
  [
    "files, selection",
    OPEN,
    async (page) => {
      await page.click("nav-files");
      await page.there("file-card");
      await page.mock("() => document.querySelector('[data-testid=file-card]')?.focus()");
      await page.press("a", "C");
      await page.there("files-trash");
    },
  ],
  [
    "palette",
    OPEN,
    async (page) => {
      await memory(page);
      await palette(page, "the");
      await page.there("palette-item", '[data-id^="c-"]');
    },
  ],
  ["palette-empty", OPEN, async (page) => (await page.there("home"), palette(page, ""))],
  [
    "palette-recent",
    OPEN,
    async (page) => {
      await page.there("home");
      // A sign that their names have in every language; Japanese has its own of it.
      const colon = (await page.browser.run("() => document.documentElement.lang")) === "ja" ? "：" : ":";
      for (const name of ["about", "appearance"]) {
        await palette(page, `>${colon}`);
        await page.click("palette-item", `[data-id="settings-${name}"]`);
        await until("the palette to be gone", async () => (await page.browser.count("palette")) === 0);
      }
      await palette(page, "");
    },
  ],
  ["shortcuts", OPEN, async (page) => (await page.there("home"), page.press("/", "C"))],
  [
    "drop overlay",
    OPEN,
    async (page) => (await page.there("home"), drop(page, FILES, true), page.there("drop-overlay")),
  ],
  ["import, choose", OPEN, async (page) => (await page.there("home"), page.click("import-button"))],
  ["import, paste", OPEN, async (page) => (await page.there("home"), page.press("V", "CS"))],
  ["import, plan", OPEN, async (page) => (await page.there("home"), dropped(page))],
  [
    "import, refused",
    OPEN,
    async (page) => {
      await page.there("home");
      await refuse(page, "detect", "io");
      await drop(page);
      await page.there("import-error");
    },
  ],
  [
    "import, encrypted",
    OPEN,
    async (page) => {
      await page.there("home");
      await drop(page, [ENCRYPTED, FILES[0]]);
      await page.there("import-leave-out");
    },
  ],
  [
    "import, encrypted, wrong passphrase",
    OPEN,
    async (page) => {
      await page.there("home");
      await drop(page, [ENCRYPTED]);
      await page.type("import-passphrase", "not this one");
      await page.click("import-open");
      await page.there("import-passphrase", '[aria-invalid="true"]');
    },
  ],
  [
    "import, progress",
    `${OPEN},slow`,
    async (page) => {
      await page.there("home");
      await dropped(page);
      await page.click("import-confirm");
      await page.there("import-background");
    },
  ],
  [
    "import, report",
    OPEN,
    async (page) => {
      await page.there("home");
      await dropped(page);
      await page.click("import-confirm");
      await page.there("import-undo");
    },
  ],
  ["export", OPEN, async (page) => (await page.there("home"), exporting(page))],
  [
    "export, losses",
    OPEN,
    async (page) => (
      await page.there("home"),
      await exporting(page),
      await page.click("export-alf"),
      page.there("export-losses")
    ),
  ],
  [
    "export, uncovered",
    OPEN,
    async (page) => {
      await page.there("home");
      await exporting(page);
      await page.there("export-cover", ' [role="switch"]:not([disabled])');
      await page.click("export-cover", ' [role="switch"]');
      await page.there("uncover-dialog");
    },
  ],
  [
    "export, encrypted",
    OPEN,
    async (page) => {
      await page.there("home");
      await exporting(page);
      await page.click("export-alf");
      await page.click("export-encrypt", ' [role="switch"]');
      await page.type("export-passphrase", PASSPHRASE);
      await page.type("export-repeat", PASSPHRASE);
      await page.there("export-losses");
    },
  ],
  [
    "export, done",
    OPEN,
    async (page) => {
      await page.there("home");
      await exporting(page);
      await page.click("export-save");
      await page.there("export-result");
    },
  ],
];

export const SIZES = [
  [1280, 800],
  [900, 600],
];

/**
 * Go through every screen in one language and hand each to `visit(name, size, page)`, in each size.
 * A screen that cannot be reached goes to `lost(name, error)`.
 */
export async function walk(browser, origin, { language, sizes = SIZES, screens = SCREENS, visit, lost }) {
  const page = new Page(browser);
  for (const [name, words, steps] of screens) {
    try {
      await resize(browser, SIZES[0]);
      await browser.goTo(`${origin}/?mock=${words}`);
      await until("the window", () =>
        browser.run("() => typeof window.__speak === 'function' && document.querySelector('main, nav') !== null"),
      );
      await browser.run("(language) => window.__speak(language)", language);
      await steps(page);
      for (const size of sizes) {
        await resize(browser, size);
        await settled(browser);
        await visit(name, size, page);
      }
    } catch (error) {
      await lost(name, error);
    }
  }
}

function resize(browser, [width, height]) {
  return browser.devTools("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
}

/** Until nothing moves and nothing is being loaded any more. */
export async function settled(browser) {
  let before = "";
  let quiet = 0;
  await until(
    "the screen to be at rest",
    async () => {
      const now = await browser.run(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(document.body.innerHTML.length + '|' + document.getAnimations().filter((each) => each.playState === 'running' && each.effect?.getTiming().iterations !== Infinity).length))))",
      );
      quiet = now === before && now.endsWith("|0") ? quiet + 1 : 0;
      before = now;
      return quiet >= 2;
    },
    5_000,
  ).catch(() => undefined);
}
