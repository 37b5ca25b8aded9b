// Checks the permissions in the Flatpak manifest against the list of those that the program may have.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { WORKSPACE } from "../places.mjs";

export const MANIFEST = join(WORKSPACE, "packaging", "app.mementory.desktop.yml");
const SCREEN_SAVERS = ["freedesktop", "gnome", "cinnamon", "mate", "xfce"].map(
  (desktop) => `org.${desktop}.ScreenSaver`,
);

/**
 * The permissions that the manifest may request, each with the reason. All others are refused: network, folders,
 * devices.
 */
const ALLOWED = {
  "--socket=wayland": "the window",
  "--socket=fallback-x11": "the window, on a desktop without Wayland",
  "--share=ipc": "X11 needs it for shared memory",
  "--system-talk-name=org.freedesktop.login1": "the vault locks before sleep and with the session",
  ...Object.fromEntries(SCREEN_SAVERS.map((name) => [`--talk-name=${name}`, "the vault locks with the screen"])),
};

/** The items of the list `key` in a manifest, without comments between the items. */
export function listAt(manifest, key) {
  const lines = manifest.split("\n");
  const start = lines.findIndex((line) => line.trim() === `${key}:`);
  const after = start < 0 ? [] : lines.slice(start + 1);
  const end = after.findIndex((line) => !/^\s*(?:-|#)/.test(line));
  const items = after.slice(0, end < 0 ? after.length : end).map((line) => line.trim());
  return items.filter((line) => line.startsWith("- ")).map((line) => line.slice(2));
}

/** Problems: a permission that is not allowed, and one that the program needs and the manifest lacks. */
export function flatpakPermissions(manifest = readFileSync(MANIFEST, "utf8")) {
  const options = listAt(manifest, "finish-args");
  // A second list, for example of a module, would be merged or ignored, depending on its place.
  const lists = manifest.match(/^\s*finish-args:/gm)?.length ?? 0;
  return [
    ...(lists === 1 ? [] : [`the Flatpak manifest has ${lists} lists of permissions`]),
    ...options
      .filter((option) => !Object.hasOwn(ALLOWED, option))
      .map((option) => `the Flatpak manifest grants ${option}`),
    ...Object.keys(ALLOWED)
      .filter((option) => !options.includes(option))
      .map((option) => `the Flatpak manifest lacks ${option} (${ALLOWED[option]})`),
  ];
}
