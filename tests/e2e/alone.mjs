// Shows hostile content in the real window, in a network namespace without any route. No script may run, and no packet
// may be sent: the kernel counts packets that reach nobody.
import { mkdtempSync, writeFileSync } from "node:fs";
import { lookup } from "node:dns/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PASSPHRASE, Vault } from "../cli/mementory.mjs";
import { findProblems, recordViolations } from "../screens/hostile-page.mjs";
import { hostileCases } from "../screens/hostile.mjs";
import { UNSHARE, findNamespaceProblem, undeliveredPackets } from "../tools/no_network.mjs";
import { built } from "../tools/places.mjs";
import { cargoTool } from "../tools/setup.mjs";
import { quiet } from "../tools/sh.mjs";
import { reportStep, runInSubprocess } from "./subprocess.mjs";
import { Display, homeWithRecentVaults } from "./display.mjs";
import { Browser, until } from "./webdriver.mjs";

const HERE = fileURLToPath(import.meta.url);
/** An address reserved for documentation (RFC 5737), so it is never reachable. */
const UNREACHABLE = "192.0.2.1";
/** A name that no name server knows (RFC 6761), so it is in no cache. */
const UNKNOWN_NAME = "nowhere.invalid";
/** Maximum length of a text that this test shows, in UTF-16 code units. */
const MAX_TEXT_UNITS = 50_000;

/** Runs the test in a subprocess inside the network namespace. */
export async function testOffline(count) {
  const skipReason = findNamespaceProblem();
  if (skipReason) return count.leaveOut(`the window in a network of its own: ${skipReason}`);
  await cargoTool("tauri-driver", "^2");
  await runInSubprocess(count, "the window in a network of its own", UNSHARE, HERE);
}

/** Tries to connect to the unreachable address. Resolves when the attempt has ended, whether or not it failed. */
const connectOutside = () =>
  new Promise((done) => {
    const socket = connect({ host: UNREACHABLE, port: 80 });
    socket.on("error", () => done());
    socket.on("connect", () => (socket.destroy(), done()));
  });

/** Writes two exports whose conversations and memories have these texts. */
function writeExports(folder, cases) {
  const conversations = cases.map(({ name, text }, n) => {
    const id = `hostile-${String(n).padStart(4, "0")}`;
    const at = 1_700_000_000 - n * 60;
    return {
      id,
      conversation_id: id,
      title: text.slice(0, 500) || name,
      create_time: at,
      update_time: at,
      current_node: `${id}-1`,
      mapping: {
        [`${id}-0`]: { id: `${id}-0`, message: null, parent: null, children: [`${id}-1`] },
        [`${id}-1`]: {
          id: `${id}-1`,
          parent: `${id}-0`,
          children: [],
          message: {
            id: `${id}-1`,
            author: { role: "assistant" },
            create_time: at,
            content: { content_type: "text", parts: [text] },
          },
        },
      },
    };
  });
  const memories = cases
    // Leave out empty texts, because a memory needs text.
    .filter(({ text }) => text.trim())
    .map(({ text }, n) => ({ id: `m-${n}`, memory: text, categories: [text.slice(0, 60)] }));
  const files = { "conversations.json": conversations, "mem0.json": memories };
  return Object.entries(files).map(([name, content]) => {
    writeFileSync(join(folder, name), JSON.stringify(content));
    return join(folder, name);
  });
}

/**
 * Visits every row of a section's list with the arrow key and passes what goes wrong to `note`. Returns the number of
 * rows.
 */
async function visitRows(browser, section, shown, note) {
  await browser.click(`nav-${section}`);
  await browser.find("list-row");
  const total = await browser.run(
    "() => Number(document.querySelector('[data-testid=list-row]').getAttribute('aria-setsize'))",
  );
  await browser.run("() => void document.querySelector('main [role=listbox]').focus()");
  await browser.keys("\uE011");
  for (let n = 1; n <= total; n += 1) {
    if (n > 1) await browser.keys("\uE015");
    await until(`row ${n} of ${section}`, () =>
      browser.run(
        `(n, shown) => document.querySelector('[role=option].active')?.getAttribute("aria-posinset") === String(n) && document.querySelector(shown) !== null`,
        n,
        shown,
      ),
    );
    await browser.drawn();
    note(await browser.run(String(findProblems), { search: "" }), `${section}, row ${n}`);
    await browser.run("() => void document.querySelector('main [role=listbox]').focus()");
  }
  return total;
}

/** The test itself, inside the network namespace. */
async function runInside() {
  quiet("ip", ["link", "set", "lo", "up"]);
  for (const [what, attempt] of [
    ["a packet without a route", connectOutside],
    ["the lookup of a name", () => lookup(UNKNOWN_NAME).catch(() => {})],
  ]) {
    const before = undeliveredPackets();
    await attempt();
    reportStep(`${what} is counted`, undeliveredPackets() > before);
  }

  const home = mkdtempSync(join(tmpdir(), "mementory-alone-"));
  // Very long texts are tested in Chromium, because here they would take longer than the deadline of WebDriver.
  const cases = hostileCases().filter(({ text }) => text.length <= MAX_TEXT_UNITS);
  const vault = new Vault(home).create();
  const added = writeExports(home, cases).map((path) => vault.must("import", path));
  reportStep(
    "hostile texts are imported",
    added.every(({ failed }) => failed === 0),
  );
  const display = await Display.start(homeWithRecentVaults(home, vault.path));
  try {
    const browser = await Browser.open(await display.driver(), built("mementory-app"));
    await display.moveToCorner("Mementory");
    await browser.run(`() => { (${recordViolations})(); return true; }`);
    await browser.type("unlock-passphrase", PASSPHRASE);
    await browser.click("unlock-submit");
    await browser.find("home");
    const faults = new Map();
    const note = (found, where) =>
      found.forEach((what) => faults.set(what, (faults.get(what) ?? new Set()).add(where)));
    const packetsBefore = undeliveredPackets();
    const rowCounts = {
      memories: await visitRows(browser, "memories", "[data-testid=detail-text]", note),
      conversations: await visitRows(browser, "conversations", "[data-testid=reader-message]", note),
    };
    const packets = undeliveredPackets() - packetsBefore;
    for (const [what, places] of faults) console.log(`${what}\n    on ${[...places].slice(0, 4).join("; ")}`);
    reportStep(
      `nothing hostile runs or breaks out of its place in the real window (${rowCounts.memories} memories, ${rowCounts.conversations} conversations)`,
      faults.size === 0 && Object.values(rowCounts).every((n) => n >= cases.length - 5),
    );
    if (packets > 0) console.log(`${packets} packets that reached nobody`);
    reportStep("the window sends nothing to any network", packets === 0);
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
