// Every screen in other languages: no word that does not come from the message file, none left in English, none cut.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { byItself } from "../tools/count.mjs";
import { ROOT } from "../tools/places.mjs";
import { Faults } from "./faults.mjs";
import { CLIPPED, ENGLISH, KEPT, MOMENT, UNMARKED } from "./text-checks.mjs";
import { SIZES } from "./page.mjs";
import { missing, withPages } from "./pages.mjs";
import { BROKEN, NOTES } from "./plans.mjs";
import { chosen, ENCRYPTED, fileOf, FILES, walk } from "./walk.mjs";

const OUT = fileURLToPath(new URL("out/", import.meta.url));
const LANGUAGES = (process.env.MEMENTORY_LANGUAGES ?? "de,ja").split(",").filter(Boolean);
/** German has the longest words; what fits of Japanese in the smaller window fits in the larger one. */
const IN = { de: SIZES, ja: [SIZES.at(-1)] };

const messages = (language) =>
  JSON.parse(readFileSync(join(ROOT, "ui", "src", "lib", "text", `${language}.json`), "utf8"));
const forms = (message) => (typeof message === "string" ? [message] : Object.values(message));

/** Names that are the same in every language: of products and formats, as the window knows them, and of languages. */
function names() {
  const source = readFileSync(join(ROOT, "ui", "src", "lib", "logic", "assistants.ts"), "utf8");
  const block = source.slice(source.indexOf("const NAMES"), source.indexOf("};", source.indexOf("const NAMES")));
  const brands = [...block.matchAll(/"([^"]+)"/g)].map(([, name]) => name.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim());
  return [
    ...brands,
    ...[...FILES, ENCRYPTED, BROKEN, NOTES].map((path) =>
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

/** Messages as patterns. */
const pattern = (form) =>
  form
    .split(/\{\w+\}/)
    .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&"))
    .join(".*")
    .trim();
const every = (language) => Object.values(messages(language)).flatMap(forms);

/** Without what is filled in. */
const bare = (text) => text.replaceAll(/\{\w+\}/g, "");

/** English messages as patterns, without those that say the same in the other language and those without a word. */
function english(language) {
  const there = messages(language);
  return Object.entries(messages("en")).flatMap(([key, message]) =>
    forms(message)
      .filter((form) => !forms(there[key]).includes(form))
      .filter((form) => /\p{L}{2}/u.test(bare(form)))
      .flatMap((form) => form.split(/[[\]](?!REDACTED)/).filter((part) => /\p{L}{2}.*\p{L}/u.test(bare(part))))
      .map(pattern),
  );
}

/** The screens in one language, in the sizes that it is looked at in. */
class Spoken {
  left = new Faults();
  clipped = new Faults();
  looks = 0;

  constructor(browser, language, pictures) {
    Object.assign(this, { browser, language, pictures, sizes: IN[language] ?? SIZES });
    this.english = english(language);
    // `{n} x` alone would be every text.
    this.own = every(language)
      .filter((form) => /\p{L}{2}/u.test(bare(form)))
      .map(pattern);
  }

  async look(name, page) {
    const { browser, language } = this;
    await page.speak(language);
    for (const size of this.sizes) {
      await page.size(size);
      await page.settled();
      this.left.add(await browser.run(ENGLISH, this.english, this.own), name);
      this.clipped.add(await browser.run(CLIPPED), `${name} at ${size.join("x")}`);
      this.looks += 1;
      const file = `${fileOf(name)}-${language}-${size.join("x")}.png`;
      if (this.pictures) writeFileSync(join(OUT, file), await browser.screenshot());
    }
  }
}

/** Look at all of it. `only`: the beginning of the names of screens. `pictures`: keep one of each look. */
export async function screens(count, only = process.env.MEMENTORY_SCREENS ?? "", pictures = false) {
  const lacking = missing();
  if (lacking.length > 0)
    return count.leaveOut(`the screens in other languages: ${lacking.join(" and ")} not installed`);
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  const all = chosen(only);
  await withPages(async (browser, origin) => {
    const [lost, wired, kept] = [new Faults(), new Faults(), new Faults()];
    const lose = (language) => (name, error) =>
      lost.add([`not reached: ${error.message.slice(0, 200)}`], `${language}, ${name}`);
    const languages = LANGUAGES.map((language) => new Spoken(browser, language, pictures));
    const known = names();
    const again = [];
    let looks = 0;
    // One way there for all languages: what does not follow when the language changes is found by the second check.
    await walk(browser, origin, {
      language: "marked",
      screens: all,
      lost: lose("marked"),
      visit: async (name, page) => {
        looks += 1;
        wired.add(await browser.run(UNMARKED, known), name);
        await page.speak("en");
        kept.add(await browser.run(KEPT, MOMENT), name);
        if (await browser.run("(moment) => document.querySelector(moment) !== null", MOMENT)) again.push(name);
        else for (const each of languages) await each.look(name, page);
      },
    });
    for (const each of languages)
      await walk(browser, origin, {
        language: each.language,
        screens: all.filter(([name]) => again.includes(name)),
        lost: lose(each.language),
        visit: (name, page) => each.look(name, page),
      });

    const tell = (language, kind, faults, n, whole) => {
      faults.say(language);
      count.add(`${language}: ${kind} (${n} looks)`, faults.none && n === whole);
    };
    tell("marked", "every text comes from the message file", wired, looks, all.length);
    tell("marked", "every text follows when the language changes", kept, looks, all.length);
    for (const { language, left, clipped, looks, sizes } of languages) {
      tell(language, "no English text is left", left, looks, all.length * sizes.length);
      tell(language, "nothing is cut", clipped, looks, all.length * sizes.length);
    }
    lost.say("screens");
    count.add(`all ${all.length} screens are reached in every language`, lost.none);
  });
}

await byItself(import.meta.url, (count) => screens(count, undefined, true));
