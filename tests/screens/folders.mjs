// Screens of watched folders, and of exports detected in them.
const OPEN = "open";

const openFolders = async (page) => {
  await page.click("nav-settings");
  await page.click("settings-folders");
};
/** Puts exports into a watched folder. If `fresh`, they are detected while the vault is open, and a notice is shown. */
const addFiles = (page, names, fresh) =>
  page.mock(
    "(paths, fresh) => paths.forEach((path) => window.__mock.addFile(path, fresh))",
    names.map((name) => `/home/ines/Downloads/${name}`),
    fresh,
  );
const EXPORT = "chatgpt-export-2026-11-21.zip";

/** Screens of watched folders, in the same form as `SCREENS` in walk.mjs. */
export const FOLDER_SCREENS = [
  ["settings, folders", OPEN, async (page) => (await openFolders(page), page.waitFor("watched-folder"))],
  [
    "settings, folders, none yet",
    `${OPEN},empty`,
    async (page) => (await openFolders(page), page.waitFor("watched-none")),
  ],
  [
    "settings, folders, found",
    OPEN,
    async (page) => {
      await openFolders(page);
      await page.waitFor("watched-folder");
      await addFiles(page, ["encrypted.alf", EXPORT], false);
      await page.waitFor("detected-file");
    },
  ],
  [
    "settings, folders, importing",
    OPEN,
    async (page) => {
      await openFolders(page);
      await page.waitFor("watched-folder");
      await addFiles(page, [EXPORT], false);
      await page.mock("(path) => window.__mock.reportImportProgress(path, 0.4)", `/home/ines/Downloads/${EXPORT}`);
      await page.waitFor("detected-file-stop");
    },
  ],
  [
    "home, exports found",
    OPEN,
    async (page) => {
      await page.waitFor("home-matrix");
      await addFiles(page, ["encrypted.alf", EXPORT], false);
      await page.waitFor("attention-detected-files");
    },
  ],
  [
    "toast, an export found",
    OPEN,
    async (page) => (await page.waitFor("home-matrix"), await addFiles(page, [EXPORT], true), page.waitFor("toast")),
  ],
];
