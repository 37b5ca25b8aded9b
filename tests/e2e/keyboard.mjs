// The main story in the real window with the keyboard only: no clicks, and no focus set by script.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PASSPHRASE, Vault } from "../cli/mementory.mjs";
import { ROOT, built } from "../tools/places.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { Display, homeWithRecentVaults } from "./display.mjs";
import { Browser, until } from "./webdriver.mjs";

const OUTPUT_FOLDER = fileURLToPath(new URL("out/", import.meta.url));
const CTRL = "\uE009";
const SHIFT = "\uE008";
const TAB = "\uE004";
const ENTER = "\uE007";
const ESC = "\uE00C";
const DOWN = "\uE015";
const HOME = "\uE011";
const F6 = "\uE036";
const DELETE = "\uE017";
const SECRET_TOKEN = "ghp_9fJ2kLm4Qx7RtV1wZb6Yc3Nd8Ps5Ua0He2Gi";

/** Goes through the main story in the real window and adds the result of each step to `count`. */
export async function testKeyboard(count) {
  await cargoTool("tauri-driver", "^2");
  mkdirSync(OUTPUT_FOLDER, { recursive: true });
  const home = mkdtempSync(join(tmpdir(), "mementory-keys-"));
  const vault = new Vault(home).create();
  for (const name of ["chatgpt-export.zip", "claude-export.zip"])
    vault.must("import", join(ROOT, "fixtures", "samples", name));
  for (const text of [`The deploy token is ${SECRET_TOKEN}.`, `export GITHUB_TOKEN=${SECRET_TOKEN}`])
    vault.must("add", "--text-file", vault.write("secret.txt", text));
  const display = await Display.start(homeWithRecentVaults(home, vault.path));
  let browser;
  try {
    browser = await Browser.open(await display.driver(), built("mementory-app"));
    await display.moveToCorner("Mementory");
    await new KeyboardStory(browser, count, vault).runAll();
    await browser.close();
    browser = undefined;
  } catch (error) {
    console.log(`  ${error.message}`);
    if (browser)
      writeFileSync(
        join(OUTPUT_FOLDER, "keyboard-failure.png"),
        await browser.screenshot().catch(() => Buffer.alloc(0)),
      );
    count.add("the story by keyboard runs to its end", false);
  } finally {
    await browser?.close().catch(() => {});
    await display.stopAndRemove(home);
  }
}

/** The steps of the story. */
class KeyboardStory {
  constructor(browser, count, vault) {
    Object.assign(this, { browser, count, vault });
  }

  async runAll() {
    await this.unlock();
    await this.searchAndEdit();
    await this.trashAndBack();
    await this.read();
    await this.sensitive();
    await this.erase();
    await this.palette();
    await this.lock();
  }

  /** The `data-testid` of the focused element. If it has none, its role or else its tag name. */
  focus() {
    return this.browser.run(
      "() => { const at = document.activeElement; return at?.dataset.testid ?? at?.getAttribute('role') ?? at?.localName; }",
    );
  }

  /** Presses Tab until the element with this `data-testid` has the focus, at most `maxPresses` times. */
  async tabTo(id, maxPresses = 40) {
    for (let n = 0; n < maxPresses; n += 1) {
      if ((await this.focus()) === id) return;
      await this.browser.keys(TAB);
    }
    throw new Error(`${id} is not reached by Tab; the focus is at ${await this.focus()}`);
  }

  /** Moves the focus into the list: by F6, or by Tab if F6 does not reach the list. */
  async focusList() {
    await this.browser.find("list-row");
    for (let n = 0; n < 6 && (await this.focus()) !== "listbox"; n += 1) await this.browser.keys(F6);
    if ((await this.focus()) !== "listbox") await this.tabTo("listbox");
  }

  async unlock() {
    const { browser } = this;
    await browser.find("unlock-passphrase");
    await browser.keys(PASSPHRASE + ENTER);
    await browser.find("home");
    this.count.add("by keyboard: the vault is unlocked", true);
  }

  async searchAndEdit() {
    const { browser } = this;
    await browser.chord(CTRL, "2");
    await browser.find("list-row");
    await browser.chord(CTRL, "f");
    await browser.keys("deploy");
    await until("one row", async () => (await browser.count("list-row")) === 1);
    await this.focusList();
    await browser.keys(HOME);
    await until("the memory", async () => /deploy token/.test(await browser.text("detail-text")));
    await browser.keys("e");
    await browser.find("edit-text");
    await until("the field to have the focus", async () => (await this.focus()) === "edit-text");
    await browser.keys(" Rotates in June.");
    await browser.chord(CTRL, ENTER);
    await until("the new wording", async () => /Rotates in June/.test(await browser.text("detail-text")));
    this.count.add("by keyboard: a memory is found and edited", true);
  }

  async trashAndBack() {
    const { browser } = this;
    await this.focusList();
    await browser.keys(DELETE);
    await browser.find("toast");
    await until("no row", async () => (await browser.count("list-row")) === 0);
    await browser.chord(CTRL, "z");
    await until("the row again", async () => (await browser.count("list-row")) === 1);
    this.count.add("by keyboard: a memory is moved to the Trash and back", true);
  }

  async read() {
    const { browser } = this;
    await browser.chord(CTRL, "3");
    await this.focusList();
    await browser.keys(HOME + DOWN);
    // The previous conversation stays in the pane until the new one is loaded.
    await until("the conversation that is chosen", () => this.showsChosen());
    await browser.chord(CTRL, "f");
    this.count.add("by keyboard: a conversation is read", await this.showsChosen());
    await browser.keys(ESC);
  }

  /** Whether the reader shows messages of the conversation that is chosen in the list. */
  showsChosen() {
    return this.browser.run(`() => {
      const id = document.querySelector('[data-testid="list-row"][aria-selected="true"]')?.dataset.id;
      return document.querySelector(\`[data-testid="reader"][data-id="\${id}"] [data-testid="reader-message"]\`) !== null;
    }`);
  }

  async sensitive() {
    const { browser } = this;
    await browser.chord(CTRL, "5");
    await this.focusList();
    await browser.keys(HOME);
    await browser.find("sensitive-detail");
    await browser.keys("r");
    await browser.find("redact-value-dialog");
    this.count.add(
      "by keyboard: a question about a redaction has its focus on Cancel",
      (await this.focus()) === "redact-value-cancel",
    );
    await this.tabTo("redact-value-confirm");
    await browser.keys(ENTER);
    await browser.gone("redact-value-dialog");
    await browser.find("toast");
    await until("nothing of it to be open", async () => (await browser.count("sensitive-detail")) === 0);
    await browser.chord(CTRL, "2");
    await browser.chord(CTRL, "f");
    await browser.keys("rotates");
    await until("the memory with a bar", async () => (await browser.count("list-row", " .redaction")) > 0);
    const isStillShown = await browser.run("(key) => document.body.innerText.includes(key)", SECRET_TOKEN);
    this.count.add("by keyboard: a sensitive value is redacted everywhere", !isStillShown);
    await browser.keys(ESC);
  }

  async erase() {
    const { browser } = this;
    await browser.chord(CTRL, "2");
    await this.focusList();
    await browser.keys(HOME);
    await browser.chord(SHIFT, DELETE);
    await browser.find("erase-dialog");
    await this.tabTo("erase-confirm");
    await browser.keys(ENTER);
    await browser.find("receipt-complete");
    this.count.add("by keyboard: a memory is erased with a complete receipt", true);
    await browser.keys(ESC);
    await browser.gone("receipt");
  }

  async palette() {
    const { browser } = this;
    await browser.chord(CTRL, "k");
    await until("the palette", async () => (await this.focus()) === "palette-field");
    await browser.keys("trash");
    await browser.find("palette-item");
    await browser.keys(ESC);
    await browser.gone("palette");
    this.count.add("by keyboard: the palette opens and closes", true);
  }

  async lock() {
    const { browser } = this;
    await browser.chord(CTRL, "l");
    await browser.find("unlock-passphrase");
    const isStillShown = await browser.run("() => /deploy|tortoise|GITHUB/.test(document.body.innerText)");
    this.count.add("by keyboard: the locked page contains no text of the vault", !isStillShown);
  }
}
