// Imports unique words into a vault. Then searches every raw file of the vault, every temporary file and all output of
// the program for them, in plain text (UTF-8, lower case, UTF-16) and base64. After an erasure they must not be found
// in any of these forms.
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { conversation, zip } from "./generated.mjs";
import { Vault, inFolder } from "./mementory.mjs";

/** One word for each place that can contain text. No word contains another. */
const CANARY_WORDS = {
  title: "quixotryTitle7310",
  text: "zephyrlineText2846",
  answer: "brindleAnswer5529",
  file: "ochrevaleFile6618",
  bytes: "tamarackBytes9054",
  memory: "sorreltopMemory1187",
  tag: "galliardTag4402",
  hand: "pelagicHand3371",
  note: "umberlyNote8026",
  passphrase: "heronwick",
};
const PASSPHRASE = `${CANARY_WORDS.passphrase} seven marigold lanterns`;
/** Commands that print record text; no other output may contain the words. */
const TEXT_COMMANDS = ["list", "show", "thread", "search", "erase --dry-run"];

/** Imports the words, searches for them, erases them, searches for them again and imports them again. */
export async function testCanaries(count) {
  await inFolder(async (folder) => {
    const problems = [];
    const outputs = [];
    const vault = new Vault(folder);
    vault.write("passphrase.txt", `${PASSPHRASE}\n`);
    const runUnrecorded = vault.run.bind(vault);
    vault.run = (...args) => {
      const result = runUnrecorded(...args);
      const name = args.includes("--dry-run") ? `${args[0]} --dry-run` : args[0];
      if (!TEXT_COMMANDS.includes(name)) outputs.push([args.join(" "), result.stdout]);
      outputs.push([`${args.join(" ")} (errors)`, result.stderr]);
      return result;
    };
    vault.create();
    const exportPath = vault.write("export.zip", makeExport());
    vault.must("import", exportPath, "--dry-run");
    const { memories } = vault.must("--progress", "import", exportPath);
    if (memories !== 1) problems.push(`${memories} memories imported, not 1`);
    const handwrittenId = vault.must(
      "add",
      "--text-file",
      vault.write("hand.txt", `By hand: ${CANARY_WORDS.hand}.`),
      "--tag",
      CANARY_WORDS.tag,
    ).id;
    vault.must("edit", handwrittenId, "--text-file", vault.write("note.txt", `Now: ${CANARY_WORDS.note}.`));
    for (const args of [
      ["--vault", join(folder, "nowhere"), "info"],
      ["show", CANARY_WORDS.text],
      ["redact", handwrittenId, "--span", "0:999"],
    ])
      vault.run(...args);

    const searchable = Object.entries(CANARY_WORDS).filter(([name]) => !["bytes", "passphrase"].includes(name));
    for (const [name, word] of searchable)
      if (name !== "hand" && vault.must("search", word).total === 0)
        problems.push(`${name} is not found by search, so its absence elsewhere proves nothing`);
    problems.push(...findWords(vault, outputs).map((text) => `before the erasure: ${text}`));
    count.add("canaries: no plain text on disk before the erasure", report(problems));

    const leftovers = [];
    const allIds = vault
      .list()
      .filter(({ kind }) => kind !== "foreign" && kind !== "message")
      .map(({ id }) => id);
    const { code, answer } = vault.run("erase", ...allIds, "--with-copies");
    const failed = answer.receipt?.places.filter(({ outcome }) => outcome === "failed");
    if (code !== 0 || failed.length > 0)
      leftovers.push(`erase ended with ${code}: ${JSON.stringify(failed ?? answer)}`);
    const remainingRecords = vault.list();
    const remainingText =
      JSON.stringify(remainingRecords) +
      remainingRecords.map(({ id }) => runUnrecorded("show", id, "--history", "--verbatim").stdout).join("");
    for (const [name, word] of searchable) {
      if (remainingText.includes(word))
        leftovers.push(
          `${name} is still in a record: ${remainingText.slice(Math.max(0, remainingText.indexOf(word) - 200)).slice(0, 300)}`,
        );
      const { total } = vault.must("search", word);
      if (total > 0) leftovers.push(`${name} is still found`);
    }
    for (const quiet of [["tombstones"], ["audit", "--verify"], ["imports"], ["info"]]) {
      const { stdout } = runUnrecorded(...quiet);
      for (const [name, word] of searchable) if (stdout.includes(word)) leftovers.push(`${quiet[0]} says ${name}`);
    }
    leftovers.push(...findWords(vault, outputs));
    const reimport = vault.must("import", exportPath);
    if (reimport.added + reimport.updated > 0)
      leftovers.push(
        `the export brings back ${reimport.added} and ${reimport.updated}: ${JSON.stringify(reimport.by_kind)}`,
      );
    for (const [name, word] of searchable)
      if (vault.must("search", word).total > 0) leftovers.push(`${name} came back with the export`);
    if (!vault.must("check").ok) leftovers.push("the check fails");
    count.add("canaries: erased on every route, and no import brings them back", report(leftovers));
  });
}

/**
 * Checks that a conversion removes its temporary vault, and that the temporary vault of a killed conversion contains no
 * plain text.
 */
export async function testConversionLeavesNothing(count) {
  await inFolder(async (folder) => {
    const vault = new Vault(folder);
    const words = Object.keys(CANARY_WORDS).filter((name) => !["hand", "note", "tag", "passphrase"].includes(name));
    const input = vault.write("export.zip", makeExport());
    const args = ["--progress", "convert", input, "--format", "mif", join(folder, "out.json")];
    vault.must(...args);
    const leftFiles = readdirSync(vault.scratch);
    count.add("canaries: a conversion removes its temporary vault", report(leftFiles.map((name) => `left: ${name}`)));

    rmSync(join(folder, "out.json"));
    const files = await filesOfKilled(vault, args);
    const problems = findWords({ ...vault, path: vault.scratch }, []);
    if (!files.some((name) => name.endsWith("store.db"))) problems.push(`there is no temporary vault: ${files}`);
    count.add(`canaries: ${words.length} words are not in the temporary vault of a conversion`, report(problems));
  });
}

/** Kills a command as soon as its export begins. Returns the names of the temporary files that it left. */
async function filesOfKilled(vault, args) {
  const child = vault.start(args, { stdio: ["ignore", "ignore", "pipe"] });
  child.stderr.on("data", (lines) => lines.includes('"write"') && child.kill("SIGKILL"));
  await new Promise((resolve) => child.on("close", resolve));
  return readdirSync(vault.scratch, { recursive: true });
}

/** A ChatGPT export with a unique word in every place. */
function makeExport() {
  const id = "file-Canary0000000000000001";
  const name = `${CANARY_WORDS.file}.txt`;
  const chat = conversation("canary", CANARY_WORDS.title, [
    {
      role: "user",
      text: `Please keep ${CANARY_WORDS.text} in mind.`,
      files: [{ id, name, size: 30, mime_type: "text/plain" }],
    },
    { role: "assistant", text: `Likes ${CANARY_WORDS.memory}.`, to: "bio" },
    { role: "assistant", text: `I keep ${CANARY_WORDS.answer}.` },
  ]);
  return zip([
    ["conversations.json", JSON.stringify([chat])],
    ["user.json", JSON.stringify({ id: "user-canary", email: "canary@example.org" })],
    [`${id}-${name}`, `Some ${CANARY_WORDS.bytes} in a file.`],
  ]);
}

/** Returns one line for each canary word and each of its encodings that a file or an output contains. */
function findWords(vault, printed) {
  const files = [vault.path, vault.scratch]
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const places = [
    ...files.map((path) => [
      path.slice(vault.folder.length + 1),
      Buffer.concat([Buffer.from(path), readFileSync(path)]),
    ]),
    ...printed.map(([command, text]) => [`what ${command} printed`, Buffer.from(text)]),
  ];
  return places.flatMap(([place, bytes]) =>
    Object.entries(CANARY_WORDS).flatMap(([name, word]) =>
      encodings(word)
        .filter(([, encoded]) => bytes.includes(encoded))
        // The import report names files of the export, so the file name may be in it.
        .filter(() => !(name === "file" && /import .*export\.zip/.test(place)))
        .map(([how]) => `${name} is in ${place} (${how})`),
    ),
  );
}

/** Encodings of a word: plain, in lower case, UTF-16, and base64 at each of its three alignments. */
function encodings(word) {
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.from("x".repeat(shift) + word).toString("base64");
    // Cut off the characters that also depend on neighbouring bytes.
    return [`base64 at ${shift}`, Buffer.from(text.slice(shift ? 4 : 0, -4))];
  });
  return [
    ["clear", Buffer.from(word)],
    ["lower case", Buffer.from(word.toLowerCase())],
    ["UTF-16LE", Buffer.from(word, "utf16le")],
    ["UTF-16BE", Buffer.from(word, "utf16le").swap16()],
    ...base64,
  ];
}

function report(problems) {
  problems.forEach((problem) => console.log(`  canaries: ${problem}`));
  return problems.length === 0;
}
