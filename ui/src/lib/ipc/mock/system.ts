import type { Backend, WindowGuards } from "../backend";
import { failWith } from "./jobs";

type Commands = Pick<
  Backend,
  | "pathInfo"
  | "chooseFiles"
  | "chooseFolder"
  | "chooseSave"
  | "chooseVault"
  | "saveText"
  | "openLink"
  | "showInFolder"
  | "print"
  | "clipboardText"
  | "copyText"
  | "setPreference"
  | "setRememberVaults"
  | "windowGuards"
  | "systemStyle"
  | "onStyle"
  | "setLockWhenAway"
  | "setHideFromCapture"
>;

/**
 * Commands of the operating system. The person always picks the same files and folders. Every command succeeds at once,
 * except hiding the window from screenshots on Linux.
 */
export function sampleSystem(system = "linux"): Commands {
  const guards: WindowGuards = {
    system,
    lock_when_away: true,
    reports_lock_and_sleep: system === "linux",
    hide_from_capture: system !== "linux",
    can_hide: system !== "linux",
  };
  return {
    pathInfo: async (paths) =>
      paths.map((path) => {
        const folder = path.endsWith(".mem") || path.endsWith("Family.mementory");
        if (path.endsWith(".mementory")) return { path, folder, size: null };
        return { path, folder, size: folder ? null : path.endsWith(".zip") ? 1_800_000_000 : 4096 };
      }),
    chooseFiles: async () => [
      "/home/ines/Downloads/chatgpt-export-2026-11-21.zip",
      "/home/ines/ines-notes.mem",
      "/home/ines/about-me.md",
    ],
    chooseFolder: async () => "/home/ines",
    chooseSave: async (name) => `/home/ines/${name}`,
    chooseVault: async () => "/home/ines/Documents/Ines.mementory",
    saveText: async (name) => `/home/ines/${name}`,
    openLink: async () => undefined,
    showInFolder: async () => undefined,
    print: async () => undefined,
    clipboardText: async () => "Prefers tea to coffee.\nIs learning Portuguese.",
    copyText: async () => undefined,
    setPreference: async () => undefined,
    setRememberVaults: async () => undefined,
    windowGuards: async () => ({ ...guards }),
    systemStyle: async () => ({ accent: null }),
    onStyle: async () => () => undefined,
    setLockWhenAway: async (on) => void (guards.lock_when_away = on),
    setHideFromCapture: async (on) => {
      if (!guards.can_hide) throw failWith("usage", "This system cannot hide a window from screenshots.");
      guards.hide_from_capture = on;
    },
  };
}
