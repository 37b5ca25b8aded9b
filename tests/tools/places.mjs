// Paths of the repository, of builds and of downloads. Builds and downloads are outside the clone, in one cache folder.
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
export const WORKSPACE = join(ROOT, "src-tauri");
export const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "mementory");
export const TARGET = process.env.CARGO_TARGET_DIR || join(CACHE, "target");
/** Folder of programs that are installed for the tests: cargo tools and the Python environment. */
export const TOOLS = join(CACHE, "tools");

/** Path of a program of ours. It is built with the dev profile, unless MEMENTORY_PROFILE says `release`. */
export function built(name) {
  return join(TARGET, process.env.MEMENTORY_PROFILE ?? "debug", process.platform === "win32" ? `${name}.exe` : name);
}
