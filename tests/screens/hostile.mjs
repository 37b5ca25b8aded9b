// Hostile content on every screen that shows imported text: it must not run scripts, use the network or break the
// layout of the window. The cases are fixtures/hostile/*.json.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../e2e/webdriver.mjs";
import { runAlone } from "../tools/count.mjs";
import { ROOT } from "../tools/places.mjs";
import { Faults } from "./faults.mjs";
import { findProblems, installHostileTexts, recordViolations } from "./hostile-page.mjs";
import { Page, WINDOW_SIZES } from "./page.mjs";
import { missingPrograms, withPages } from "./pages.mjs";

const CASES_FOLDER = join(ROOT, "fixtures", "hostile");
/** Longest time of a step, in milliseconds. If a step takes longer, the window counts as frozen. */
const MAX_ANSWER_MS = 20_000;
/** Number of groups of duplicates that the sheet renders at once. */
const GROUP_COUNT = 20;
/** Passphrase of the sample vault. */
const PASSPHRASE = "harbour copper nineteen kite";

const expandText = (text) =>
  typeof text === "string"
    ? text
    : text.map((part) => (typeof part === "string" ? part : part.repeat.repeat(part.times))).join("");

/** All cases, or those whose kind begins with `only`. */
export function hostileCases(only = "") {
  return readdirSync(CASES_FOLDER)
    .filter((file) => file.endsWith(".json") && file.startsWith(only))
    .sort()
    .flatMap((file) => {
      const kind = file.replace(".json", "");
      const { cases } = JSON.parse(readFileSync(join(CASES_FOLDER, file), "utf8"));
      return cases.map(({ name, text, expect = {} }) => ({ kind, name, text: expandText(text), expect }));
    });
}

/** Shows all cases of one kind, on each screen in turn. */
class HostileVisit {
  constructor(browser, cases, addFaults) {
    this.browser = browser;
    this.page = new Page(browser);
    this.cases = cases;
    this.addFaults = addFaults;
    this.checks = 0;
    this.slowest = { ms: 0, name: "" };
  }

  async #check(where, each, more = {}) {
    const problems = await this.browser.run(String(findProblems), { ...each.expect, ...more });
    this.checks += 1;
    this.addFaults(problems, `${each.kind}, ${each.name}: ${where}`);
  }

  async #step(each, action, shown) {
    const started = performance.now();
    await action();
    await until(`${each.name} to be shown`, () => this.browser.run(shown), MAX_ANSWER_MS);
    await this.browser.run(
      "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))",
    );
    const ms = performance.now() - started;
    if (ms > this.slowest.ms) this.slowest = { ms, name: each.name };
  }

  /** Visits the rows of a list one by one with the arrow key. */
  async #visitRows(section, prefix, shown, visit) {
    await this.page.click(`nav-${section}`);
    if (section === "files")
      await this.page.mock("() => document.querySelector('.segmented button:last-child').click()");
    const row = (index) => `[data-testid=list-row][data-id="${prefix}-${index}"]`;
    await this.page.waitFor("list-row", `[data-id^="${prefix}-"]`);
    await this.page.mock("() => void document.querySelector('main [role=listbox]').focus()");
    await this.page.press("Home");
    for (const [index, each] of this.cases.entries()) {
      const isRowShown = `() => document.querySelector('${row(index)}')?.matches('.active') && (${shown})("${prefix}-${index}")`;
      await this.#step(each, () => (index === 0 ? undefined : this.page.press("ArrowDown")), isRowShown);
      await visit(each, index);
      await this.page.mock("() => void document.querySelector('main [role=listbox]').focus()");
    }
  }

  async memories() {
    // The window loads not only the memory but also the message that it comes from, so look only at memories.
    const isShownSource = `(id) => window.__shownIds.filter((each) => each.startsWith("memory")).at(-1) === id && document.querySelector("[data-testid=detail-text]") !== null`;
    await this.#visitRows("memories", "memory", isShownSource, (each) =>
      this.#check("as a memory", each, { in: "[data-testid=detail-text]" }),
    );
  }

  async conversations() {
    const isShownSource = `(id) => document.querySelector('[data-testid=reader][data-id="' + id + '"] [data-testid=reader-message]') !== null`;
    await this.#visitRows("conversations", "conversation", isShownSource, async (each) => {
      await this.#check("as a message", each, { in: "[data-testid=reader-message] .text" });
      await this.#links(each);
    });
  }

  /** Clicks the first five links. Each must ask for confirmation and show its real address, or it must be refused. */
  async #links(each) {
    const linkCount = await this.browser.run(
      "() => document.querySelectorAll('[data-testid=reader-message] .text > .md a[data-href]').length",
    );
    const { links } = each.expect;
    // A link that must be refused may be missing altogether, so links are counted only if one of them is allowed.
    if (links?.some(({ refused }) => !refused) && links.length !== linkCount)
      this.addFaults([`${linkCount} links, not ${links.length}`], `${each.kind}, ${each.name}`);
    for (let at = 0; at < Math.min(linkCount, 5); at += 1) {
      await this.browser.run(
        "(at) => void document.querySelectorAll('[data-testid=reader-message] .text > .md a[data-href]')[at].click()",
        at,
      );
      const answer = await until(`${each.name}: an answer to link ${at}`, () =>
        this.browser.run(`() => {
          const dialog = document.querySelector("[data-testid=link-dialog]");
          if (dialog) return { title: dialog.querySelector("h2").textContent, address: dialog.querySelector(".mono").textContent };
          const toast = document.querySelector("[data-testid=toast]");
          return toast && { refused: true, text: toast.textContent };
        }`),
      );
      const expectedLink = links?.[at] ?? links?.at(-1) ?? {};
      const faults = [];
      const words = `${answer.title ?? ""}${answer.address ?? ""}${answer.text ?? ""}`;
      if (/[^\p{ASCII}“”‘’…]/u.test(words)) faults.push(`a link says ${JSON.stringify(words.slice(0, 120))}`);
      if (expectedLink.refused !== undefined && expectedLink.refused !== (answer.refused ?? false))
        faults.push(`link ${at} is ${answer.refused ? "refused" : "opened"}`);
      if (expectedLink.host && !answer.title?.includes(expectedLink.host))
        faults.push(`link ${at}: ${answer.title ?? answer.text}`);
      if (expectedLink.address && answer.address !== expectedLink.address)
        faults.push(`link ${at}: ${answer.address ?? answer.text}`);
      this.addFaults(faults, `${each.kind}, ${each.name}: its link`);
      if (answer.refused)
        await this.browser.run(
          "() => void document.querySelector('[data-testid=toast]').dispatchEvent(new CustomEvent('done'))",
        );
      else
        await this.browser.run("() => void document.querySelector('[data-testid=link-dialog] [data-cancel]').click()");
      await until("the dialog to be gone", async () => (await this.browser.count("link-dialog")) === 0);
      await this.#check("after its link", each);
    }
  }

  async files() {
    const isShownSource = "() => true";
    await this.#visitRows("files", "file", isShownSource, async (each) => {
      await this.#check("as a file in the list", each);
      await this.#step(
        each,
        () => this.page.press(" "),
        "() => document.querySelector('[data-testid=file-sheet]') !== null",
      );
      await this.#check("as a file", each, { in: "[data-testid=file-sheet] h2", sheet: true });
      await this.page.press("Escape");
      await this.browser.gone("file-sheet");
    });
  }

  /** Shows each text in the palette: as a hit, a tag, an assistant, and as pasted text in the field. */
  async palette() {
    const item = (id) => `() => document.querySelector('[data-testid=palette-item][data-id^="${id}"]') !== null`;
    const WAYS = [
      ["this", "in the palette", (index) => item(`conversation-${index}`)],
      ["#", "as a tag in the palette", () => item("tag-")],
      ["@", "as an assistant in the palette", () => item("source-")],
    ];
    // When the palette is first used, its component inserts styles that the policy refuses. Use the palette once before
    // the hostile content, so that the refusal is not attributed to that content.
    await this.page.press("k", "C");
    await this.page.type("palette-field", ">");
    await this.page.waitFor("palette-item");
    await this.page.press("Escape");
    await this.browser.gone("palette");
    await this.page.mock("() => void (window.__violations.length = 0)");
    for (const [index, each] of this.cases.entries()) {
      await this.page.mock("(index) => void (window.__case = index)", index);
      await this.page.press("k", "C");
      for (const [typed, where, shown] of WAYS) {
        await this.#step(each, () => this.page.type("palette-field", typed), shown(index));
        await this.#check(where, each, { in: "[data-testid=palette-item]", shows: null, sheet: true });
      }
      await this.#step(each, () => this.page.mock(PASTE_SOURCE, index), "() => true");
      await this.page.waitUntilIdle();
      await this.#check("typed into the palette", each, { shows: null, sheet: true });
      await this.page.press("Escape");
      await this.browser.gone("palette");
    }
  }

  async sensitive() {
    const isShownSource = `(id) => document.querySelector('[data-testid=sensitive-detail][data-id="' + id + '"] [data-testid=sensitive-context]') !== null`;
    await this.#visitRows("sensitive", "value", isShownSource, (each) =>
      this.#check("around a sensitive value", each, { in: "[data-testid=sensitive-context]" }),
    );
  }

  /** Shows each text as the name of an imported and of a failed file, in the log and in the report. */
  async activity() {
    for (const [index, each] of this.cases.entries()) {
      await this.page.mock("(index) => void (window.__case = index)", index);
      await this.page.click("nav-home");
      await this.page.click("nav-activity");
      await this.#step(each, () => undefined, "() => document.querySelector('[data-testid=activity-failed]') !== null");
      await this.#check("in the log of imports", each, { in: "[data-testid=activity-line]", shows: null });
      await this.page.click("activity-failed");
      await this.#step(each, () => undefined, "() => document.querySelector('[data-testid=failed-report]') !== null");
      await this.page.mock(
        "() => void document.querySelector('[data-testid=failed-report] [aria-expanded=false]').click()",
      );
      await this.#check("as a file that could not be imported", each, {
        in: "[data-testid=failed-report]",
        shows: null,
        sheet: true,
      });
      await this.page.press("Escape");
      await this.browser.gone("failed-report");
    }
  }

  /** Shows each text in the preview of an import: as the beginning of a memory, its place, and a missing file. */
  async plan() {
    for (const [index, each] of this.cases.entries()) {
      await this.page.mock("(index) => void (window.__case = index)", index);
      await this.#step(
        each,
        () => this.page.mock("() => void window.__mock.drop(['/home/ines/chatgpt-export.zip'], false)"),
        "() => document.querySelector('[data-testid=outcome-memory-found]') !== null",
      );
      await this.page.click("outcome-memory-found");
      await this.page.click("import-missing-see");
      await this.page.waitFor("import-missing-names");
      await this.#check("in the plan of an import", each, {
        in: "[data-testid=import-items]",
        shows: null,
        sheet: true,
      });
      await this.page.press("Escape");
      await this.browser.gone("import-sheet");
    }
  }

  async duplicates() {
    for (let from = 0; from < this.cases.length; from += GROUP_COUNT) {
      // Duplicates are searched only once after each unlock, so lock and unlock the vault for each sheet.
      await this.page.mock("(from) => { window.__from = from; window.__mock.lockNow(); }", from);
      await this.page.type("unlock-passphrase", PASSPHRASE);
      await this.page.click("unlock-submit");
      await this.page.click("attention-duplicates");
      for (const [index, each] of this.cases.entries()) {
        if (index < from || index >= from + GROUP_COUNT) continue;
        const place = `[data-testid=duplicate][data-id="newer-${index}"]`;
        await this.#step(each, () => undefined, `() => document.querySelector('${place}') !== null`);
        await this.#check("as a duplicate", each, { in: place, sheet: true });
      }
      await this.page.press("Escape");
      await this.browser.gone("duplicates-sheet");
    }
  }
}

/**
 * Source of a function that puts a text into the field of the palette. It runs inside the page, because lone surrogates
 * do not pass through the WebDriver protocol.
 */
const PASTE_SOURCE = `(index) => {
  const field = document.querySelector("[data-testid=palette-field]");
  field.value = window.__texts[index];
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
}`;
const VIEW_NAMES = ["memories", "conversations", "files", "palette", "sensitive", "duplicates", "activity", "plan"];
/** Minimum number of checks for each case. */
const MIN_CHECKS = 13;

/** Requests other than for our own pages, as logged by Chromium and by the server. */
async function foreignRequests(browser, origin, requests) {
  const expectedUrl = /^\/(\?mock=[\w,-]*|boot\.js|assets\/[\w.-]+)?$/;
  const outsideRequests = (await browser.log())
    .filter(({ method }) => method === "Network.requestWillBeSent" || method === "Network.webSocketCreated")
    .map(({ params }) => params.request?.url ?? params.url)
    .filter(
      (url) =>
        !(url.startsWith(origin) || url.startsWith(`blob:${origin}`) || url === "data:," || url === "about:blank"),
    );
  return [
    ...outsideRequests.map((url) => `asked for ${url.slice(0, 120)}`),
    ...requests.filter((url) => !expectedUrl.test(url)).map((url) => `asked our server for ${url}`),
  ];
}

/** Tests all cases, or those of the kinds whose names start with `MEMENTORY_HOSTILE`. */
export async function testHostileTexts(count) {
  const missing = missingPrograms();
  if (missing.length > 0) return count.leaveOut(`hostile content: ${missing.join(" and ")} not installed`);
  const allCases = hostileCases(process.env.MEMENTORY_HOSTILE);
  await withPages(
    async (browser, origin, requests) => {
      await new Page(browser).setSize(WINDOW_SIZES[0]);
      await browser.devTools("Page.addScriptToEvaluateOnNewDocument", { source: `(${recordViolations})()` });
      for (const kind of new Set(allCases.map((each) => each.kind))) {
        const cases = allCases.filter((each) => each.kind === kind);
        const faults = new Faults();
        const addFaults = (found, where) => faults.add(found, where);
        const visit = new HostileVisit(browser, cases, addFaults);
        requests.length = 0;
        await browser.log();
        for (const view of VIEW_NAMES) {
          try {
            await browser.goTo(`${origin}/?mock=open`);
            await until("the window", () => browser.run("() => document.querySelector('[data-testid=home]') !== null"));
            await browser.run("() => window.__speak('en')");
            await browser.run(String(installHostileTexts), JSON.stringify(cases.map(({ text }) => text)));
            await visit[view]();
            if ((await browser.windows()).length !== 1) addFaults(["another window was opened"], view);
          } catch (error) {
            addFaults([`${view}: ${error.message.slice(0, 300)}`], kind);
          }
        }
        addFaults(await foreignRequests(browser, origin, requests), kind);
        faults.print("hostile", 4);
        const { ms, name } = visit.slowest;
        count.add(
          `hostile content: ${kind} (${cases.length} cases, ${visit.checks} checks, slowest ${Math.round(ms)} ms: ${name})`,
          faults.isEmpty && visit.checks >= MIN_CHECKS * cases.length,
        );
      }
    },
    { logged: true },
  );
}

await runAlone(import.meta.url, testHostileTexts);
