// Screens of things to review: memories, people and topics, sensitive values, duplicates, and records that are missing
// from the newest export.
import { until } from "../e2e/webdriver.mjs";

const OPEN = "open";
const openSensitive = async (page) => {
  await page.click("nav-sensitive");
  await page.waitFor("list-row");
  await page.waitFor("sensitive-context");
};

const openReview = async (page) => {
  await page.waitFor("attention-review");
  await page.click("attention-review");
  await page.waitFor("review-memory");
};

const openContradictions = async (page) => {
  await page.waitFor("attention-contradictions");
  await page.click("attention-contradictions");
  await page.waitFor("contradiction");
};

const openPeople = async (page) => {
  await page.waitFor("home-all-people");
  await page.click("home-all-people");
  await page.waitFor("timeline-memory");
};

/**
 * Screens of the review of memories, of people and topics, of sensitive values, duplicates and missing records, like
 * `SCREENS` in walk.mjs.
 */
export const REVIEW_SCREENS = [
  ["review", OPEN, openReview],
  [
    "review, result",
    OPEN,
    async (page) => {
      await openReview(page);
      for (const answer of ["outdated", "wrong", "private"]) {
        const id = () => page.mock("() => document.querySelector('[data-testid=review-memory]')?.dataset.id");
        const before = await id();
        await page.click(`review-${answer}`);
        await until("the next memory", async () => (await id()) !== before);
      }
      await page.click("review-toggle");
      await page.waitFor("todo-copy");
    },
  ],
  ["review, contradictions", OPEN, openContradictions],
  ["people", OPEN, openPeople],
  [
    "topics",
    OPEN,
    async (page) => {
      await openPeople(page);
      await page.click("topics-tab");
      await page.waitFor("timeline-memory");
    },
  ],
  [
    "review, no contradictions",
    OPEN,
    async (page) => {
      await openContradictions(page);
      const left = () => page.browser.count("contradiction");
      for (let before = await left(); before > 0; before = await left()) {
        await page.click("contradiction-keep");
        await until("one less", async () => (await left()) < before);
      }
    },
  ],
  ["sensitive", OPEN, openSensitive],
  [
    "sensitive, one kind",
    OPEN,
    async (page) => {
      await openSensitive(page);
      await page.mock("() => void (document.querySelector('[data-testid=kind-bank]')?.click())");
      await until("one kind", async () => (await page.browser.count("list-row")) === 3);
    },
  ],
  [
    "sensitive, redacted",
    OPEN,
    async (page) => {
      await openSensitive(page);
      await page.click("sensitive-redacted");
      await until("what was redacted", async () => (await page.browser.count("sensitive-redact")) === 0);
    },
  ],
  [
    "sensitive, ignored",
    OPEN,
    async (page) => {
      await openSensitive(page);
      await page.click("sensitive-ignored");
      await page.waitFor("sensitive-stop-ignoring");
      await page.waitFor("sensitive-context");
    },
  ],
  [
    "sensitive, never looked",
    `${OPEN},unscanned`,
    async (page) => {
      await page.waitFor("home");
      await page.click("nav-sensitive");
      await page.waitFor("sensitive-first-scan");
    },
  ],
  [
    "sensitive, looking",
    `${OPEN},hanging`,
    async (page) => {
      await openSensitive(page);
      await page.click("sensitive-rescan");
      await page.waitFor("sensitive-scan-cancel");
    },
  ],
  [
    "sensitive, redact dialog",
    OPEN,
    async (page) => {
      await openSensitive(page);
      await page.click("sensitive-redact");
      await page.waitFor("redact-value-dialog");
    },
  ],
  [
    "sensitive, toast",
    OPEN,
    async (page) => {
      await openSensitive(page);
      await page.click("sensitive-redact");
      await page.click("redact-value-confirm");
      await page.waitFor("toast");
    },
  ],
  [
    "sensitive, redact kinds",
    OPEN,
    async (page) => {
      await openSensitive(page);
      await page.click("redact-kinds-button");
      await page.click("redact-kind-keys");
    },
  ],
  [
    "sensitive, all looked at",
    OPEN,
    async (page) => {
      await openSensitive(page);
      await page.click("redact-kinds-button");
      for (const kind of ["keys", "bank", "ids", "phones", "emails"]) await page.click(`redact-kind-${kind}`);
      await page.click("redact-kinds-confirm");
      await until("nothing open", async () => (await page.browser.count("list-row")) === 0);
    },
  ],
  ["duplicates", OPEN, async (page) => (await page.click("attention-duplicates"), page.waitFor("duplicate-group"))],
  [
    "duplicates, none",
    OPEN,
    async (page) => {
      await page.click("attention-duplicates");
      for (let left = 2; left >= 0; left -= 1) {
        await page.click("duplicate-keep-all");
        await until("one group less", async () => (await page.browser.count("duplicate-group")) === left);
      }
    },
  ],
  [
    "activity, failed",
    OPEN,
    async (page) => (
      await page.click("nav-activity"),
      await page.click("activity-failed"),
      page.waitFor("failed-report")
    ),
  ],
  [
    "evidence",
    OPEN,
    async (page) => (
      await page.click("nav-activity"),
      await page.click("activity-evidence"),
      page.waitFor("evidence-tombstones")
    ),
  ],
  [
    "evidence, made",
    OPEN,
    async (page) => {
      await page.click("nav-activity");
      await page.click("activity-evidence");
      await page.click("evidence-save");
      await page.waitFor("evidence-result");
    },
  ],
  ["memories, gone", OPEN, async (page) => (await page.click("attention-missing"), page.waitFor("export-status"))],
];
