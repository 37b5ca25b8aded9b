// `npm run sheets [-- prefix]`: makes one picture for each drawing of the design, with our screen (in WebKitGTK, with
// sample data) on the left and the drawing on the right. The pictures are in tests/e2e/out/sheets, to be compared by
// eye.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PNG } from "pngjs";
import { builtPages, serve } from "../screens/pages.mjs";
import { Page } from "../screens/page.mjs";
import { SCREENS } from "../screens/walk.mjs";
import { ROOT } from "../tools/places.mjs";
import { installForTesting } from "../tools/setup.mjs";
import { Stop, main } from "../tools/sh.mjs";
import { Display, homeIn } from "./display.mjs";
import { Browser, until } from "./webdriver.mjs";

const DRAWINGS_FOLDER = join(ROOT, "..", "shared", "ui", "screens");
const SHEETS_FOLDER = join(ROOT, "tests", "e2e", "out", "sheets");
/** The font of the drawings. The real window takes its font from the desktop, but the browser used here does not. */
const FONT_NAME = "Inter";
/** Pixels between the picture of our screen and the drawing. */
const GAP_PIXELS = 8;
const BROWSER_PATH = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";

/** Maps the name of a drawing to the name of our screen. */
const SCREEN_OF_DRAWING = {
  "01-create-name": "create, name",
  "01-create-passphrase": "create, passphrase too weak",
  "01-create-recovery": "create, recovery code",
  "01-welcome": "welcome, opened before",
  "02-unlock": "unlock",
  "02-unlock-wrong": "unlock, wrong_passphrase",
  "03-home": "home",
  "04-files": "files",
  "04-memories": "memory",
  "04-memories-edit": "memory, edit",
  "04-memories-select": "selection",
  "05-conversations": "reader",
  "06-drop": "drop overlay",
  "06-import-plan": "import, plan",
  "06-import-progress": "import, progress",
  "06-import-report": "import, report",
  "07-export": "export",
  "07-export-done": "export, done",
  "07-export-loss": "export, losses",
  "08-sensitive": "sensitive",
  "09-erase-dialog": "memory, erase",
  "09-receipt": "receipt",
  "09-trash": "trash",
  "10-activity": "activity",
  "10-changes": "changes",
  "10-evidence": "evidence",
  "10-tombstones": "tombstones",
  "11-settings-about": "settings, about",
  "11-settings-appearance": "settings, appearance",
  "11-settings-folders": "settings, folders",
  "11-settings-security": "settings, security",
  "12-palette": "palette",
  "13-first-run": "first run",
  "13-states": "memories, no hits",
  "13-toast": "toast",
};

await main(async () => {
  if (!existsSync(DRAWINGS_FOLDER))
    throw new Stop("../shared/ui/screens is missing, so there is nothing to compare with.");
  if (!existsSync(BROWSER_PATH)) throw new Stop("MiniBrowser, which is part of WebKitGTK, is missing.");
  await installForTesting();
  const prefix = process.argv[2] ?? "";
  const home = mkdtempSync(join(tmpdir(), "mementory-sheets-"));
  const display = await Display.start(homeIn(home));
  let server;
  try {
    server = await serve(builtPages());
    const origin = `http://127.0.0.1:${server.address().port}`;
    const browser = await Browser.start(await display.webKitDriver(), {
      "webkitgtk:browserOptions": { binary: BROWSER_PATH, args: ["--automation"] },
    });
    mkdirSync(SHEETS_FOLDER, { recursive: true });
    for (const file of readdirSync(DRAWINGS_FOLDER).filter((name) => name.startsWith(prefix))) {
      const [, drawing, theme, small] = /^(.*)-(light|dark)(-900x600)?\.png$/.exec(file) ?? [];
      const screen = SCREENS.find(([name]) => name === SCREEN_OF_DRAWING[drawing]);
      if (!screen) {
        console.log(`  ${file}: we have no such screen`);
        continue;
      }
      const picture = await takeScreenshot(browser, origin, screen, theme, small ? [900, 600] : [1280, 800]);
      writeFileSync(join(SHEETS_FOLDER, file), joinPictures(picture, readFileSync(join(DRAWINGS_FOLDER, file))));
      console.log(`  ${file}`);
    }
    await browser.close();
  } finally {
    server?.close();
    await display.stopAndRemove(home);
  }
});

/** Combines two pictures side by side, the first one on the left. */
function joinPictures(...pictures) {
  const [ours, drawn] = pictures.map((bytes) => PNG.sync.read(bytes));
  const sheet = new PNG({ width: ours.width + GAP_PIXELS + drawn.width, height: Math.max(ours.height, drawn.height) });
  PNG.bitblt(ours, sheet, 0, 0, ours.width, ours.height, 0, 0);
  PNG.bitblt(drawn, sheet, 0, 0, drawn.width, drawn.height, ours.width + GAP_PIXELS, 0);
  return PNG.sync.write(sheet);
}

async function takeScreenshot(browser, origin, [, words, steps], theme, size) {
  await browser.goTo(`${origin}/?mock=${words}`);
  await browser.pageSize(...size);
  await until("the window", () => browser.run("() => document.querySelector('main, nav') !== null"));
  await browser.run(
    `(theme, font) => {
      document.documentElement.dataset.theme = theme;
      document.documentElement.style.setProperty("--font-ui", font);
    }`,
    theme,
    FONT_NAME,
  );
  const page = new Page(browser);
  await steps(page);
  await page.waitUntilIdle();
  return browser.screenshot();
}
