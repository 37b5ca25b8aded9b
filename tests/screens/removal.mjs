// Screens of redaction, erasure and other confirmations, and of suggested tags.
import { until } from "../e2e/webdriver.mjs";

const OPEN = "open";

/** Opens one memory. */
export const openMemory = async (page) => {
  await page.click("nav-memories");
  await page.waitFor("list-row");
  await page.type("search-field", "Sandviken");
  // Wait for the search, which finds only this memory. A click before it has finished would open a memory from the
  // unfiltered list.
  await until("one row to be left", async () => (await page.browser.count("list-row")) === 1);
  await page.click("list-row", '[data-id="m-0"]');
  await page.waitFor("detail-text");
};
/** Selects two rows with the keyboard. */
export const selectTwoRows = async (page) => {
  await page.click("nav-memories");
  await page.waitFor("list-row");
  await page.mock("() => document.querySelector('[role=listbox]')?.focus()");
  for (const name of [" ", "ArrowDown", " "]) await page.press(name);
};
const openSuggestions = async (page, field) => (await page.type(field, "w"), page.waitFor("tag-offered"));

/** Source of a function that selects a word in the field of the redaction. */
const SELECT_WORD =
  "() => { const field = document.querySelector('[data-testid=redact-text]'); const at = field.value.indexOf('bathroom'); field.setSelectionRange(at, at + 8); field.dispatchEvent(new MouseEvent('mouseup', { bubbles: true })); }";

/** Screens of redaction, erasure, other confirmations and suggested tags, in the same form as `SCREENS` in walk.mjs. */
export const REMOVAL_SCREENS = [
  [
    "memory, redact, places",
    OPEN,
    async (page) => {
      await openMemory(page);
      await page.click("detail-redact");
      await page.waitFor("redact-text");
      await page.mock(SELECT_WORD);
      await page.waitFor("redact-confirm", ":enabled");
    },
  ],
  [
    "memory, redact, too many places",
    OPEN,
    async (page) => {
      await page.mock("() => void window.__refuse('redactPreview', 'too_many_places')");
      await openMemory(page);
      await page.click("detail-redact");
      await page.waitFor("redact-text");
      await page.mock(SELECT_WORD);
    },
  ],
  [
    "memory, tag",
    OPEN,
    async (page) => (await openMemory(page), await page.click("detail-add-tag"), openSuggestions(page, "detail-tag")),
  ],
  [
    "selection, tag",
    OPEN,
    async (page) => (
      await selectTwoRows(page),
      await page.click("selection-tag-ask"),
      openSuggestions(page, "selection-tag")
    ),
  ],
  [
    "write a memory, tag",
    OPEN,
    async (page) => {
      await page.click("nav-memories");
      await page.click("write-button");
      // The sheet first moves the focus to its text field, so wait until the field has the focus.
      await page.waitFor("write-text", ":focus");
      await openSuggestions(page, "edit-tags");
    },
  ],
  [
    "memory, message in the Trash",
    OPEN,
    async (page) => {
      await page.mock(
        "() => { const { show } = window.__mock; window.__mock.show = async (...asked) => { const shown = await show(...asked); const gone = { id: null, title: null, text: null, conversation_id: null, trashed: true }; return { ...shown, record: { ...shown.record, conversation_id: null, links: shown.record.links.map((link) => (link.kind === 'message' ? { ...link, ...gone } : link)) } }; }; }",
      );
      await openMemory(page);
    },
  ],
  [
    "palette, no search here",
    OPEN,
    async (page) => (await page.click("nav-trash"), await page.press("f", "C"), page.waitFor("palette-note")),
  ],
];
