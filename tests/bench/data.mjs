// Generates ChatGPT exports for the benchmarks and caches them in a folder.
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { SHARED } from "../cli/mementory.mjs";
import { CACHE } from "../tools/places.mjs";
import { must } from "../tools/sh.mjs";

const GENERATOR_SCRIPT = join(SHARED, "exports", "gen_exports.py");
const EXPORT_CACHE_FOLDER = join(CACHE, "bench");

/** Whether the generator exists. It is not part of this repository. */
export const hasGenerator = () => existsSync(GENERATOR_SCRIPT);

/**
 * Returns a ChatGPT export and its expected content: {path, truth}. Generates the export if it is not cached. The same
 * arguments produce the same bytes.
 */
export async function chatgptExport(conversations, mb) {
  const path = join(EXPORT_CACHE_FOLDER, `chatgpt-${conversations}-${mb}.zip`);
  const truth = `${path}.truth.json`;
  if (!existsSync(path) || !existsSync(truth)) {
    mkdirSync(EXPORT_CACHE_FOLDER, { recursive: true });
    const partial = `${path}.part`;
    const options = ["--conversations", conversations, "--mb", mb, "--out", partial, "--truth", truth].map(String);
    await must("python3", [GENERATOR_SCRIPT, "chatgpt", ...options]);
    renameSync(partial, path);
  }
  return { path, truth: JSON.parse(readFileSync(truth, "utf8")) };
}
