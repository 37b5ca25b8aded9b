// The way through imports of several files that were dropped together, and to a toast over a sheet.
import { until } from "../e2e/webdriver.mjs";

const OPEN = "open";
const EXPORT = "/home/ines/chatgpt-export-2026-11-21.zip";
export const NOTES = "/home/ines/ines-notes.mem";
export const BROKEN = "/home/ines/broken.alf";

const planned = async (page, paths) => {
  await page.there("home");
  await page.mock("(paths) => void window.__mock.drop(paths, false)", paths);
  await page.there("import-plan-1");
  await page.there("import-confirm", ":not([disabled])");
};

/** As `SCREENS` in walk.mjs. */
export const PLANS = [
  ["import, several", OPEN, (page) => planned(page, [EXPORT, NOTES, "/home/ines/about-me.md"])],
  [
    "import, several, the second",
    OPEN,
    async (page) => {
      await planned(page, [EXPORT, NOTES]);
      await page.click("import-plan-1");
      await page.there("import-plan-1", '[aria-checked="true"]');
    },
  ],
  [
    "import, several, one refused",
    OPEN,
    async (page) => {
      await planned(page, [EXPORT, BROKEN]);
      await page.click("import-plan-1");
      await page.there("import-refused");
    },
  ],
  [
    "import, several, report",
    OPEN,
    async (page) => {
      await planned(page, [EXPORT, BROKEN, NOTES]);
      await page.click("import-look-after");
      await page.click("import-confirm");
      await page.there("import-undo");
      await page.there("import-gone-memory");
    },
  ],
  [
    "import, toast over the sheet",
    OPEN,
    async (page) => {
      await page.there("home");
      await page.click("nav-memories");
      await page.click("list-row", '[aria-posinset="1"]');
      await page.click("detail-trash");
      await page.there("toast");
      await page.press("o", "C");
      await page.there("import-choose-files");
      await until("the toast in it", () =>
        page.browser.run("() => document.querySelector('[role=dialog] [data-testid=toast]') !== null"),
      );
    },
  ],
];
