// Makes the seeds for a fuzz target, and a dictionary of the words in them. The seeds are the format's fixtures,
// encoded as the targets expect.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { ROOT } from "./places.mjs";

// Bytes that begin a file in a seed, as in src-tauri/fuzz/src/lib.rs.
const FILE_MARK = Buffer.from([0xff, 0x00, 0xff]);
const DIGEST_MARK = Buffer.from([0xff, 0x01, 0xff]);
const MAX_SEED_BYTES = 60_000;
const MAX_DICTIONARY_WORDS = 400;
const NON_INPUT_FILES = new Set(["case.json", "case.toml", "README.md", ".gitattributes"]);

/** The fixture folders of each target that does not simply use the folder with its own name. */
const FIXTURE_FOLDERS_OF_TARGET = {
  alf_delta: ["alf"],
  zaxy: ["zaxy", "eventloom"],
  eventloom: ["eventloom", "zaxy"],
  zeroclaw: ["openclaw"],
};
const SAMPLES_OF_TARGET = {
  chatgpt: ["chatgpt-export.zip"],
  claude: ["claude-export.zip"],
  transfer_text: ["chatgpt-saved-memories.txt"],
  container: ["chatgpt-export.zip", "claude-export.zip", "chatgpt-sensitive.zip"],
};

/** Writes seeds into `corpus` and a dictionary to `words`. Returns the number of seeds. */
export function writeSeeds(target, corpus, words) {
  mkdirSync(corpus, { recursive: true });
  const seeds = [
    ...seedsFromFixtures(target),
    ...seedsFromSamples(target),
    ...seedsFromFindings(target),
    ...(target === "header" ? headerSeeds() : []),
  ].filter((s) => s.length <= MAX_SEED_BYTES);
  for (const seed of seeds) writeFileSync(join(corpus, `seed-${digest(seed)}`), seed);
  writeFileSync(words, dictionaryText(seeds));
  return seeds.length;
}

export const digest = (bytes) => createHash("sha256").update(bytes).digest("hex").slice(0, 16);

/** Seeds from the inputs of the fixtures. */
function seedsFromFixtures(target) {
  return (FIXTURE_FOLDERS_OF_TARGET[target] ?? [target])
    .map((name) => join(ROOT, "fixtures", name))
    .filter(existsSync)
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((path) => statSync(path).isDirectory())
    .flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => !NON_INPUT_FILES.has(name))
        .map((name) => join(folder, name)),
    )
    .flatMap((input) => {
      const files = statSync(input).isDirectory() ? filesBelow(input, "") : [[basename(input), readFileSync(input)]];
      const seeds = [withMarks(files, FILE_MARK)];
      if (target === "mem") seeds.push(withMarks(files, DIGEST_MARK));
      if (target === "pam") seeds.push(withMarks(files.map(withoutChecksum), FILE_MARK));
      return seeds;
    });
}

/** Seeds from the sample exports. */
function seedsFromSamples(target) {
  return (SAMPLES_OF_TARGET[target] ?? [])
    .map((name) => readFileSync(join(ROOT, "fixtures", "samples", name)))
    .flatMap((bytes) =>
      bytes.subarray(0, 2).toString() === "PK" ? [bytes, withMarks(zipEntries(bytes), FILE_MARK)] : [bytes],
    );
}

/** Headers of vaults, from the test vectors. */
function headerSeeds() {
  const folder = join(ROOT, "fixtures", "crypto");
  const inputs = readdirSync(folder)
    .filter((name) => name.startsWith("header-"))
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")).input);
  return inputs.filter(({ text }) => text !== undefined).map(({ text }) => Buffer.from(text));
}

/** Inputs that earlier runs found, because they make good seeds. */
function seedsFromFindings(target) {
  const folder = join(ROOT, "fixtures", "fuzz", target);
  return existsSync(folder) ? readdirSync(folder).map((name) => readFileSync(join(folder, name))) : [];
}

function filesBelow(folder, prefix) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? filesBelow(join(folder, entry.name), `${prefix}${entry.name}/`)
      : [[`${prefix}${entry.name}`, readFileSync(join(folder, entry.name))]],
  );
}

const withMarks = (files, mark) =>
  Buffer.concat(files.flatMap(([name, content]) => [mark, Buffer.from(`${name}\n`), content]));

/** A PAM store without its checksum, because a reader would reject any changed byte. Other files stay as they are. */
function withoutChecksum([name, content]) {
  try {
    const store = JSON.parse(content.toString());
    delete store.integrity;
    return [name, Buffer.from(JSON.stringify(store))];
  } catch {
    return [name, content];
  }
}

/** Entries of one of our ZIP files, read from its central directory. */
function zipEntries(zip) {
  const files = [];
  let at = zip.readUInt32LE(zip.lastIndexOf("PK\x05\x06") + 16);
  while (zip.readUInt32LE(at) === 0x02014b50) {
    const [method, size] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 20)];
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field));
    const localHeader = zip.readUInt32LE(at + 42);
    const start = localHeader + 30 + zip.readUInt16LE(localHeader + 26) + zip.readUInt16LE(localHeader + 28);
    const bytes = zip.subarray(start, start + size);
    const name = zip.toString("utf8", at + 46, at + 46 + nameLength);
    files.push([name, method === 0 ? bytes : inflateRawSync(bytes)]);
    at += 46 + nameLength + extraLength + commentLength;
  }
  return files.filter(([name]) => !name.endsWith("/"));
}

/** The most frequent keys and short values of the seeds, in the fuzzer's dictionary format. */
function dictionaryText(seeds) {
  const counts = new Map();
  for (const seed of seeds) {
    for (const [word] of seed.toString("latin1").matchAll(/"[A-Za-z_@$:./-]{2,28}"/g)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  const common = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MAX_DICTIONARY_WORDS);
  const lines = [
    ...common.map(([word]) => word.slice(1, -1)),
    "\\xff\\x00\\xff",
    "\\xff\\x01\\xff",
    "\\\\ud800",
    "1e999",
  ];
  return `${lines.map((word) => `"${word}"`).join("\n")}\n`;
}
