// Screens of the guides to the exports of each source, and of files that were not recognised.
const OPEN = "open";
export const UNKNOWN_FILE = "/home/ines/poem.xyz";

/** Opens the list of guides from the palette, searches the list for `typed`, and waits until a guide is shown. */
const openGuide = async (page, typed) => {
  await page.waitFor("home");
  await page.press("k", "C");
  await page.type("palette-field", ">where is");
  await page.click("palette-item", '[data-id="guides"]');
  await page.type("guides-search", typed);
  await page.waitFor("guide");
};
const openUnknown = async (page) => {
  await page.waitFor("home");
  await page.mock("(paths) => void window.__mock.drop(paths, false)", [UNKNOWN_FILE]);
  await page.waitFor("import-keep-file");
};

/** Screens of the guides, in the same form as `SCREENS` in walk.mjs. */
export const GUIDE_SCREENS = [
  ["guides", OPEN, (page) => openGuide(page, "")],
  ["guides, with folders and a doubt", OPEN, (page) => openGuide(page, "cursor")],
  ["guides, nothing found", OPEN, async (page) => (await openGuide(page, ""), page.type("guides-search", "zzz"))],
  [
    "guides, a link",
    OPEN,
    async (page) => {
      await openGuide(page, "mem0");
      await page.click("guide-link");
      await page.waitFor("link-dialog");
    },
  ],
  ["import, not recognised", OPEN, openUnknown],
  [
    "import, not recognised, formats",
    OPEN,
    async (page) => {
      await openUnknown(page);
      await page.openMenu("import-format");
      await page.waitFor("import-format-keep");
    },
  ],
  [
    "import, not recognised, kept",
    OPEN,
    async (page) => {
      await openUnknown(page);
      await page.click("import-keep-file");
      await page.waitFor("import-confirm", ":not([disabled])");
    },
  ],
  [
    "import, not recognised, guide",
    OPEN,
    async (page) => {
      await openUnknown(page);
      await page.click("import-file-guides");
      await page.waitFor("guide", '[data-id="pasted"]');
    },
  ],
];
