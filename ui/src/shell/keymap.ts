import type { Section } from "$lib/state/nav.svelte";

export type Command =
  | { go: Section }
  | "search"
  | "import"
  | "export"
  | "export-all"
  | "lock"
  | "shortcuts"
  | "write"
  | "paste"
  | "back"
  | "forward"
  | "undo"
  | "next-pane"
  | "previous-pane";

type Pressed = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">;

const DIGITS: Record<string, Section> = {
  "1": "home",
  "2": "memories",
  "3": "conversations",
  "4": "files",
  "5": "sensitive",
  "6": "activity",
  "7": "trash",
};

/** What a key means everywhere in the open window; null when it means nothing here. */
export function commandFor(event: Pressed, where: { mac: boolean; inField: boolean }): Command | null {
  if (event.key === "F6") return event.shiftKey ? "previous-pane" : "next-pane";
  if (event.altKey && !event.ctrlKey && !event.metaKey && !where.inField) {
    if (event.key === "ArrowLeft") return "back";
    if (event.key === "ArrowRight") return "forward";
  }
  const control = where.mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  if (!control || event.altKey) return null;
  const key = event.key.toLowerCase();
  if (event.shiftKey) {
    if (key === "e") return "export-all";
    if (key === "v" && !where.inField) return "paste";
    return null;
  }
  const section = DIGITS[event.key];
  if (section) return { go: section };
  if (key === "z") return where.inField ? null : "undo";
  if (key === ",") return { go: "settings" };
  const plain: Record<string, Command> = {
    f: "search",
    o: "import",
    e: "export",
    l: "lock",
    "/": "shortcuts",
    n: "write",
  };
  return plain[key] ?? null;
}

/** The list for people, in the order of ui.md §5. */
export const SHORTCUTS = [
  { keys: ["Ctrl F"], text: "keys.search" },
  { keys: ["F6", "Shift F6"], text: "keys.panes" },
  { keys: ["Ctrl 1", "Ctrl 7"], text: "keys.sections" },
  { keys: ["Ctrl O"], text: "keys.import" },
  { keys: ["Ctrl Shift V"], text: "keys.paste" },
  { keys: ["Ctrl E"], text: "keys.export" },
  { keys: ["Ctrl Shift E"], text: "keys.exportAll" },
  { keys: ["Ctrl N"], text: "keys.write" },
  { keys: ["Ctrl L"], text: "keys.lock" },
  { keys: ["Ctrl ,"], text: "keys.settings" },
  { keys: ["↑", "↓", "Home", "End"], text: "keys.move" },
  { keys: ["Space", "Shift ↓", "Ctrl A", "Esc"], text: "keys.check" },
  { keys: ["E"], text: "keys.edit" },
  { keys: ["T"], text: "keys.tag" },
  { keys: ["R"], text: "keys.redact" },
  { keys: ["R", "I", "↓"], text: "keys.sensitive" },
  { keys: ["Delete"], text: "keys.trash" },
  { keys: ["Shift Delete"], text: "keys.erase" },
  { keys: ["Ctrl Enter", "Esc"], text: "keys.save" },
  { keys: ["←", "→"], text: "keys.branch" },
  { keys: ["Alt ←", "Alt →"], text: "keys.back" },
  { keys: ["Ctrl Z"], text: "keys.undo" },
] as const;
