// `npm run pictures` takes the screenshots for README.md: the real window with the demonstration vault, in the light
// and the dark theme. They are written to ui/pictures/. It also prints how long it took from the click on the
// demonstration until Home was shown. Look at the pictures before you commit them.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, built } from "../tools/places.mjs";
import { buildPrograms, buildUi, cargoTool, installForTesting } from "../tools/setup.mjs";
import { main } from "../tools/sh.mjs";
import { Display, homeIn } from "./display.mjs";
import { Browser, until } from "./webdriver.mjs";

const PICTURES_FOLDER = join(ROOT, "ui", "pictures");
const WINDOW_SIZE = [1280, 800];
/** Screens by name, and the steps to reach them. */
const SCREENS = [
  [
    "home",
    async (browser) => {
      // Wait for the scan for sensitive values and for the topics, which are complete only some time after the window
      // is shown.
      await browser.find("attention-sensitive");
      await browser.find("attention-contradictions");
      await browser.find("home-subject");
    },
  ],
  [
    "memories",
    async (browser) => {
      await browser.click("nav-memories");
      await browser.click("list-row", '[aria-posinset="4"]');
      await browser.find("detail-text");
    },
  ],
  [
    "conversations",
    async (browser) => {
      await browser.click("nav-conversations");
      await browser.click("list-row", '[aria-posinset="10"]');
      await browser.find("reader-message");
      // The first words of conversations without a title are loaded after the rows are shown.
      await until("the titles to be shown", () =>
        browser.run(
          "() => ![...document.querySelectorAll('[data-testid=list-row]')].some((row) => row.textContent.includes('Untitled'))",
        ),
      );
    },
  ],
  [
    "sensitive",
    async (browser) => {
      await browser.click("nav-sensitive");
      await browser.click("list-row", '[aria-posinset="1"]');
      await browser.find("sensitive-detail");
    },
  ],
  [
    "review",
    async (browser) => {
      await browser.click("nav-home");
      await browser.click("attention-review");
      await browser.find("review-memory");
    },
  ],
  [
    "export",
    async (browser) => {
      await browser.click("nav-memories");
      await browser.click("export-button");
      await browser.click("export-more");
      await browser.find("export-sheet");
      // Replace the path that the sheet proposes, so that no folder of this computer is shown.
      await browser.type("export-path", "/home/maren/Memories.mem");
      await browser.run(
        "() => { document.activeElement.blur(); for (const each of document.querySelectorAll('[data-testid=export-sheet] *')) each.scrollTop = 0; return true; }",
      );
    },
  ],
];

await main(async () => {
  if (!process.argv.includes("--no-build")) {
    await installForTesting();
    await buildUi();
    await buildPrograms();
  }
  await cargoTool("tauri-driver", "^2");
  const home = mkdtempSync(join(tmpdir(), "mementory-pictures-"));
  const display = await Display.start(homeIn(home));
  try {
    const browser = await Browser.open(await display.driver(), built("mementory-app"));
    display.resize(await display.moveToCorner("Mementory"), ...WINDOW_SIZE);
    await until("the window to have its size", () => browser.run("(width) => innerWidth === width", WINDOW_SIZE[0]));
    await browser.find("welcome-demo");
    const started = performance.now();
    await browser.click("welcome-demo");
    await browser.find("home-matrix");
    console.log(`  demonstration made and opened in ${((performance.now() - started) / 1000).toFixed(1)} s`);
    mkdirSync(PICTURES_FOLDER, { recursive: true });
    for (const [name, go] of SCREENS) {
      await go(browser);
      for (const theme of ["light", "dark"]) {
        await browser.run("(theme) => { document.documentElement.dataset.theme = theme; return true; }", theme);
        await until("the screen to be still", () =>
          browser.run("() => document.getAnimations().every((each) => each.playState !== 'running')"),
        );
        writeFileSync(join(PICTURES_FOLDER, `${name}-${theme}.png`), await browser.screenshot());
        console.log(`  ui/pictures/${name}-${theme}.png`);
      }
    }
    await browser.close();
  } finally {
    await display.stopAndRemove(home);
  }
});
