// Every screen in other languages: all texts come from the message file, none is in English, none is clipped.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runAlone } from "../tools/count.mjs";
import { ROOT } from "../tools/places.mjs";
import { Faults } from "./faults.mjs";
import {
  CLIPPED_SOURCE,
  ENGLISH_SOURCE,
  KEEPS_LANGUAGE_SELECTOR,
  NOT_UPDATED_SOURCE,
  UNMARKED_SOURCE,
} from "./text-checks.mjs";
import { WINDOW_SIZES } from "./page.mjs";
import { missingPrograms, withPages } from "./pages.mjs";
import { UNKNOWN_FILE } from "./guides.mjs";
import { BROKEN, NOTES } from "./plans.mjs";
import { screensNamed, ENCRYPTED_FILE, screenshotName, DROPPED_FILES, needsAllSettings, walk } from "./walk.mjs";

const OUTPUT_FOLDER = fileURLToPath(new URL("out/", import.meta.url));
const LANGUAGE_CODES = (process.env.MEMENTORY_LANGUAGES ?? "de,ja").split(",").filter(Boolean);
/**
 * Window sizes in which a screen is checked in a language: normally only the smaller one. In German, which has the
 * longest words, the first screen of each kind is also checked in the larger one; `npm run campaign -- languages`
 * checks all screens in the larger one too.
 */
const sizesFor = (language, name) =>
  language === "de" && needsAllSettings(name) ? WINDOW_SIZES : [WINDOW_SIZES.at(-1)];

const readTexts = (file) => JSON.parse(readFileSync(join(ROOT, "ui", "src", "lib", "text", file), "utf8"));
/**
 * The sentences of the guides in one language, by message key (guide, part and position). Only the beginning of a
 * sentence is kept, up to its first marked part or placeholder, because the page shows these as separate texts.
 */
const readGuides = (language) =>
  Object.fromEntries(
    Object.entries(readTexts(`guides/${language}.json`)).flatMap(([id, guide]) =>
      Object.entries(guide).flatMap(([part, text]) =>
        [text].flat().map((sentence, at) => [`guide.${id}.${part}.${at}`, sentence.split(/[`*[{]/)[0]]),
      ),
    ),
  );
const readMessages = (language) => ({ ...readTexts(`${language}.json`), ...readGuides(language) });
const formsOf = (message) => (typeof message === "string" ? [message] : Object.values(message));

const FORGET_FOLDER = join(ROOT, "src-tauri", "crates", "mementory-api", "data", "forget");
const assistants = JSON.parse(readFileSync(join(FORGET_FOLDER, "assistants.json"), "utf8"));
/** "Continue" is the name of an assistant and a label: such a text has to come from the message file. */
const isMessage = (name) => Object.values(readTexts("en.json")).flatMap(formsOf).includes(name);
/**
 * Names of products and formats, which are the same in every language: those of the assistants, and those that a screen
 * shows otherwise. One of the latter has to be added here: until then it is reported as text that does not come from
 * the message file.
 */
const brandNames = () => [
  ...Object.values(assistants)
    .map(({ name }) => name)
    .filter((name) => !isMessage(name)),
  ...["mem", "alf", "MIF", "PAM", "Zaxy", "Eventloom", "Markdown", "amem", "ApertoMemory"],
];

/** Texts that need no translation: brands, and names in the sample data. */
function untranslatedNames() {
  return [
    ...brandNames(),
    ...[...DROPPED_FILES, ENCRYPTED_FILE, BROKEN, NOTES, UNKNOWN_FILE].map((path) =>
      path
        .split("/")
        .pop()
        .replaceAll(/[^\p{L}\p{N}]+/gu, " "),
    ),
    "Mementory",
    "Mementory 0 1 0",
    "Ines",
    "RECOVERY CODE",
  ];
}

/** A regular expression for a message, with `.*` in place of its placeholders. */
const patternOf = (form) =>
  form
    .split(/\{\w+\}/)
    .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&"))
    .join(".*")
    .trim();
const allForms = (language) => Object.values(readMessages(language)).flatMap(formsOf);

/** A message without its placeholders. */
const withoutPlaceholders = (text) => text.replaceAll(/\{\w+\}/g, "");

/** Patterns of the English messages that contain a word and differ from the messages in the other language. */
function englishPatterns(language) {
  const translated = readMessages(language);
  return Object.entries(readMessages("en")).flatMap(([key, message]) =>
    formsOf(message)
      .filter((form) => !formsOf(translated[key]).includes(form))
      .filter((form) => /\p{L}{2}/u.test(withoutPlaceholders(form)))
      .flatMap((form) =>
        form.split(/[[\]](?!REDACTED)/).filter((part) => /\p{L}{2}.*\p{L}/u.test(withoutPlaceholders(part))),
      )
      .map(patternOf),
  );
}

/** Checks the screens in one language. */
class LanguageCheck {
  untranslated = new Faults();
  clipped = new Faults();
  checks = 0;

  constructor(browser, language, pictures) {
    Object.assign(this, { browser, language, pictures });
    this.english = englishPatterns(language);
    // Leave out messages without a word, such as `{n} x`: their patterns would match every text.
    this.ownPatterns = allForms(language)
      .filter((form) => /\p{L}{2}/u.test(withoutPlaceholders(form)))
      .map(patternOf);
  }

  async visit(name, page) {
    const { browser, language } = this;
    await page.setLanguage(language);
    for (const size of sizesFor(language, name)) {
      await page.setSize(size);
      await page.waitUntilIdle();
      this.untranslated.add(await browser.run(ENGLISH_SOURCE, this.english, this.ownPatterns), name);
      this.clipped.add(await browser.run(CLIPPED_SOURCE), `${name} at ${size.join("x")}`);
      this.checks += 1;
      const file = `${screenshotName(name)}-${language}-${size.join("x")}.png`;
      if (this.pictures) writeFileSync(join(OUTPUT_FOLDER, file), await browser.screenshot());
    }
  }
}

/** Checks all screens, or those whose names start with `prefix`. `pictures`: whether to store a screenshot of each. */
export async function testLanguages(count, prefix = process.env.MEMENTORY_SCREENS ?? "", pictures = false) {
  const missing = missingPrograms();
  if (missing.length > 0)
    return count.leaveOut(`the screens in other languages: ${missing.join(" and ")} not installed`);
  rmSync(OUTPUT_FOLDER, { recursive: true, force: true });
  mkdirSync(OUTPUT_FOLDER, { recursive: true });
  const all = screensNamed(prefix);
  await withPages(async (browser, origin) => {
    const [unreachable, hardCoded, outdated] = [new Faults(), new Faults(), new Faults()];
    const unreachableIn = (language) => (name, error) =>
      unreachable.add([`not reached: ${error.message.slice(0, 200)}`], `${language}, ${name}`);
    const languages = LANGUAGE_CODES.map((language) => new LanguageCheck(browser, language, pictures));
    const known = untranslatedNames();
    const revisit = [];
    let checks = 0;
    // Each screen is opened once and then switched to each language. A text that does not change with the language is a
    // fault.
    await walk(browser, origin, {
      language: "marked",
      screens: all,
      onUnreachable: unreachableIn("marked"),
      visit: async (name, page) => {
        checks += 1;
        hardCoded.add(await browser.run(UNMARKED_SOURCE, known), name);
        await page.setLanguage("en");
        outdated.add(await browser.run(NOT_UPDATED_SOURCE, KEEPS_LANGUAGE_SELECTOR), name);
        if (await browser.run("(selector) => document.querySelector(selector) !== null", KEEPS_LANGUAGE_SELECTOR))
          revisit.push(name);
        else for (const each of languages) await each.visit(name, page);
      },
    });
    for (const each of languages)
      await walk(browser, origin, {
        language: each.language,
        screens: all.filter(([name]) => revisit.includes(name)),
        onUnreachable: unreachableIn(each.language),
        visit: (name, page) => each.visit(name, page),
      });

    const report = (language, kind, faults, n, expected) => {
      faults.print(language);
      count.add(`${language}: ${kind} (${n} checks)`, faults.isEmpty && n === expected);
    };
    report("marked", "every text comes from the message file", hardCoded, checks, all.length);
    report("marked", "every text follows a change of language", outdated, checks, all.length);
    for (const { language, untranslated, clipped, checks } of languages) {
      const expected = all.reduce((sum, [name]) => sum + sizesFor(language, name).length, 0);
      report(language, "no English text is left", untranslated, checks, expected);
      report(language, "no text is clipped", clipped, checks, expected);
    }
    unreachable.print("screens");
    count.add(`all ${all.length} screens are reached in every language`, unreachable.isEmpty);
  });
}

await runAlone(import.meta.url, (count) => testLanguages(count, undefined, true));
