// One way through every screen in English, for all that is looked at there.
import { Faults } from "./faults.mjs";
import { Page } from "./page.mjs";
import { missing, withPages } from "./pages.mjs";
import { chosen, walk } from "./walk.mjs";

/**
 * Hand every screen to each of `checks` in turn: perhaps `begin(browser)`, `visit(name, page)`, and at the end `tell(count, total, narrowed)`. A
 * check leaves the page to the next as it may; the way to the next screen begins anew. `only`: the beginning of the names
 * of screens.
 */
export async function inEnglish(count, checks, only = process.env.MEMENTORY_SCREENS ?? "") {
  const lacking = missing();
  if (lacking.length > 0) return count.leaveOut(`the screens in English: ${lacking.join(" and ")} not installed`);
  const screens = chosen(only);
  const lost = new Faults();
  await withPages(async (browser, origin) => {
    await new Page(browser).media();
    for (const check of checks) await check.begin?.(browser);
    await walk(browser, origin, {
      language: "en",
      screens,
      lost: (name, error) => lost.add([error.message.slice(0, 300)], name),
      visit: async (name, page) => {
        for (const check of checks) await check.visit(name, page);
      },
    });
  });
  for (const check of checks) check.tell(count, screens.length, only !== "");
  lost.say("not reached");
  count.add(`all ${screens.length} screens are reached in English`, lost.none);
}
