// Every screen in other languages: no word that does not come from the message file, none left in English, none cut.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../tools/places.mjs";
import { CLIPPED, ENGLISH, KEPT, UNMARKED } from "./look.mjs";
import { missing, withPages } from "./pages.mjs";
import { ENCRYPTED, FILES, SCREENS, SIZES, walk } from "./walk.mjs";

const OUT = fileURLToPath(new URL("out/", import.meta.url));
const LANGUAGES = (process.env.KEEPSAKE_LANGUAGES ?? "de,ja").split(",").filter(Boolean);

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
    ...[...FILES, ENCRYPTED].map((path) =>
      path
        .split("/")
        .pop()
        .replaceAll(/[^\p{L}\p{N}]+/gu, " "),
    ),
    "Keepsake",
    "Keepsake 0 1 0",
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

/** English messages as patterns, without those that say the same in the other language and those without a word. */
function english(language) {
  const there = messages(language);
  return Object.entries(messages("en")).flatMap(([key, message]) =>
    forms(message)
      .filter((form) => !forms(there[key]).includes(form))
      .filter((form) => /\p{L}{2}/u.test(form.replaceAll(/\{\w+\}/g, "")))
      .flatMap((form) => form.split(/[[\]](?!REDACTED)/).filter((part) => /\p{L}{2}.*\p{L}/u.test(part)))
      .map(pattern),
  );
}

/** Look at all of it. `only`: the beginning of the names of screens. */
export async function screens(count, only = process.env.KEEPSAKE_SCREENS ?? "") {
  const lacking = missing();
  if (lacking.length > 0)
    return count.leaveOut(`the screens in other languages: ${lacking.join(" and ")} not installed`);
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  const chosen = SCREENS.filter(([name]) => name.startsWith(only));
  await withPages(async (browser, origin) => {
    const tell = (language, kind, problems, total, sizes) => {
      for (const [what, places] of problems) console.log(`  ${language}: ${what}\n    on ${[...places].join("; ")}`);
      count.add(`${language}: ${kind} (${total} looks)`, problems.size === 0 && total === chosen.length * sizes);
    };
    /** What was found, each with the screens that it was found on: one line for a fault, however often it shows. */
    const faults = () => {
      const found = new Map();
      return {
        found,
        add: (list, where) => {
          for (const what of list) found.set(what, (found.get(what) ?? new Set()).add(where));
        },
      };
    };
    const lost = faults();
    const reach = (language) => (name, error) =>
      lost.add([`not reached: ${error.message.slice(0, 200)}`], `${language}, ${name}`);

    const wired = faults();
    const kept = faults();
    let looks = 0;
    const known = names();
    await walk(browser, origin, {
      language: "marked",
      sizes: [SIZES[0]],
      screens: chosen,
      lost: reach("marked"),
      visit: async (name) => {
        looks += 1;
        wired.add(await browser.run(UNMARKED, known), name);
        await browser.run("() => window.__speak('en')");
        await browser.run("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
        kept.add(await browser.run(KEPT), name);
      },
    });
    tell("marked", "every text comes from the message file", wired.found, looks, 1);
    tell("marked", "every text follows when the language changes", kept.found, looks, 1);

    for (const language of LANGUAGES) {
      const left = faults();
      const clipped = faults();
      const patterns = english(language);
      // `{n} x` alone would be every text.
      const own = every(language)
        .filter((form) => /\p{L}{2}/u.test(form.replaceAll(/\{\w+\}/g, "")))
        .map(pattern);
      let seen = 0;
      await walk(browser, origin, {
        language,
        screens: chosen,
        lost: reach(language),
        visit: async (name, size) => {
          left.add(await browser.run(ENGLISH, patterns, own), name);
          clipped.add(await browser.run(CLIPPED), `${name} at ${size.join("x")}`);
          const file = `${name.replaceAll(/\W+/g, "-")}-${language}-${size.join("x")}.png`;
          seen += 1;
          writeFileSync(join(OUT, file), await browser.screenshot());
        },
      });
      tell(language, "no English text is left", left.found, seen, SIZES.length);
      tell(language, "nothing is cut", clipped.found, seen, SIZES.length);
    }
    for (const [what, places] of lost.found) console.log(`  ${what}\n    on ${[...places].join("; ")}`);
    count.add(`all ${chosen.length} screens are reached in every language`, lost.found.size === 0);
  });
}

// By itself: `node tests/screens/run.mjs`.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const count = {
    failed: 0,
    add: (name, good) => {
      count.failed += good ? 0 : 1;
      console.log(`${good ? "ok    " : "FAILED"} ${name}`);
    },
    leaveOut: (name) => console.log(`SKIPPED: ${name}`),
  };
  await screens(count);
  process.exitCode = count.failed > 0 ? 1 : 0;
}
