// All screens by name, with the steps to reach them. The checks are in other files.
import { until } from "../e2e/webdriver.mjs";
import { AGENT_SCREENS } from "./agents.mjs";
import { EXPORT_SCREENS } from "./exports.mjs";
import { FOLDER_SCREENS } from "./folders.mjs";
import { GUIDE_SCREENS } from "./guides.mjs";
import { Page } from "./page.mjs";
import { OPENING_SCREENS } from "./opening.mjs";
import { PLAN_SCREENS } from "./plans.mjs";
import { openConversation, openFiles, READING_SCREENS } from "./reading.mjs";
import { selectTwoRows, openMemory, REMOVAL_SCREENS } from "./removal.mjs";
import { REVIEW_SCREENS } from "./review.mjs";

const OPEN = "open";
const PASSPHRASE = "harbour copper nineteen kite";
/** Paths of files to drop on the window. */
export const DROPPED_FILES = [
  "/home/ines/chatgpt-export-2026-11-21.zip",
  "/home/ines/damaged.mem",
  "/home/ines/about-me.md",
];
export const ENCRYPTED_FILE = "/home/ines/encrypted.alf";
const drop = (page, paths = DROPPED_FILES, over = false) =>
  page.mock("(paths, over) => void window.__mock.drop(paths, over)", paths, over);
const failMethod = (page, method, code) =>
  page.mock("(method, code) => void window.__refuse(method, code)", method, code);

async function openRecoveryStep(page) {
  await page.click("welcome-create");
  await page.type("create-name", "Ines");
  await page.click("create-next");
  await page.type("create-passphrase", PASSPHRASE);
  await page.type("create-repeat", PASSPHRASE);
  await page.click("create-next");
  await page.waitFor("recovery-code");
}
const typeInPalette = async (page, typed) => {
  await page.press("k", "C");
  await page.type("palette-field", typed);
};
const settings = (name) => async (page) => {
  await page.click("nav-settings");
  await page.click(`settings-${name}`);
};
const dropFiles = async (page) => {
  await drop(page);
  await until("the plan", () =>
    page.browser.run("() => document.querySelectorAll('[data-testid=import-file]').length === 3"),
  );
  await until("the plan", () =>
    page.browser.run("() => !document.querySelector('[data-testid=import-confirm]')?.disabled"),
  );
};

/** All screens: `[name, options of the mock backend, steps to reach it]`. */
export const SCREENS = [
  ["welcome", "empty", (page) => page.waitFor("welcome-create")],
  [
    "welcome, looked inside",
    "empty",
    async (page) => (await page.waitFor("welcome-create"), await drop(page), page.waitFor("peek")),
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
  ["create, recovery code", "empty", openRecoveryStep],
  ["unlock", "", (page) => page.waitFor("unlock-passphrase")],
  [
    "welcome, opened before",
    "",
    async (page) => {
      await page.waitFor("unlock-passphrase");
      await page.mock("() => document.querySelector('footer .link').click()");
      await page.waitFor("welcome-create");
    },
  ],
  ...["wrong_passphrase", "vault_damaged", "vault_missing", "vault_in_use", "newer_schema", "io"].map((code) => [
    `unlock, ${code}`,
    `failing-${code}`,
    async (page) => {
      await page.type("unlock-passphrase", "nope");
      await page.click("unlock-submit");
      await page.waitFor("unlock-error");
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
    async (page) => (await page.waitFor("home"), page.mock("() => void window.__mock.lockNow()")),
  ],
  ["first run", `${OPEN},empty`, (page) => page.waitFor("first-steps")],
  ...["memories", "conversations", "files", "sensitive", "activity", "trash"].map((section) => [
    `${section}, empty`,
    `${OPEN},empty`,
    (page) => page.click(`nav-${section}`),
  ]),
  ["home", OPEN, (page) => page.waitFor("home-matrix")],
  [
    "home, as a table",
    OPEN,
    async (page) => (
      await page.waitFor("home-matrix"),
      page.mock("() => document.querySelector('.legend .link')?.click()")
    ),
  ],
  ["memories", OPEN, async (page) => (await page.click("nav-memories"), page.waitFor("list-row"))],
  [
    "memories, filter",
    OPEN,
    async (page) => (await page.click("nav-memories"), await page.waitFor("list-row"), page.click("filter-button")),
  ],
  [
    "memories, search",
    OPEN,
    async (page) => {
      await page.click("nav-memories");
      await page.waitFor("list-row");
      await page.type("search-field", "bathroom");
      await until("hits", () => page.browser.run("() => document.querySelector('mark') !== null"));
    },
  ],
  [
    "memories, no hits",
    OPEN,
    async (page) => {
      await page.click("nav-memories");
      await page.waitFor("list-row");
      await page.type("search-field", "membrane");
      await until("no rows", async () => (await page.browser.count("list-row")) === 0);
    },
  ],
  ["memory", OPEN, openMemory],
  ["memory, menu", OPEN, async (page) => (await openMemory(page), page.openMenu("detail-more"))],
  [
    "memory, original record",
    OPEN,
    async (page) => (await openMemory(page), await page.openMenu("detail-more"), page.click("detail-original")),
  ],
  ["memory, edit", OPEN, async (page) => (await openMemory(page), page.click("detail-edit"))],
  [
    "memory, edit refused",
    OPEN,
    async (page) => {
      await openMemory(page);
      await failMethod(page, "edit", "disk_full");
      await page.click("detail-edit");
      await page.type("edit-text", "Other words");
      await page.click("edit-save");
    },
  ],
  ["memory, redact", OPEN, async (page) => (await openMemory(page), page.click("detail-redact"))],
  [
    "memory, redact, kinds",
    OPEN,
    async (page) => (await openMemory(page), await page.click("detail-redact"), page.openMenu("redact-kind")),
  ],
  [
    "memory, erase",
    OPEN,
    async (page) => {
      await openMemory(page);
      await page.openMenu("detail-more");
      await page.click("detail-erase");
      await page.waitFor("erase-copies");
    },
  ],
  [
    "receipt",
    OPEN,
    async (page) => {
      await openMemory(page);
      await page.openMenu("detail-more");
      await page.click("detail-erase");
      await page.waitFor("erase-copies");
      await page.click("erase-confirm");
      await page.waitFor("receipt-complete");
    },
  ],
  [
    "receipt, left",
    OPEN,
    async (page) => {
      await openMemory(page);
      await page.openMenu("detail-more");
      await page.click("detail-erase");
      await page.click("erase-copies");
      await page.click("erase-confirm");
      await page.waitFor("receipt-left");
    },
  ],
  [
    "selection",
    OPEN,
    async (page) => {
      await selectTwoRows(page);
      await page.press("a", "C");
    },
  ],
  [
    "selection, redact",
    OPEN,
    async (page) => {
      await selectTwoRows(page);
      // Only one sample memory contains sensitive values, so all are selected.
      await page.press("a", "C");
      await page.click("selection-redact");
      await page.waitFor("redact-kinds-confirm");
    },
  ],
  [
    "toast",
    OPEN,
    async (page) => {
      await openMemory(page);
      await page.click("detail-trash");
      await page.waitFor("toast");
      // The list is empty now, but the last record stays in the detail pane for a moment.
      await until("the detail pane to be empty", async () => (await page.browser.count("detail-trash")) === 0);
    },
  ],
  ["write a memory", OPEN, async (page) => (await page.click("nav-memories"), page.click("write-button"))],
  ...READING_SCREENS,
  ...REVIEW_SCREENS,
  ...REMOVAL_SCREENS,
  ["activity", OPEN, async (page) => (await page.click("nav-activity"), page.waitFor("activity-line"))],
  [
    "activity, details",
    OPEN,
    async (page) => (
      await page.click("nav-activity"),
      await page.click("activity-details"),
      page.waitFor("export-details")
    ),
  ],
  ["changes", OPEN, async (page) => (await page.click("nav-activity"), page.click("activity-changes"))],
  [
    "changes, what",
    OPEN,
    async (page) => (
      await page.click("nav-activity"),
      await page.click("activity-changes"),
      page.openMenu("changes-what")
    ),
  ],
  [
    "tombstones",
    OPEN,
    async (page) => (
      await page.click("nav-activity"),
      await page.click("activity-tombstones"),
      page.waitFor("tombstone")
    ),
  ],
  [
    "receipt, not complete",
    OPEN,
    async (page) => {
      await page.waitFor("home");
      await page.click("nav-activity");
      await page.click("activity-tombstones");
      await page.waitFor("tombstone");
      await page.mock(
        "() => [...document.querySelectorAll('[data-testid=tombstone]')].at(-1)?.querySelector('[data-testid=tombstone-receipt]')?.click()",
      );
      await page.waitFor("receipt");
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
    async (page) => (await page.click("nav-activity"), await page.click("activity-report"), page.waitFor("import-sum")),
  ],
  ["trash", OPEN, async (page) => (await page.click("nav-trash"), page.waitFor("trash-empty"))],
  ...["security", "appearance", "vault", "keys", "about"].map((name) => [`settings, ${name}`, OPEN, settings(name)]),
  ...["macos", "windows"].map((system) => [
    `settings, security, on ${system}`,
    `${OPEN},on-${system}`,
    settings("security"),
  ]),
  ...FOLDER_SCREENS,
  ...AGENT_SCREENS,
  [
    "settings, about, checked",
    OPEN,
    async (page) => (await settings("about")(page), await page.click("check-vault"), page.waitFor("check-report")),
  ],
  ...["formats", "limits"].map((name) => [
    `settings, about, ${name}`,
    OPEN,
    async (page) => (await settings("about")(page), await page.click(`about-${name}`), page.waitFor(`${name}-sheet`)),
  ]),
  [
    "settings, about, licences",
    OPEN,
    async (page) => {
      await settings("about")(page);
      await page.click("about-licences");
      await until("the list", () =>
        page.browser.run("() => !!document.querySelector('[data-testid=licences-sheet] button.head')"),
      );
      await page.mock("() => document.querySelectorAll('[data-testid=licences-sheet] button.head')[1]?.click()");
    },
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
  [
    "settings, recovery code",
    OPEN,
    async (page) => {
      await settings("security")(page);
      await page.click("settings-recovery");
      await page.type("recovery-present", "not this one");
      await page.click("recovery-make");
      await page.waitFor("recovery-present", '[aria-invalid="true"]');
    },
  ],
  [
    "settings, recovery code, made",
    OPEN,
    async (page) => {
      await settings("security")(page);
      await page.click("settings-recovery");
      await page.type("recovery-present", PASSPHRASE);
      await page.click("recovery-make");
      await page.waitFor("recovery-code");
    },
  ],
  [
    "settings, vault, backed up",
    OPEN,
    async (page) => (await settings("vault")(page), await page.click("backup-run"), page.waitFor("backup-done")),
  ],
  [
    "memories, one line",
    OPEN,
    async (page) => (
      await settings("appearance")(page),
      await page.click("rows-one"),
      await page.click("nav-memories"),
      page.waitFor("list-row")
    ),
  ],
  [
    "conversations, one line",
    OPEN,
    async (page) => (
      await settings("appearance")(page),
      await page.click("rows-one"),
      await page.click("nav-conversations"),
      page.waitFor("list-row")
    ),
  ],
  [
    "home, blurred",
    OPEN,
    async (page) => (
      await settings("appearance")(page),
      await page.click("settings-blur"),
      await page.click("nav-home"),
      page.waitFor("home-matrix")
    ),
  ],
  [
    "memory, blurred",
    OPEN,
    async (page) => (await settings("appearance")(page), await page.click("settings-blur"), openMemory(page)),
  ],
  [
    "reader, blurred",
    OPEN,
    async (page) => (await settings("appearance")(page), await page.click("settings-blur"), openConversation(page)),
  ],
  [
    "settings, languages",
    OPEN,
    async (page) => (await settings("appearance")(page), page.openMenu("settings-language")),
  ],
  [
    "context-menu-memory",
    OPEN,
    async (page) => {
      await page.click("nav-memories");
      await page.openContextMenu("list-row", '[aria-posinset="2"]');
    },
  ],
  [
    "context-menu-checked",
    OPEN,
    async (page) => {
      await page.click("nav-memories");
      await page.waitFor("list-row");
      await page.mock("() => document.querySelector('[role=listbox]')?.focus()");
      await page.press("ArrowDown");
      for (let n = 0; n < 2; n += 1) await page.press("ArrowDown", "S");
      await page.openContextMenu("list-row", '[aria-posinset="3"]');
    },
  ],
  [
    "context-menu-conversation",
    OPEN,
    async (page) => (await page.click("nav-conversations"), page.openContextMenu("list-row", '[data-id="c-tide"]')),
  ],
  [
    "context-menu-message",
    OPEN,
    async (page) => (await openConversation(page), page.openContextMenu("reader-message", '[data-id="msg-a2"]')),
  ],
  [
    "context-menu-file",
    OPEN,
    async (page) => (await openFiles(page), page.openContextMenu("file-card", '[data-id="f-3"]')),
  ],
  [
    "context-menu-trash",
    OPEN,
    async (page) => (await page.click("nav-trash"), page.openContextMenu("list-row", '[aria-posinset="2"]')),
  ],
  [
    "conversations, selection",
    OPEN,
    async (page) => {
      await page.click("nav-conversations");
      await page.waitFor("list-row");
      await page.mock("() => document.querySelector('[role=listbox]')?.focus()");
      for (let n = 0; n < 3; n += 1) await page.press("ArrowDown", "S");
    },
  ],
  [
    "files, selection",
    OPEN,
    async (page) => {
      await openFiles(page);
      await page.mock("() => document.querySelector('[data-testid=file-card]')?.focus()");
      await page.press("a", "C");
      await page.waitFor("files-trash");
    },
  ],
  [
    "palette",
    OPEN,
    async (page) => {
      await openMemory(page);
      await typeInPalette(page, "the");
      await page.waitFor("palette-item", '[data-id^="c-"]');
    },
  ],
  ["palette-empty", OPEN, async (page) => (await page.waitFor("home"), typeInPalette(page, ""))],
  [
    "palette-recent",
    OPEN,
    async (page) => {
      await page.waitFor("home");
      // The command names contain a colon in every language; Japanese uses a full-width one.
      const colon = (await page.browser.run("() => document.documentElement.lang")) === "ja" ? "：" : ":";
      for (const name of ["folders", "appearance"]) {
        await typeInPalette(page, `>${colon}`);
        await page.click("palette-item", `[data-id="settings-${name}"]`);
        await until("the palette to be gone", async () => (await page.browser.count("palette")) === 0);
      }
      await typeInPalette(page, "");
    },
  ],
  ["shortcuts", OPEN, async (page) => (await page.waitFor("home"), page.press("/", "C"))],
  [
    "drop overlay",
    OPEN,
    async (page) => (await page.waitFor("home"), drop(page, DROPPED_FILES, true), page.waitFor("drop-overlay")),
  ],
  ["import, choose", OPEN, async (page) => (await page.waitFor("home"), page.click("import-button"))],
  ["import, paste", OPEN, async (page) => (await page.waitFor("home"), page.press("V", "CS"))],
  ["import, plan", OPEN, async (page) => (await page.waitFor("home"), dropFiles(page))],
  ...OPENING_SCREENS,
  ...PLAN_SCREENS,
  ...GUIDE_SCREENS,
  [
    "import, refused",
    OPEN,
    async (page) => {
      await page.waitFor("home");
      await failMethod(page, "detect", "io");
      await drop(page);
      await page.waitFor("import-error");
    },
  ],
  [
    "import, encrypted",
    OPEN,
    async (page) => {
      await page.waitFor("home");
      await drop(page, [ENCRYPTED_FILE, DROPPED_FILES[0]]);
      await page.waitFor("import-leave-out");
    },
  ],
  [
    "import, encrypted, wrong passphrase",
    OPEN,
    async (page) => {
      await page.waitFor("home");
      await drop(page, [ENCRYPTED_FILE]);
      await page.type("import-passphrase", "not this one");
      await page.click("import-open");
      await page.waitFor("import-passphrase", '[aria-invalid="true"]');
    },
  ],
  [
    "import, progress",
    `${OPEN},hanging`,
    async (page) => {
      await page.waitFor("home");
      await dropFiles(page);
      await page.click("import-confirm");
      await page.waitFor("import-background");
      await until("a rate", () => page.browser.run("() => !!document.querySelector('.rate')?.textContent"));
    },
  ],
  [
    "import, report",
    OPEN,
    async (page) => {
      await page.waitFor("home");
      await dropFiles(page);
      await page.click("import-confirm");
      await page.waitFor("import-undo");
    },
  ],
  ...EXPORT_SCREENS,
];

/**
 * Whether this is the first screen of its kind, for checks that need only one screen of each kind. The kind is the part
 * of the name before the comma.
 */
export function isFirst(name) {
  const kind = (each) => each.split(",")[0];
  const sameKind = SCREENS.map(([each]) => each).filter((each) => kind(each) === kind(name));
  return name === (sameKind.includes(kind(name)) ? kind(name) : sameKind[0]);
}

/** Returns whether the checks run with every setting on this screen: the first of its kind, or any in a campaign. */
export const needsAllSettings = (name) => isFirst(name) || Boolean(process.env.WHOLE_SCREENS);

/** File name of a screenshot. */
export const screenshotName = (name) => name.replaceAll(", ", "--").replaceAll(/[^\w-]+/g, "-");

/** Screens whose names start with `prefix`. */
export const screensNamed = (prefix) => SCREENS.filter(([name]) => name.startsWith(prefix));

/**
 * Opens these screens in one language and in the larger size, and passes each to `visit(name, page)`. Each screen
 * starts with a fresh page. If a screen cannot be reached or `visit` fails, `onUnreachable(name, error)` is called.
 */
export async function walk(browser, origin, { language, screens, visit, onUnreachable }) {
  const page = new Page(browser);
  for (const [name, mockOptions, steps] of screens) {
    try {
      await page.open(`${origin}/?mock=${mockOptions}`, language);
      await steps(page);
      await page.waitUntilIdle();
      await visit(name, page);
    } catch (error) {
      onUnreachable(name, error);
    }
  }
}
