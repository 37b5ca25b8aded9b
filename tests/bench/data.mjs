// What is measured with: generated exports, kept in the cache folder.
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { SHARED } from "../cli/mementory.mjs";
import { CACHE } from "../tools/places.mjs";
import { must } from "../tools/sh.mjs";

const GENERATOR = join(SHARED, "exports", "gen_exports.py");
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
