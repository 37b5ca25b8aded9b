// The way to the screens of watched folders, and of what was found in them.
const OPEN = "open";

const folders = async (page) => {
  await page.click("nav-settings");
  await page.click("settings-folders");
};
/** Exports land in a watched folder; `fresh` = since the vault was opened, and that is told. */
const land = (page, names, fresh) =>
  page.mock(
    "(paths, fresh) => paths.forEach((path) => window.__mock.land(path, fresh))",
    names.map((name) => `/home/ines/Downloads/${name}`),
    fresh,
  );
const EXPORT = "chatgpt-export-2026-11-21.zip";

/** As `SCREENS` in walk.mjs. */
export const FOLDERS = [
  ["settings, folders", OPEN, async (page) => (await folders(page), page.there("watched-folder"))],
  ["settings, folders, none yet", `${OPEN},empty`, async (page) => (await folders(page), page.there("watched-none"))],
  [
    "settings, folders, found",
    OPEN,
    async (page) => {
      await folders(page);
      await page.there("watched-folder");
      await land(page, ["encrypted.alf", EXPORT], false);
      await page.there("find");
    },
  ],
  [
    "settings, folders, importing",
    OPEN,
    async (page) => {
      await folders(page);
      await page.there("watched-folder");
      await land(page, [EXPORT], false);
      await page.mock("(path) => window.__mock.working(path, 0.4)", `/home/ines/Downloads/${EXPORT}`);
      await page.there("find-stop");
    },
  ],
  [
    "home, exports found",
    OPEN,
    async (page) => {
      await page.there("home-matrix");
      await land(page, ["encrypted.alf", EXPORT], false);
      await page.there("look-finds");
    },
  ],
  [
    "toast, an export found",
    OPEN,
    async (page) => (await page.there("home-matrix"), await land(page, [EXPORT], true), page.there("toast")),
  ],
];
