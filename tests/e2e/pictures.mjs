// `npm run pictures`: screenshots for README.md of the real window with the samples in fixtures/, light and dark. They
// are written to ui/pictures/. Look at them before you commit them.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PASSPHRASE, Vault } from "../cli/mementory.mjs";
import { ROOT, built } from "../tools/places.mjs";
import { buildPrograms, buildUi, cargoTool, installForTesting } from "../tools/setup.mjs";
import { main } from "../tools/sh.mjs";
import { Display, homeWith } from "./display.mjs";
import { Browser, until } from "./webdriver.mjs";

const PICTURES_FOLDER = join(ROOT, "ui", "pictures");
const WINDOW_SIZE = [1280, 800];
/** Memories to add. They are invented, like all samples. */
const MEMORIES = [
  "The deploy token is ghp_9fJ2kLm4Qx7RtV1wZb6Yc3Nd8Ps5Ua0He2Gi and rotates in June.",
  "Prefers night trains to planes.",
];

/** Screens by name, and the steps to reach them. */
const SCREENS = [
  // The scan for sensitive values runs after unlocking.
  ["home", async (browser) => browser.find("look-sensitive")],
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
      await browser.click("list-row", '[aria-posinset="2"]');
      await browser.find("reader-message");
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
    "export",
    async (browser) => {
      await browser.click("nav-memories");
      await browser.click("export-button");
      await browser.click("export-more");
      await browser.find("export-sheet");
      // Do not show a folder of this computer.
      await browser.type("export-path", "/home/ines/Memories.mem");
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
  const vault = new Vault(home, "Memories.mementory").create();
  for (const name of ["chatgpt-export.zip", "claude-export.zip"])
    vault.must("import", join(ROOT, "fixtures", "samples", name));
  for (const text of MEMORIES) vault.must("add", "--text-file", vault.write("text.txt", text));
  const display = await Display.start(homeWith(home, vault.path));
  try {
    const browser = await Browser.open(await display.driver(), built("mementory-app"));
    display.resize(await display.moveToCorner("Mementory"), ...WINDOW_SIZE);
    await until("the window to have its size", () => browser.run("(width) => innerWidth === width", WINDOW_SIZE[0]));
    await browser.type("unlock-passphrase", PASSPHRASE);
    await browser.click("unlock-submit");
    await browser.find("home");
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
    await display.end(home);
  }
});
