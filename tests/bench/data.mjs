// What is measured with: generated exports, kept in the cache folder, and a bundle of memories.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CACHE, ROOT } from "../tools/places.mjs";
import { must } from "../tools/sh.mjs";

const GENERATOR = join(process.env.KEEPSAKE_SHARED || join(ROOT, "..", "shared"), "exports", "gen_exports.py");
const KEPT = join(CACHE, "bench");

/** Is the generator there? It is not part of this repository. */
export const generator = () => existsSync(GENERATOR);

/** A ChatGPT export and what is in it: {path, truth}. Generated once; the same arguments give the same bytes. */
export async function chatgpt(conversations, mb) {
  const path = join(KEPT, `chatgpt-${conversations}-${mb}.zip`);
  const truth = `${path}.truth.json`;
  if (!existsSync(path) || !existsSync(truth)) {
    mkdirSync(KEPT, { recursive: true });
    const half = `${path}.part`;
    const options = ["--conversations", conversations, "--mb", mb, "--out", half, "--truth", truth].map(String);
    await must("python3", [GENERATOR, "chatgpt", ...options]);
    renameSync(half, path);
  }
  return { path, truth: JSON.parse(readFileSync(truth, "utf8")) };
}

const WORDS =
  "always asks for short answers with sources lives near the harbour walks to work prefers metric units trains for a long run keeps bees reads before sleep plays the cello".split(
    " ",
  );

/** A valid `.mem` bundle of this many memories, each with its own words. */
export function memories(folder, count) {
  mkdirSync(join(folder, "items"), { recursive: true });
  const hash = (data) => createHash("sha256").update(data).digest("hex");
  const start = Date.UTC(2024, 0, 1);
  const stamp = (i) => new Date(start + i * 600_000).toISOString().replace(".000Z", "Z");
  const lines = Array.from({ length: count }, (_, i) => {
    const words = Array.from({ length: 24 }, (_, k) => WORDS[(i * 7 + k * k + k * (i % 11)) % WORDS.length]);
    const text = `Memory ${i}: ${words.join(" ")}.`;
    // Canonical JSON: the members in order of their names, no spaces.
    return JSON.stringify({
      accessCount: 0,
      actors: [],
      categories: [],
      confidence: 0.7,
      details: text,
      eventTime: stamp(i),
      extractionState: "done",
      id: `ep_${String(i).padStart(6, "0")}`,
      importance: 0.5,
      ingestionTime: stamp(i),
      lifecycleState: "HOT",
      mentionTime: stamp(i),
      metadata: {},
      pinned: false,
      sensitivity: "low",
      sourceType: "note",
      summary: text,
      vaultRefs: [],
    });
  });
  const episodes = Buffer.from(`${lines.join("\n")}\n`);
  const file = { bytes: episodes.length, path: "items/episode.jsonl", sha256: hash(episodes) };
  const sums = `${file.sha256}  ${file.path}\n`;
  const manifest = {
    bundleDigest: hash(sums),
    capabilities: ["tombstones", "ext"],
    conformanceLevel: "L2",
    counts: { episode: count },
    coverage: { from: stamp(0), to: stamp(count - 1) },
    createdAt: "2026-03-01T00:00:00Z",
    embeddingDim: 0,
    embeddingModel: "",
    embeddingsIncluded: false,
    exportMode: "full",
    files: [file],
    format: "1.1.0",
    generator: "keepsake-bench/1",
    schemaVersion: 1,
  };
  writeFileSync(join(folder, "items", "episode.jsonl"), episodes);
  writeFileSync(join(folder, "CHECKSUMS"), sums);
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  return { path: folder, bytes: episodes.length };
}
