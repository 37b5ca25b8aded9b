// Screens of creating and opening vaults, when that fails or needs more than one step.
const PASSPHRASE = "harbour copper nineteen kite";

/** Screens of creating and opening vaults, in the same form as `SCREENS` in walk.mjs. */
export const OPENING_SCREENS = [
  [
    "create, name taken",
    "empty",
    async (page) => {
      await page.click("welcome-create");
      await page.type("create-name", "Family");
      await page.click("create-next");
      await page.waitFor("create-name", '[aria-invalid="true"]');
    },
  ],
  [
    "unlock, backups",
    "failing-vault_damaged",
    async (page) => {
      await page.type("unlock-passphrase", "nope");
      await page.click("unlock-submit");
      await page.click("unlock-open-backup");
      await page.waitFor("unlock-backup");
    },
  ],
  [
    "unlock, search index",
    "reindexed-damaged,hanging",
    async (page) => {
      await page.type("unlock-passphrase", PASSPHRASE);
      await page.click("unlock-submit");
      await page.waitFor("unlock-index");
    },
  ],
  ["home, search index rebuilt", "open,reindexed-damaged", (page) => page.waitFor("index-rebuilt")],
];
