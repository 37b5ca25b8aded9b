// Words that nobody else has go through a vault, and every raw file of it, every scratch file and everything that the
// program printed is searched for them: in clear (UTF-8, UTF-16) and as base64. Then they are erased, and searched for again
// on every route.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { conversation, zip } from "./generated.mjs";
import { Vault, inFolder } from "./mementory.mjs";

/** One word for each place that words can stand in; each is no part of another. */
const WORDS = {
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
const PASSPHRASE = `${WORDS.passphrase} seven marigold lanterns`;
/** Commands whose answer is the record itself; everything else has to be silent about words. */
const LOUD = ["list", "show", "thread", "search", "erase --dry-run"];

/** The whole life of the words. */
export async function canaries(count) {
  await inFolder(async (folder) => {
    const problems = [];
    const printed = [];
    const vault = new Vault(folder);
    vault.write("passphrase.txt", `${PASSPHRASE}\n`);
    const plain = vault.run.bind(vault);
    vault.run = (...args) => {
      const result = plain(...args);
      const name = args.includes("--dry-run") ? `${args[0]} --dry-run` : args[0];
      if (!LOUD.includes(name)) printed.push([args.join(" "), result.stdout]);
      printed.push([`${args.join(" ")} (errors)`, result.stderr]);
      return result;
    };
    vault.create();
    const imported = vault.write("export.zip", exported());
    vault.must("import", imported, "--dry-run");
    const { memories } = vault.must("--progress", "import", imported);
    if (memories !== 1) problems.push(`${memories} memories imported, not 1`);
    const hand = vault.must(
      "add",
      "--text-file",
      vault.write("hand.txt", `By hand: ${WORDS.hand}.`),
      "--tag",
      WORDS.tag,
    ).id;
    vault.must("edit", hand, "--text-file", vault.write("note.txt", `Now: ${WORDS.note}.`));
    for (const args of [
      ["--vault", join(folder, "nowhere"), "info"],
      ["show", WORDS.text],
      ["redact", hand, "--span", "0:999"],
    ])
      vault.run(...args);

    const there = Object.entries(WORDS).filter(([name]) => !["bytes", "passphrase"].includes(name));
    for (const [name, word] of there)
      if (name !== "hand" && vault.must("search", word).total === 0)
        problems.push(`${name} is not found, so nothing is proved`);
    problems.push(...scan(vault, printed).map((text) => `kept: ${text}`));
    count.add("canaries: nothing in clear while they are kept", report(problems));

    const after = [];
    const everything = vault
      .list()
      .filter(({ kind }) => kind !== "foreign" && kind !== "message")
      .map(({ id }) => id);
    const { code, answer } = vault.run("erase", ...everything, "--with-copies");
    const failed = answer.receipt?.places.filter(({ outcome }) => outcome === "failed");
    if (code !== 0 || failed.length > 0) after.push(`erase ended with ${code}: ${JSON.stringify(failed ?? answer)}`);
    const remaining = vault.list();
    const left =
      JSON.stringify(remaining) +
      remaining.map(({ id }) => plain("show", id, "--history", "--verbatim").stdout).join("");
    for (const [name, word] of there) {
      if (left.includes(word))
        after.push(
          `${name} is still told by a record: ${left.slice(Math.max(0, left.indexOf(word) - 200)).slice(0, 300)}`,
        );
      const { total } = vault.must("search", word);
      if (total > 0) after.push(`${name} is still found`);
    }
    for (const quiet of [["tombstones"], ["audit", "--verify"], ["imports"], ["info"]]) {
      const { stdout } = plain(...quiet);
      for (const [name, word] of there) if (stdout.includes(word)) after.push(`${quiet[0]} says ${name}`);
    }
    after.push(...scan(vault, printed));
    const again = vault.must("import", imported);
    if (again.added + again.updated > 0)
      after.push(`the export brings back ${again.added} and ${again.updated}: ${JSON.stringify(again.by_kind)}`);
    for (const [name, word] of there)
      if (vault.must("search", word).total > 0) after.push(`${name} came back with the export`);
    if (!vault.must("check").ok) after.push("the check fails");
    count.add("canaries: erased on every route, and no import brings them back", report(after));
  });
}

/** A ChatGPT export, as an archive, with a word of its own in every place. */
function exported() {
  const id = "file-Canary0000000000000001";
  const name = `${WORDS.file}.txt`;
  const chat = conversation("canary", WORDS.title, [
    {
      role: "user",
      text: `Please keep ${WORDS.text} in mind.`,
      files: [{ id, name, size: 30, mime_type: "text/plain" }],
    },
    { role: "assistant", text: `Likes ${WORDS.memory}.`, to: "bio" },
    { role: "assistant", text: `I keep ${WORDS.answer}.` },
  ]);
  return zip([
    ["conversations.json", JSON.stringify([chat])],
    ["user.json", JSON.stringify({ id: "user-canary", email: "canary@example.org" })],
    [`${id}-${name}`, `Some ${WORDS.bytes} in a file.`],
  ]);
}

/** Where a word stands that must not stand anywhere. */
function scan(vault, printed) {
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
    Object.entries(WORDS).flatMap(([name, word]) =>
      spellings(word)
        .filter(([, spelling]) => bytes.includes(spelling))
        // Where something stands in an export is its path there: the report says names of files.
        .filter(() => !(name === "file" && /import .*export\.zip/.test(place)))
        .map(([how]) => `${name} stands in ${place} (${how})`),
    ),
  );
}

/** A word as bytes: in clear, in UTF-16, and in base64 at each of the three places it can begin. */
function spellings(word) {
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.from("x".repeat(shift) + word).toString("base64");
    // Characters that neighbours share are left out.
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
