// Generates memories for the benchmarks: `.mem` bundles and a PAM store. The same arguments produce the same bytes.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FIRST_TIME_MS = Date.UTC(2024, 0, 1);
const REPEATED_WORDS =
  "always asks for short answers with sources lives near the harbour walks to work prefers metric units trains for a long run keeps bees reads before sleep plays the cello".split(
    " ",
  );
const SYLLABLES =
  "ba be bi bo da de di do fa fe fi ga ge go ha he hi ho ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe pi po ra re ri ro sa se si so ta te ti to va ve vi vo nar sol ten bur lin mor gar hav dun rim tal".split(
    " ",
  );

const sha256Hex = (data) => createHash("sha256").update(data).digest("hex");
const timestamp = (i) => new Date(FIRST_TIME_MS + i * 600_000).toISOString().replace(".000Z", "Z");

/** Text from a few repeated words, which compresses well. */
export function repetitiveText(i) {
  const words = Array.from(
    { length: 24 },
    (_, k) => REPEATED_WORDS[(i * 7 + k * k + k * (i % 11)) % REPEATED_WORDS.length],
  );
  return `Memory ${i}: ${words.join(" ")}.`;
}

const VOCABULARY_SIZE = 20_000;

/** Word number `n` of the vocabulary. Words with small numbers are short; `variedText` takes them most often. */
function makeWord(n) {
  let text = SYLLABLES[n % SYLLABLES.length];
  for (let remainder = n; remainder >= SYLLABLES.length;) {
    remainder = Math.floor(remainder / SYLLABLES.length);
    text += SYLLABLES[(remainder * 7) % SYLLABLES.length];
  }
  return text;
}

/**
 * Text from a large vocabulary with frequent and rare words. It compresses to about two fifths of its size, like texts
 * that people write.
 */
export function variedText(i) {
  let state = (i * 2_654_435_761) >>> 0;
  const nextFraction = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const words = Array.from({ length: 24 }, () => makeWord(Math.floor(VOCABULARY_SIZE * nextFraction() ** 2)));
  return `Memory ${i}: ${words.join(" ")}.`;
}

const episodeId = (i) => `ep_${String(i).padStart(6, "0")}`;

/** Episode number `i` as a line of canonical JSON: members sorted by name, no spaces. */
function episodeLine(i, text, mentioned = timestamp(i)) {
  return JSON.stringify({
    accessCount: 0,
    actors: [],
    categories: [],
    confidence: 0.7,
    details: text,
    eventTime: timestamp(i),
    extractionState: "done",
    id: episodeId(i),
    importance: 0.5,
    ingestionTime: timestamp(i),
    lifecycleState: "HOT",
    mentionTime: mentioned,
    metadata: {},
    pinned: false,
    sensitivity: "low",
    sourceType: "note",
    summary: text,
    vaultRefs: [],
  });
}

function tombstoneLine(i) {
  return JSON.stringify({
    actor: "bench",
    deletedAt: "2026-03-02T00:00:00Z",
    derived: {
      chunkIDs: [],
      edgeIDs: [],
      embeddingCacheKeys: [],
      entityIDs: [],
      episodeLinkCount: 0,
      factIDs: [],
      sentenceIDs: [],
    },
    id: `tomb_${String(i).padStart(6, "0")}`,
    op: "delete",
    targetID: episodeId(i),
    targetKind: "episode",
  });
}

/**
 * Writes a valid `.mem` bundle with `count` memories, no two with the same text. Returns {path, lines, bytes}: the
 * folder of the bundle, the file with its episodes, and its size.
 */
export function writeMemories(folder, count, text = repetitiveText) {
  return writeBundle(
    folder,
    Array.from({ length: count }, (_, i) => i),
    (i) => episodeLine(i, text(i)),
  );
}

/**
 * Writes a bundle of changes to the bundle of `count` memories: `changed` memories with new texts, `added` new memories
 * and `removed` deletions.
 */
export function writeChanges(folder, count, { changed, added, removed }, text) {
  const interval = Math.floor(count / (changed + removed));
  const affectedNumbers = Array.from({ length: changed + removed }, (_, i) => i * interval);
  const newNumbers = Array.from({ length: added }, (_, i) => count + i);
  const changedNumbers = new Set(affectedNumbers.slice(0, changed));
  const line = (i) =>
    changedNumbers.has(i)
      ? episodeLine(i, `${text(i)} Not so any more.`, "2026-03-01T12:00:00Z")
      : episodeLine(i, text(i));
  return writeBundle(folder, [...changedNumbers, ...newNumbers], line, affectedNumbers.slice(changed));
}

function writeBundle(folder, numbers, line, deleted = []) {
  const lines = (lineNumbers, make) => Buffer.from(lineNumbers.map((i) => `${make(i)}\n`).join(""));
  const contents = { "items/episode.jsonl": lines(numbers, line) };
  if (deleted.length > 0) contents["audit/tombstones.jsonl"] = lines(deleted, tombstoneLine);
  const files = Object.keys(contents)
    .sort()
    .map((path) => ({ bytes: contents[path].length, path, sha256: sha256Hex(contents[path]) }));
  const sums = files.map((file) => `${file.sha256}  ${file.path}\n`).join("");
  const manifest = {
    bundleDigest: sha256Hex(sums),
    capabilities: ["tombstones", "ext"],
    conformanceLevel: "L2",
    counts: { episode: numbers.length, ...(deleted.length > 0 && { tombstone: deleted.length }) },
    coverage: { from: timestamp(Math.min(...numbers)), to: timestamp(Math.max(...numbers)) },
    createdAt: "2026-03-01T00:00:00Z",
    embeddingDim: 0,
    embeddingModel: "",
    embeddingsIncluded: false,
    exportMode: "full",
    files,
    format: "1.1.0",
    generator: "mementory-bench/1",
    schemaVersion: 1,
  };
  mkdirSync(join(folder, "items"), { recursive: true });
  if (deleted.length > 0) mkdirSync(join(folder, "audit"));
  for (const { path } of files) writeFileSync(join(folder, path), contents[path]);
  writeFileSync(join(folder, "CHECKSUMS"), sums);
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  return { path: folder, lines: join(folder, "items", "episode.jsonl"), bytes: files.reduce((n, f) => n + f.bytes, 0) };
}

/** Writes a valid PAM store with `count` memories, indented by two spaces per level as the SDK does. */
export function writePamStore(path, count, text) {
  const all = Array.from({ length: count }, (_, i) => {
    const content = text(i);
    // Members sorted by name, so that `JSON.stringify` produces canonical JSON.
    return {
      confidence: { current: 0.7, initial: 0.5 },
      content,
      content_hash: `sha256:${sha256Hex(content.toLowerCase())}`,
      id: `m-${String(i).padStart(6, "0")}`,
      provenance: { extracted_at: timestamp(i), extraction_method: "api_export", platform: "chatgpt" },
      status: "active",
      tags: ["bench"],
      temporal: { created_at: timestamp(i), updated_at: timestamp(i + 1) },
      type: "fact",
    };
  });
  const store = {
    schema: "portable-ai-memory",
    schema_version: "1.0",
    export_id: "bench",
    exported_by: "mementory-bench/1.0.0",
    export_date: "2026-03-01T00:00:00Z",
    owner: { id: "someone" },
    memories: all,
    relations: [],
    conversations_index: [],
    integrity: {
      canonicalization: "RFC8785",
      checksum: `sha256:${sha256Hex(JSON.stringify(all))}`,
      total_memories: count,
    },
    export_type: "full",
  };
  const bytes = Buffer.from(`${JSON.stringify(store, null, 2)}\n`);
  writeFileSync(path, bytes);
  return { path, bytes: bytes.length };
}
