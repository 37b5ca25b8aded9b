// Screens of the export sheet: formats, scope, losses, the text for another assistant.
import { until } from "../e2e/webdriver.mjs";

const OPEN = "open";
const PASSPHRASE = "harbour copper nineteen kite";
const openSheet = async (page) => {
  await page.openMenu("export-button");
  await page.waitFor("export-more");
  await page.click("export-more");
  await page.waitFor("export-sheet");
  await page.movePointerAway();
};
/** Scrolls the sheet to the top, because a menu may have scrolled it by a fraction of a pixel. */
const scrollToTop = (page) =>
  page.mock("() => document.querySelectorAll('[role=dialog] *').forEach((each) => (each.scrollTop = 0))");
const scrollTo = async (page, id) => {
  await scrollToTop(page);
  await page.mock("(id) => document.querySelector(`[data-testid=\"${id}\"]`).scrollIntoView({ block: 'end' })", id);
};
const openExport = async (page) => {
  await page.waitFor("home");
  await openSheet(page);
};
/** Waits until the records are counted. Then the Save button is enabled, or a confirmation is shown. */
const waitForCount = (page) =>
  until("what goes in", () =>
    page.browser.run(
      "() => !document.querySelector('[data-testid=export-save]')?.disabled || document.querySelector('[data-testid=export-understood]') !== null",
    ),
  );
/** Chooses the text for an assistant and waits until it is shown. */
const waitForText = async (page) => {
  await page.click("export-transfer_text");
  await until("the text", () =>
    page.browser.run("() => document.querySelector('[data-testid=export-text]')?.value.includes('Sandviken')"),
  );
};

/** Screens of the export sheet, in the same form as `SCREENS` in walk.mjs. */
export const EXPORT_SCREENS = [
  ["export", OPEN, openExport],
  [
    "export, menu",
    OPEN,
    async (page) => {
      await page.waitFor("home");
      await page.openMenu("export-button");
      await page.waitFor("save-mem");
      await page.movePointerAway();
    },
  ],
  [
    "export, losses",
    OPEN,
    async (page) => {
      await openExport(page);
      await page.click("export-alf");
      await page.waitFor("export-losses");
      await scrollTo(page, "export-losses");
    },
  ],
  [
    "export, uncovered",
    OPEN,
    async (page) => {
      await openExport(page);
      await page.waitFor("export-cover", ' [role="switch"]:not([disabled])');
      await page.click("export-cover", ' [role="switch"]');
      await page.waitFor("uncover-dialog");
    },
  ],
  [
    "export, encrypted",
    OPEN,
    async (page) => {
      await openExport(page);
      await page.click("export-alf");
      await page.click("export-encrypt", ' [role="switch"]');
      await page.type("export-passphrase", PASSPHRASE);
      await page.type("export-repeat", PASSPHRASE);
      await page.waitFor("export-losses");
    },
  ],
  [
    "export, text",
    OPEN,
    async (page) => {
      await openExport(page);
      await waitForText(page);
      await page.waitFor("export-losses");
    },
  ],
  [
    "export, text that goes on",
    OPEN,
    async (page) => {
      await page.mock(
        "() => { const { exportText } = window.__mock; window.__mock.exportText = async (...asked) => (await exportText(...asked)).repeat(100); }",
      );
      await openExport(page);
      await waitForText(page);
      await page.click("export-scope-choose");
      await page.openMenu("export-choose-kind");
      await page.click("export-kind-memory");
      await page.waitFor("export-text-on");
      await page.movePointerAway();
      await scrollTo(page, "export-text-on");
    },
  ],
  [
    "export, choose",
    OPEN,
    async (page) => {
      await page.click("nav-memories");
      await page.waitFor("list-row");
      await openSheet(page);
      await page.click("export-scope-choose");
      await page.openMenu("export-choose-source");
      await page.click("export-source-claude");
      await waitForCount(page);
      await page.movePointerAway();
      await scrollToTop(page);
    },
  ],
  [
    "export, nothing chosen",
    OPEN,
    async (page) => {
      await openExport(page);
      await page.click("export-scope-choose");
      await page.type("export-choose-until", "1999-12-31");
      await page.waitFor("export-nothing");
    },
  ],
  [
    "export, done",
    OPEN,
    async (page) => {
      await openExport(page);
      await page.click("export-understood");
      await page.click("export-save");
      await page.waitFor("export-result");
    },
  ],
  [
    "export, not valid",
    OPEN,
    async (page) => {
      await page.mock(
        "() => { const { exportRun } = window.__mock; window.__mock.exportRun = async (...asked) => ({ ...(await exportRun(...asked)), validated: false, errors: 3, first_error: { code: 'checksum_mismatch', place: 'items/fact.jsonl', message: 'checksum mismatch: items/fact.jsonl' } }); }",
      );
      await openExport(page);
      await page.click("export-understood");
      await page.click("export-save");
      await page.waitFor("export-delete");
    },
  ],
];
