// The way through the export sheet: formats, what goes in, what is lost, the text for another assistant.
import { until } from "../e2e/webdriver.mjs";

const OPEN = "open";
const PASSPHRASE = "harbour copper nineteen kite";
const exporting = async (page) => {
  await page.there("home");
  await page.click("export-button");
  await page.there("export-sheet");
};
/** It is known what goes in, and perhaps what has to be ticked before it is saved. */
const counted = (page) =>
  until("what goes in", () =>
    page.browser.run(
      "() => !document.querySelector('[data-testid=export-save]')?.disabled || document.querySelector('[data-testid=export-understood]') !== null",
    ),
  );
/** The text is there: it can be copied once it is known what is left out. */
const text = async (page) => {
  await page.click("export-transfer_text");
  await until("the text", () =>
    page.browser.run("() => document.querySelector('[data-testid=export-text]')?.value.includes('Sandviken')"),
  );
};

/** As `SCREENS` in walk.mjs. */
export const EXPORTS = [
  ["export", OPEN, exporting],
  [
    "export, losses",
    OPEN,
    async (page) => (await exporting(page), await page.click("export-alf"), page.there("export-losses")),
  ],
  [
    "export, uncovered",
    OPEN,
    async (page) => {
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
      await exporting(page);
      await page.click("export-alf");
      await page.click("export-encrypt", ' [role="switch"]');
      await page.type("export-passphrase", PASSPHRASE);
      await page.type("export-repeat", PASSPHRASE);
      await page.there("export-losses");
    },
  ],
  [
    "export, text",
    OPEN,
    async (page) => {
      await exporting(page);
      await text(page);
      await page.there("export-losses");
    },
  ],
  [
    "export, text that goes on",
    OPEN,
    async (page) => {
      await page.mock(
        "() => { const { exportText } = window.__mock; window.__mock.exportText = async (...asked) => (await exportText(...asked)).repeat(100); }",
      );
      await exporting(page);
      await text(page);
      await page.click("export-scope-choose");
      await page.menu("export-choose-kind");
      await page.click("export-kind-memory");
      await page.there("export-text-on");
    },
  ],
  [
    "export, choose",
    OPEN,
    async (page) => {
      await page.click("nav-memories");
      await page.there("list-row");
      await page.click("export-button");
      await page.click("export-scope-choose");
      await page.menu("export-choose-source");
      await page.click("export-source-claude");
      await counted(page);
      await page.away();
      // The menu that was in the way may have moved the sheet by a part of a point.
      await page.mock("() => document.querySelectorAll('[role=dialog] *').forEach((each) => (each.scrollTop = 0))");
    },
  ],
  [
    "export, nothing chosen",
    OPEN,
    async (page) => {
      await exporting(page);
      await page.click("export-scope-choose");
      await page.type("export-choose-until", "1999-12-31");
      await page.there("export-nothing");
    },
  ],
  [
    "export, done",
    OPEN,
    async (page) => {
      await exporting(page);
      await page.click("export-understood");
      await page.click("export-save");
      await page.there("export-result");
    },
  ],
  [
    "export, not valid",
    OPEN,
    async (page) => {
      await page.mock(
        "() => { const { exportRun } = window.__mock; window.__mock.exportRun = async (...asked) => ({ ...(await exportRun(...asked)), validated: false, errors: 3, first_error: { code: 'checksum', place: 'memories.jsonl:4', message: 'The digest in the manifest is another' } }); }",
      );
      await exporting(page);
      await page.click("export-understood");
      await page.click("export-save");
      await page.there("export-delete");
    },
  ],
];
