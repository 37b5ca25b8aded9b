// The accessibility tree of the real window, as AT-SPI passes it to a screen reader.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PASSPHRASE, Vault } from "../cli/mementory.mjs";
import { ROOT, built } from "../tools/places.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { has, quiet } from "../tools/sh.mjs";
import { reportStep, runInSubprocess } from "./subprocess.mjs";
import { Display, homeWithRecentVaults } from "./display.mjs";
import { Browser, until } from "./webdriver.mjs";

const HERE = fileURLToPath(import.meta.url);
const TREE_SCRIPT = fileURLToPath(new URL("accessibility_tree.py", import.meta.url));
const PYTHON_PATH = "/usr/bin/python3";
const SECRET_TOKEN = "ghp_9fJ2kLm4Qx7RtV1wZb6Yc3Nd8Ps5Ua0He2Gi";

/** Returns the reason why the test cannot run here, or null if it can. */
function findSkipReason() {
  if (process.platform !== "linux") return "only on Linux";
  if (!has("dbus-run-session")) return "dbus-run-session is not installed";
  const { code } = quiet(PYTHON_PATH, ["-c", "import gi; gi.require_version('Atspi', '2.0')"]);
  return code === 0 ? null : "AT-SPI for Python (gir1.2-atspi-2.0) is not installed";
}

/** Checks the accessibility tree of each screen, in a private D-Bus session. */
export async function testAccessibilityTree(count) {
  const skipReason = findSkipReason();
  if (skipReason) return count.leaveOut(`what a screen reader finds: ${skipReason}`);
  await cargoTool("tauri-driver", "^2");
  await runInSubprocess(count, "what a screen reader finds", ["dbus-run-session", "--"], HERE, "ignore");
}

/** Screens as [name, steps to reach it, nodes that it must have]. A node is given as [role, pattern of its name]. */
const SCREENS = [
  ["unlock", async () => {}, [["password text", /Passphrase/]]],
  [
    "home",
    async (browser) => {
      await browser.type("unlock-passphrase", PASSPHRASE);
      await browser.click("unlock-submit");
      await browser.find("home");
    },
    [
      ["heading", /What they know/],
      ["table", /./],
      ["landmark", /./],
    ],
  ],
  [
    "memories",
    async (browser) => {
      await browser.click("nav-memories");
      await browser.click("list-row", "[aria-posinset='1']");
      await browser.find("detail-text");
    },
    [
      ["list box", /Memories/],
      ["list item", /tortoise|Prefers|ChatGPT|Claude/],
      ["push button", /Edit/],
    ],
  ],
  [
    "conversation",
    async (browser) => {
      await browser.click("nav-conversations");
      await browser.click("list-row", "[aria-posinset='1']");
      await browser.find("reader-message");
    },
    [["list box", /Conversations/]],
  ],
  ["files", async (browser) => browser.click("nav-files"), [["heading", /Files/]]],
  [
    "sensitive",
    async (browser) => {
      await browser.click("nav-sensitive");
      await browser.find("list-row");
    },
    [["image", /hidden value/]],
  ],
  ["activity", async (browser) => browser.click("nav-activity"), [["heading", /Activity/]]],
  ["trash", async (browser) => browser.click("nav-trash"), [["heading", /Trash/]]],
  [
    "settings",
    async (browser) => {
      await browser.click("nav-settings");
      await browser.click("settings-appearance");
    },
    [["heading", /Appearance|Settings/]],
  ],
];

/** Roles of interactive elements, which need a name. */
const INTERACTIVE_ROLES =
  /button|entry|password text|check box|radio|combo box|link|menu item|list item|tab$|toggle|switch|spin|slider/;

/** Nodes of the window's accessibility tree; none if it cannot be read. */
function readAccessibilityTree() {
  const { code, stdout } = quiet(PYTHON_PATH, [TREE_SCRIPT, "mementory-app"]);
  if (code !== 0) return [];
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The test itself, inside the D-Bus session. */
async function runInside() {
  const home = mkdtempSync(join(tmpdir(), "mementory-spoken-"));
  const vault = new Vault(home).create();
  for (const name of ["chatgpt-export.zip", "claude-export.zip"])
    vault.must("import", join(ROOT, "fixtures", "samples", name));
  vault.must("add", "--text-file", vault.write("secret.txt", `The deploy token is ${SECRET_TOKEN} for now.`));
  const display = await Display.start(homeWithRecentVaults(home, vault.path), { spoken: true });
  try {
    const browser = await Browser.open(await display.driver(), built("mementory-app"));
    await browser.find("unlock-passphrase");
    for (const [name, go, wanted] of SCREENS) {
      await go(browser);
      await browser.drawn();
      let nodes = [];
      const missing = () =>
        wanted.filter(([role, words]) => !nodes.some((node) => node.role === role && words.test(node.name)));
      // The accessibility tree is updated a moment after the page.
      await until(`the tree of ${name}`, () => {
        nodes = readAccessibilityTree();
        return missing().length === 0;
      }).catch(() => {});
      const nameless = nodes.filter((node) => node.focusable && INTERACTIVE_ROLES.test(node.role) && !node.name.trim());
      const leaking = nodes.filter((node) => name === "sensitive" && node.name.includes(SECRET_TOKEN.slice(4)));
      for (const [role, words] of missing()) console.log(`${name}: no ${role} called ${words}`);
      for (const node of nameless) console.log(`${name}: a ${node.role} without a name`);
      reportStep(
        `a screen reader can use: ${name} (${nodes.length} nodes)`,
        nodes.length > 0 && missing().length === 0 && nameless.length === 0 && leaking.length === 0,
      );
    }
    await browser.close();
  } finally {
    await display.stopAndRemove(home);
  }
}

if (process.argv[1] === HERE && process.argv[2] === "inside")
  await runInside().catch((error) => {
    console.log(error.message);
    process.exitCode = 1;
  });
