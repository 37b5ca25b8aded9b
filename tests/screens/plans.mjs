// Screens of imports of several files that were dropped together, and of a toast over a sheet.
import { until } from "../e2e/webdriver.mjs";

const OPEN = "open";
const EXPORT = "/home/ines/chatgpt-export-2026-11-21.zip";
export const NOTES = "/home/ines/ines-notes.mem";
export const BROKEN = "/home/ines/broken.alf";

const openPlan = async (page, paths) => {
  await page.waitFor("home");
  await page.mock("(paths) => void window.__mock.drop(paths, false)", paths);
  await page.waitFor("import-plan-1");
  await page.waitFor("import-confirm", ":not([disabled])");
};

const plan = async (page) => {
  await page.waitFor("home");
  await page.mock("(paths) => void window.__mock.drop(paths, false)", [EXPORT]);
  await page.waitFor("import-confirm", ":not([disabled])");
};
const report = async (page) => {
  await plan(page);
  await page.click("import-confirm");
  await page.waitFor("import-undo");
};

/** Screens of imports of several files, in the same form as `SCREENS` in walk.mjs. */
export const PLAN_SCREENS = [
  [
    "import, plan, what would be new",
    OPEN,
    async (page) => (await plan(page), await page.click("outcome-memory-added"), page.waitFor("import-items")),
  ],
  [
    "import, plan, what is missing",
    OPEN,
    async (page) => (await plan(page), await page.click("import-missing-see"), page.waitFor("import-missing-names")),
  ],
  [
    "import, report, of one kind",
    OPEN,
    async (page) => (await report(page), await page.click("outcome-message-found"), page.waitFor("import-items-more")),
  ],
  [
    "import, report, taking back what was edited",
    OPEN,
    async (page) => {
      await report(page);
      await page.mock("async () => void ((await window.__mock.imports()).batches[0].edited_since = 3)");
      await page.click("import-undo");
      await page.waitFor("import-undo-anyway");
    },
  ],
  ...["memories", "conversations", "files"].map((section) => [
    `${section}, of one import`,
    OPEN,
    async (page) => {
      // Load all tags first, because the filter lists every tag, even those without records in the list.
      await page.waitFor("home");
      await page.click("nav-memories");
      await page.waitFor("list-row");
      await page.click("nav-home");
      await report(page);
      const kind = { memories: "memory", conversations: "conversation", files: "attachment" }[section];
      await page.click(`outcome-${kind}-added`);
      await page.waitFor(`nav-${section}`, "[aria-current]");
    },
  ]),
  [
    "import, refused, recognised",
    OPEN,
    async (page) => {
      await page.waitFor("home");
      await page.mock("(method, code) => void window.__refuse(method, code)", "importPreview", "limit");
      await page.mock("(paths) => void window.__mock.drop(paths, false)", [EXPORT]);
      await page.click("import-ways");
      await page.waitFor("guide", '[data-id="chatgpt"]');
    },
  ],
  ["import, several", OPEN, (page) => openPlan(page, [EXPORT, NOTES, "/home/ines/about-me.md"])],
  [
    "import, several, the second",
    OPEN,
    async (page) => {
      await openPlan(page, [EXPORT, NOTES]);
      await page.click("import-plan-1");
      await page.waitFor("import-plan-1", '[aria-checked="true"]');
    },
  ],
  [
    "import, several, one refused",
    OPEN,
    async (page) => {
      await openPlan(page, [EXPORT, BROKEN]);
      await page.click("import-plan-1");
      await page.waitFor("import-refused");
    },
  ],
  [
    "import, several, report",
    OPEN,
    async (page) => {
      await openPlan(page, [EXPORT, BROKEN, NOTES]);
      await page.click("import-scan-after");
      await page.click("import-confirm");
      await page.waitFor("import-undo");
      await page.waitFor("import-not-in-export-memory");
    },
  ],
  [
    "import, toast over the sheet",
    OPEN,
    async (page) => {
      await page.waitFor("home");
      await page.click("nav-memories");
      await page.click("list-row", '[aria-posinset="1"]');
      await page.click("detail-trash");
      await page.waitFor("toast");
      await page.press("o", "C");
      await page.waitFor("import-choose-files");
      await until("the toast in it", () =>
        page.browser.run("() => document.querySelector('[role=dialog] [data-testid=toast]') !== null"),
      );
    },
  ],
];
