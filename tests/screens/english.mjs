// Visits every screen in English once, for all checks.
import { Faults } from "./faults.mjs";
import { Page } from "./page.mjs";
import { missingPrograms, withPages } from "./pages.mjs";
import { screensNamed, walk } from "./walk.mjs";

/**
 * Runs all `checks` on the screens. Each check has `visit(name, page)`, which is called for every screen, and
 * `report(count, total, narrowed)`, which is called at the end; `narrowed` is true if not all screens were visited. It
 * may have `begin(browser)`, which is called first. A check may leave the page changed, because the next screen starts
 * with a fresh page. Only screens whose names start with `only` are visited.
 */
export async function checkInEnglish(count, checks, only = process.env.MEMENTORY_SCREENS ?? "") {
  const missing = missingPrograms();
  if (missing.length > 0) return count.leaveOut(`the screens in English: ${missing.join(" and ")} not installed`);
  const screens = screensNamed(only);
  const unreachable = new Faults();
  await withPages(async (browser, origin) => {
    await new Page(browser).emulateMedia();
    for (const check of checks) await check.begin?.(browser);
    await walk(browser, origin, {
      language: "en",
      screens,
      onUnreachable: (name, error) => unreachable.add([error.message.slice(0, 300)], name),
      visit: async (name, page) => {
        for (const check of checks) await check.visit(name, page);
      },
    });
  });
  for (const check of checks) check.report(count, screens.length, only !== "");
  unreachable.print("not reached");
  count.add(`all ${screens.length} screens are reached in English`, unreachable.isEmpty);
}
