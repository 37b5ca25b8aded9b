// Screens of conversations and files.
import { until } from "../e2e/webdriver.mjs";

const OPEN = "open";
/** Opens the files page and waits for its pictures, which load a moment after their names. */
export const openFiles = async (page) => {
  await page.click("nav-files");
  await page.waitFor("file-card");
  await until("the pictures", () => page.browser.run("() => document.querySelectorAll('main img').length === 5"));
};
/** Opens a conversation. */
export const openConversation = async (page) => {
  await page.click("nav-conversations");
  await page.click("list-row", '[data-id="c-bath"]');
  await page.waitFor("reader-message");
};

/** Screens of conversations and files, in the same form as `SCREENS` in walk.mjs. */
export const READING_SCREENS = [
  ["conversations", OPEN, async (page) => (await page.click("nav-conversations"), page.waitFor("list-row"))],
  [
    "conversations, no hits",
    OPEN,
    async (page) => {
      await page.click("nav-conversations");
      await page.waitFor("list-row");
      await page.type("search-field", "Sandviken");
      await page.waitFor("elsewhere-memories");
    },
  ],
  ["reader", OPEN, openConversation],
  ["reader, menu", OPEN, async (page) => (await openConversation(page), page.openMenu("reader-more"))],
  [
    "reader, find",
    OPEN,
    async (page) => {
      await openConversation(page);
      await page.click("reader-find");
      await page.type("find-field", "joists");
    },
  ],
  [
    "reader, find in a step",
    OPEN,
    async (page) => {
      await openConversation(page);
      await page.click("reader-find");
      await page.type("find-field", "deflection_single");
      await until("the hit", () => page.browser.run("() => document.querySelector('li mark.current') !== null"));
    },
  ],
  ["files", OPEN, openFiles],
  [
    "files, no hits",
    OPEN,
    async (page) => {
      await openFiles(page);
      await page.type("search-field", "membrane");
      await page.waitFor("elsewhere-conversations");
    },
  ],
  [
    "files, missing",
    OPEN,
    async (page) => {
      await openFiles(page);
      await page.click("file-kinds", " button:last-child");
      await until("one file", async () => (await page.browser.count("file-card")) === 1);
    },
  ],
  [
    "files, list",
    OPEN,
    async (page) => (await openFiles(page), await page.click("files-list"), page.waitFor("list-row")),
  ],
  ["file", OPEN, async (page) => (await openFiles(page), await page.click("file-card"), page.waitFor("file-sheet"))],
  [
    "file, text",
    OPEN,
    async (page) => (await openFiles(page), await page.click("file-card", "[data-id=f-3]"), page.waitFor("file-text")),
  ],
  [
    "file, not shown",
    OPEN,
    async (page) => (
      await openFiles(page),
      await page.click("file-card", "[data-id=f-9]"),
      page.waitFor("file-unshown")
    ),
  ],
];
