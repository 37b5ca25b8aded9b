// The main story in the real window: create a vault, drop exports on it, search, read, redact, erase, export, lock,
// unlock. With MEMENTORY_PICTURES, screenshots of every screen are written to tests/e2e/out.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { entriesOf, zip } from "../cli/generated.mjs";
import { ROOT, built } from "../tools/places.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { quiet } from "../tools/sh.mjs";
import { Display, homeIn } from "./display.mjs";
import { Browser, TAKES_PICTURES, until } from "./webdriver.mjs";

const OUTPUT_FOLDER = fileURLToPath(new URL("out/", import.meta.url));
const SAMPLE_PATHS = ["chatgpt-export.zip", "claude-export.zip"].map((name) => join(ROOT, "fixtures", "samples", name));
const PASSPHRASE = "correct horse battery staple";
const FILE_PASSPHRASE = "lantern orbit velvet harbour";
const VAULT = "Memories";
const FIXTURES = join(ROOT, "fixtures");
/** Longest wait until a sheet is closed, in milliseconds, before its button is clicked again. */
const CLOSING_MS = 3000;

/**
 * Groups of files to drop on the window, each with the result that the check before the import must show. The archives
 * and the damaged file are made in `folder`.
 */
function filesToCheck(folder) {
  const makeFile = (name, content) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const makeArchive = (name, from) => makeFile(name, zip(entriesOf(join(FIXTURES, from))));
  const fixturePaths = (...names) => names.map((name) => join(FIXTURES, name));
  const emptyDocument = JSON.stringify({ mif_version: "1.0", memories: [] });
  return {
    whole: {
      paths: [
        ...fixturePaths("mem/small/input.mem", "mif/v1/input.mif.json", "pam/whole/input", "zaxy/unsigned/input.json"),
        makeArchive("whole.alf", "alf/every-field/input"),
      ],
      expectedText: /^No problems found/,
    },
    damaged: {
      paths: [
        ...fixturePaths("mem/wrong-checksum/input.mem", "pam/wrong-checksum/input", "zaxy/tampered-entry/input.json"),
        makeArchive("damaged.alf", "alf/defects/input"),
        makeFile("damaged.mif.json", emptyDocument),
      ],
      expectedText: /^The check found/,
    },
    forged: {
      paths: fixturePaths(
        "mem/forged/input.mem",
        "pam/signed-ed25519-tampered/input",
        "zaxy/tampered-signature/input.json",
      ),
      expectedText: /signature is not valid/,
    },
    stranger: {
      paths: fixturePaths(
        "mem/signed/input.mem",
        "pam/signed-es256/input",
        "zaxy/signed-ed25519/input.json",
        "zaxy/signed-ml-dsa-65/input.json",
      ),
      expectedText: /Signed with an unknown key/,
    },
  };
}

const WINDOW_SIZES = [
  [1280, 800],
  [900, 600],
];
const THEMES = ["light", "dark"];

/** Goes through the main story in the real window and adds the result of each step to `count`. */
export async function testMainStory(count) {
  await cargoTool("tauri-driver", "^2");
  rmSync(OUTPUT_FOLDER, { recursive: true, force: true });
  mkdirSync(OUTPUT_FOLDER, { recursive: true });
  const home = mkdtempSync(join(tmpdir(), "mementory-window-"));
  const display = await Display.start(homeIn(home));
  let browser;
  try {
    browser = await Browser.open(await display.driver(), built("mementory-app"));
    const window = await display.moveToCorner("Mementory");
    const story = new MainStory(browser, display, window, home, count);
    await story.runAll();
    await browser.close();
    browser = undefined;
    await testClosing(display, home, count);
  } catch (error) {
    console.log(`  ${error.message}`);
    if (browser)
      writeFileSync(join(OUTPUT_FOLDER, "failure.png"), await browser.screenshot().catch(() => Buffer.alloc(0)));
    count.add("the main story runs to its end", false);
  } finally {
    await browser?.close().catch(() => {});
    await display.stopAndRemove(home);
  }
}

/**
 * Tests that the program ends and leaves no new files when its window is closed. For this test the program is started
 * without WebDriver, as a person would start it.
 */
async function testClosing(display, home, count) {
  await display.waitForWebProcesses(home);
  const filesBefore = new Set(filesIn(home));
  const exit = await display.openAndClose(built("mementory-app"), "Mementory");
  const newFiles = filesIn(home).filter((name) => !filesBefore.has(name) && !name.includes("mesa_shader_cache"));
  newFiles.forEach((name) => console.log(`  left behind: ${name.replace(home, "~")}`));
  count.add("the window ends when it is closed", exit === 0);
  count.add("the window itself leaves nothing on disk", newFiles.length === 0);
}

/** The steps of the story. */
class MainStory {
  constructor(browser, display, window, home, count) {
    Object.assign(this, { browser, display, window, home, count });
    this.shots = 0;
  }

  async runAll() {
    await this.create();
    await this.dropExports();
    await this.checkBeforeImport();
    await this.search();
    await this.readConversation();
    await this.redact();
    await this.erase();
    await this.export("mem");
    await this.export("alf");
    await this.encryptedFile(await this.export("alf", FILE_PASSPHRASE));
    await this.offerFormats();
    await this.signingKeys();
    await this.lockAndUnlock();
    await this.leavesNoPlainText();
  }

  /** Counts a step: as passed if `ok`, otherwise as failed. */
  addStep(name, ok = true) {
    this.count.add(name, ok);
  }

  /** Takes a screenshot in every size and theme. */
  async picture(name) {
    if (!TAKES_PICTURES) return;
    const number = String(++this.shots).padStart(2, "0");
    for (const [width, height] of WINDOW_SIZES) {
      this.display.resize(this.window, width, height);
      await until(`the window to be ${width} wide`, () => this.browser.run("(width) => innerWidth === width", width));
      for (const theme of THEMES) {
        await this.browser.run("(theme) => { document.documentElement.dataset.theme = theme; return true; }", theme);
        await this.waitUntilStill();
        writeFileSync(
          join(OUTPUT_FOLDER, `${number}-${name}-${theme}-${width}x${height}.png`),
          await this.browser.screenshot(),
        );
      }
    }
    this.display.resize(this.window, ...WINDOW_SIZES[0]);
    await this.browser.run("() => { delete document.documentElement.dataset.theme; return true; }");
    await until("the window to be wide again", () =>
      this.browser.run("(width) => innerWidth === width", WINDOW_SIZES[0][0]),
    );
  }

  /** Waits until no animation is running, except endless ones. */
  waitUntilStill() {
    return until("the screen to be still", () =>
      this.browser.run(
        "() => document.getAnimations().every((animation) => animation.playState !== 'running' || animation.effect?.getTiming().iterations === Infinity)",
      ),
    );
  }

  async create() {
    const { browser } = this;
    await browser.find("welcome-create");
    await this.picture("welcome");
    await browser.click("welcome-create");
    await browser.type("create-name", VAULT);
    await browser.type("create-folder", this.home);
    await browser.click("create-next");
    await browser.type("create-passphrase", PASSPHRASE);
    await browser.type("create-repeat", PASSPHRASE);
    await this.picture("create-passphrase");
    await browser.click("create-next");
    const groups = (await browser.text("recovery-code")).match(/[0-9A-Z]{4}/g);
    this.addStep("a recovery code of eight groups is shown", groups?.length === 8);
    await this.picture("recovery-code");
    for (const field of ["recovery-group-a", "recovery-group-b"]) {
      const number = Number(await browser.attribute(field, "data-group"));
      await browser.type(field, groups[number - 1]);
    }
    await browser.click("create-done");
    await browser.find("nav-memories");
    this.addStep(
      "a vault is created with its code typed back",
      existsSync(join(this.home, `${VAULT}.mementory`, "vault.json")),
    );
    await this.picture("first-run");
  }

  async dropExports() {
    const { browser } = this;
    const isOverlayShown = async () => (await browser.count("drop-overlay")) > 0;
    await this.display.drop(SAMPLE_PATHS, 640, 400, isOverlayShown);
    this.addStep("files dragged over the window are noticed");
    await browser.find("import-confirm");
    this.addStep("a real drop opens the import", (await browser.count("import-file")) === SAMPLE_PATHS.length);
    await this.picture("import-preview");
    await browser.click("import-confirm");
    await browser.find("import-report");
    await this.picture("import-report");
    await browser.click("import-done");
    await browser.click("nav-memories");
    await browser.find("list-row");
    this.addStep("the imported records are listed", (await browser.count("list-row")) > 0);
    await this.picture("memories");
  }

  /**
   * Drops valid, damaged and forged files of the open formats, and files with an unknown signer. The check before the
   * import must distinguish them.
   */
  async checkBeforeImport() {
    const { browser } = this;
    const groups = filesToCheck(this.home);
    for (const [name, { paths, expectedText }] of Object.entries(groups)) {
      await this.display.drop(paths, 640, 400, async () => (await browser.count("drop-overlay")) > 0);
      const lines = () =>
        browser.run(
          `() => [...document.querySelectorAll('[data-testid="import-check"]')].map((line) => line.innerText)`,
        );
      await until(`${name} files to be checked`, async () => (await lines()).length === paths.length);
      const answers = await lines();
      const wrongAnswers = answers.filter((line) => !expectedText.test(line));
      wrongAnswers.forEach((line) => console.log(`  ${name}: ${line}`));
      this.addStep(`${name} files of open formats are recognised as such before the import`, wrongAnswers.length === 0);
      await this.picture(`check-${name}`);
      if (name === "stranger") {
        const unknownBefore = (await lines()).filter((line) => /an unknown key/.test(line)).length;
        await browser.click("import-trust");
        await until("the key to be trusted", async () => (await lines()).some((line) => /that you trust/.test(line)));
        const unknownAfter = (await lines()).filter((line) => /an unknown key/.test(line)).length;
        this.addStep("an unknown key is trusted with one click", unknownAfter < unknownBefore);
        await this.picture("check-trusted");
      }
      // The sheet grows when the plans arrive, so a click may miss the button, and is repeated then.
      await until("the import sheet to be closed", async () => {
        await browser.click((await browser.count("import-cancel")) > 0 ? "import-cancel" : "import-done");
        await until("the sheet to be gone", async () => (await browser.count("import-sheet")) === 0, CLOSING_MS);
        return true;
      });
    }
  }

  async search() {
    const { browser } = this;
    const countBefore = await browser.count("list-row");
    await browser.type("search-field", "tortoise");
    await until("the list to show what was found", async () => {
      const rows = await browser.count("list-row");
      return rows > 0 && rows < countBefore && /tortoise/i.test(await browser.text("list-row"));
    });
    this.addStep("search narrows the list as it is typed");
    await browser.click("list-row");
    await until("the memory to be open", async () => /tortoise/i.test(await browser.text("detail-text")));
    this.addStep("a memory opens beside the list");
    await this.picture("search");
  }

  async readConversation() {
    const { browser } = this;
    await browser.click("nav-conversations");
    await browser.type("search-field", "leaflet");
    await until("the conversation to be found", async () => /leaflet/i.test(await browser.text("list-row")));
    await this.picture("conversations");
    await browser.click("list-row");
    await browser.find("reader");
    await browser.find("reader-message");
    this.addStep("a conversation is read", (await browser.count("reader-message")) > 0);
    await browser.run(
      `() => document.querySelector("article").dispatchEvent(new PointerEvent("pointerover", { bubbles: true }))`,
    );
    await browser.find("message-redact");
    this.addStep("only the message under the pointer shows its tools", (await browser.count("message-redact")) === 1);
    await this.picture("reader");
  }

  async redact() {
    const { browser } = this;
    await this.openMemory("tortoise", /tortoise/i);
    // Background work reloads the list and the record, which may drop the selection. So select again until the dialog
    // shows the word.
    await until("the selected word in the dialog", async () => {
      const selected = await this.select("tortoise");
      await browser.click("detail-redact");
      const words = await browser.text("redact-words");
      if (words.includes(selected)) return true;
      await browser.click("redact-cancel");
      await browser.gone("redact-dialog");
      return false;
    });
    await until("the number of places", async () => (await browser.count("redact-confirm", ":enabled")) === 1);
    await this.picture("redact");
    await browser.click("redact-confirm");
    await browser.gone("redact-dialog");
    await this.openMemory("Rui", /Rui/);
    await until("a bar in place of the word", async () => (await browser.count("detail-text", " [role=img]")) === 1);
    this.addStep("a selected word is redacted", !/tortoise/i.test(await browser.text("detail-text")));
    await this.picture("redacted");
    await browser.type("search-field", "tortoise");
    await until("nothing to be found any more", async () => (await browser.count("list-row")) === 0);
    this.addStep("a redacted word is no longer found");
  }

  /** Selects a word in the text of the open memory, and returns the word as the text contains it. */
  async select(word) {
    const { selected, text } = await this.browser.run(
      `(word) => {
      const box = document.querySelector('[data-testid="detail-text"]');
      const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const at = node.data.toLowerCase().indexOf(word.toLowerCase());
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        box.dispatchEvent(new MouseEvent("mouseup", { bubbles: true }));
        return { selected: range.toString(), text: box.innerText };
      }
      return {};
    }`,
      word,
    );
    if (!selected) throw new Error(`no ${word} in: ${text}`);
    return selected;
  }

  async erase() {
    const { browser } = this;
    await this.openMemory("Rui", /Rui/);
    await browser.click("detail-trash");
    await browser.find("toast");
    await browser.click("nav-trash");
    await browser.click("list-row");
    await this.picture("trash");
    await browser.click("trash-erase");
    await browser.find("erase-dialog");
    await this.picture("erase");
    await browser.click("erase-confirm");
    await browser.find("receipt");
    await browser.find("receipt-complete");
    this.addStep("an erasure ends with a complete receipt");
    this.addStep(
      "nothing on screen shows the text of an erased memory",
      !(await browser.run("() => /Rui/.test(document.body.innerText)")),
    );
    await this.picture("receipt");
    await browser.click("receipt-done");
    await browser.gone("receipt");
  }

  /** Checks that the sheet offers the open formats and text to copy, and that it offers to sign an export as Zaxy. */
  async offerFormats() {
    const { browser } = this;
    await browser.click("export-button");
    await browser.click("export-more");
    for (const format of ["mem", "alf", "mif", "pam", "zaxy", "transfer_text"]) await browser.find(`export-${format}`);
    await browser.click("export-zaxy");
    await browser.find("export-sign");
    await this.picture("export-zaxy");
    await browser.click("export-cancel");
    await browser.gone("export-sheet");
    this.addStep("the open formats and text to copy are offered");
  }

  async signingKeys() {
    const { browser } = this;
    await browser.click("nav-settings");
    await browser.click("settings-keys");
    await browser.find("keys-forget");
    await this.picture("settings-keys");
    this.addStep("a trusted key is listed in the settings");
  }

  /** Exports everything in a format, encrypted if a passphrase is given. Returns the path. */
  async export(format, passphrase) {
    const { browser } = this;
    const name = passphrase ? `${format}-encrypted` : format;
    const path = join(this.home, `out.${name}.${format}`);
    await browser.click("nav-memories");
    await browser.clear("search-field");
    await browser.find("list-row");
    await browser.click("export-button");
    await browser.click("export-more");
    await browser.find("export-sheet");
    await browser.click(`export-${format}`);
    await browser.type("export-path", path);
    if (passphrase) {
      await browser.click("export-encrypt", ' [role="switch"]');
      await browser.type("export-passphrase", passphrase);
      await browser.type("export-repeat", passphrase);
    }
    await until("the export to be ready", async () => {
      if ((await browser.count("export-understood", '[aria-checked="false"]')) > 0)
        await browser.click("export-understood");
      return browser.run("() => !document.querySelector('[data-testid=export-save]').disabled");
    });
    await this.picture(`export-${name}`);
    await browser.click("export-save");
    await browser.find("export-result");
    await this.picture(`exported-${name}`);
    await browser.click("export-done");
    await browser.gone("export-result");
    const passphraseFile = join(this.home, "out.passphrase");
    writeFileSync(passphraseFile, passphrase ?? "");
    const check = (...more) => quiet(built("mementory"), ["--json", "validate", path, ...more]);
    const { code, stdout } = check(...(passphrase ? ["--import-passphrase-file", passphraseFile] : []));
    const valid = code === 0 && JSON.parse(stdout).records > 0;
    if (!valid) console.log(`  ${stdout.slice(0, 1000)}`);
    this.addStep(`${passphrase ? "an encrypted" : "a"} .${format} is exported and valid`, valid);
    if (passphrase) this.addStep(`an encrypted .${format} does not open without its passphrase`, check().code === 3);
    return path;
  }

  /**
   * Checks that an encrypted file is recognised and can be left out of the import, and that it opens with the right
   * passphrase only.
   */
  async encryptedFile(path) {
    const { browser } = this;
    const otherFile = join(FIXTURES, "mem/small/input.mem");
    const drop = (...paths) =>
      this.display.drop(paths, 640, 400, async () => (await browser.count("drop-overlay")) > 0);
    await drop(path, otherFile);
    await browser.find("import-locked");
    await this.picture("import-locked");
    await browser.click("import-leave-out");
    await browser.find("import-confirm");
    this.addStep("an encrypted file can be left out of the import", (await browser.count("import-file")) === 1);
    await browser.click("import-cancel");
    await browser.gone("import-sheet");
    await drop(path);
    await browser.type("import-passphrase", "not this one");
    await browser.click("import-open");
    await until("the passphrase to be refused", async () =>
      /passphrase is wrong/.test(await browser.text("import-sheet")),
    );
    this.addStep("a wrong passphrase for a file is refused");
    await this.picture("import-locked-wrong");
    await browser.type("import-passphrase", FILE_PASSPHRASE);
    await browser.click("import-open");
    await until("the opened file to be checked", async () => (await browser.count("import-check")) > 0);
    await this.picture("import-opened");
    await browser.click("import-confirm");
    await browser.find("import-report");
    this.addStep("an encrypted file is imported with its own passphrase", true);
    await browser.click("import-done");
    await browser.gone("import-report");
  }

  async lockAndUnlock() {
    const { browser } = this;
    await browser.click("nav-memories");
    await browser.find("list-row");
    await this.picture("before-locking");
    await browser.chord("\uE009", "l");
    await browser.find("unlock-passphrase");
    const pageText = await browser.run("() => document.body.innerText + document.body.innerHTML");
    this.addStep("locking leaves no text of the vault in the page", !/tortoise|allotment|Greenhouse/i.test(pageText));
    await browser.type("unlock-passphrase", "not this one at all");
    await browser.click("unlock-submit");
    await browser.find("unlock-error");
    this.addStep(
      "a wrong passphrase is refused with a message",
      /doesn.t open this vault/.test(await browser.text("unlock-error")),
    );
    await this.picture("unlock-wrong");
    await browser.type("unlock-passphrase", PASSPHRASE);
    await browser.click("unlock-submit");
    await browser.click("nav-memories");
    await browser.find("list-row");
    this.addStep("the right passphrase opens the vault again");
  }

  /** Checks that no file in the home contains text of the imported exports, except the files that the test exported. */
  async leavesNoPlainText() {
    const leakingFiles = filesIn(this.home)
      .filter((name) => !name.startsWith(join(this.home, "out.")))
      .filter((name) => /tortoise|allotment|greenhouse/i.test(readFileSync(name).toString("latin1")));
    leakingFiles.forEach((name) => console.log(`  plain text in: ${name.replace(this.home, "~")}`));
    this.addStep("no file contains plain text while the vault is open", leakingFiles.length === 0);
  }

  /** Searches for a word and opens the first memory found, whose text has to match. */
  async openMemory(word, text) {
    const { browser } = this;
    await browser.click("nav-memories");
    await browser.type("search-field", word);
    await until(`a memory to be found by ${word}`, async () => text.test(await browser.text("list-row")));
    await browser.click("list-row");
    await until("the memory to be open", async () => text.test(await browser.text("detail-text")));
  }
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((name) => existsSync(name) && statSync(name).isFile());
}
