// Interop of whole chats: importers written by others load the ZIPs that we write in the form of ChatGPT's and Claude's
// exports. No vendor has confirmed that it accepts these ZIPs.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "../tools/places.mjs";
import { python } from "../tools/setup.mjs";
import { CLEAN_ENV } from "../cli/mementory.mjs";
import { quiet } from "../tools/sh.mjs";
import { openVault } from "./vault.mjs";

/** Pinned importers: one browses chat histories, one converts them to SQLite, and one makes local pages of them. */
const PYTHON_PACKAGES = ["chat-history==0.3.3", "chatgpt-to-sqlite==1.0.0", "logactyl==0.1.5"];
const SAMPLE_FOLDER = join(ROOT, "fixtures", "samples");
const SAMPLES = ["chatgpt-export.zip", "claude-export.zip"];
const UNZIP = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])";
const COUNT_ROWS =
  "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('select count(*) from conversations').fetchone()[0])";

/** Runs the importers on our ZIPs and adds their results to `count`. */
export async function chatsInterop(count) {
  const program = await python(PYTHON_PACKAGES);
  const folder = mkdtempSync(join(tmpdir(), "mementory-chats-"));
  try {
    checkImporters(count, program, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function checkImporters(count, program, folder) {
  const place = (name) => join(folder, name);
  const script = (name) => join(dirname(program), name);
  const mementory = openVault(place, "v");
  mementory("import", ...SAMPLES.map((name) => join(SAMPLE_FOLDER, name)));
  const exports = {};
  for (const vendor of ["chatgpt", "claude"]) {
    exports[vendor] = mementory("export", "--format", `${vendor}_zip`, place(`${vendor}.zip`));
    count.add(`the ZIP in ${vendor}'s shape is written and read back`, exports[vendor].validated === true);
    mkdirSync(place(vendor));
    quiet(program, ["-c", UNZIP, place(`${vendor}.zip`), place(vendor)]);
  }
  const conversations = (vendor) => JSON.parse(readFileSync(join(folder, vendor, "conversations.json"), "utf8"));
  const total = exports.chatgpt.by_kind.conversation;

  const env = {
    ...CLEAN_ENV,
    CHAT_HISTORY_DATA_DIR: place("history"),
    CHAT_HISTORY_CHATGPT_PATH: join(folder, "chatgpt", "conversations.json"),
    CHAT_HISTORY_CLAUDE_PATH: join(folder, "claude", "conversations.json"),
  };
  const inspected = quiet(script("chat-history"), ["inspect"], { cwd: folder, env });
  const loadedCount = (vendor) => Number(new RegExp(`'${vendor}': (\\d+)`).exec(inspected.stdout)?.[1] ?? -1);
  for (const vendor of ["chatgpt", "claude"])
    count.add(`chat-history loads all ${total} conversations in ${vendor}'s shape`, loadedCount(vendor) === total);

  quiet(script("chatgpt-to-sqlite"), ["export", env.CHAT_HISTORY_CHATGPT_PATH, place("chats.db")]);
  const rows = Number(quiet(program, ["-c", COUNT_ROWS, place("chats.db")]).stdout);
  count.add(`chatgpt-to-sqlite loads all ${total} conversations`, rows === total);

  const site = quiet(script("logactyl"), ["--claude-zip", place("claude.zip"), "-o", place("site"), "--overwrite"]);
  const spokenCount = conversations("claude").filter(({ chat_messages: messages }) => messages.length > 0).length;
  const pages = site.code === 0 ? readdirSync(join(place("site"), "Chat History")).filter(isPage).length : -1;
  count.add(`logactyl makes a page of each of the ${spokenCount} conversations with messages`, pages === spokenCount);
}

const isPage = (name) => name.endsWith(".html") && name !== "index.html";
