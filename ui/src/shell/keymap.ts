import { systemKeys } from "$lib/logic/operating-system";
import type { MessageKey } from "$lib/text";
import type { Section } from "$lib/state/nav.svelte";

export type Command =
  | { go: Section }
  | "palette"
  | "search"
  | "import"
  | "export"
  | "export-all"
  | "export-text"
  | "print"
  | "lock"
  | "shortcuts"
  | "write"
  | "paste"
  | "back"
  | "forward"
  | "undo"
  | "larger-text"
  | "smaller-text"
  | "normal-text"
  | "next-pane"
  | "previous-pane";

type Pressed = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">;

const SECTION_OF_DIGIT: Record<string, Section> = {
  "1": "home",
  "2": "memories",
  "3": "conversations",
  "4": "files",
  "5": "sensitive",
  "6": "activity",
  "7": "trash",
};

/** The command that a key press starts. Null if there is none. */
export function commandFor(event: Pressed, where: { mac: boolean; inField: boolean }): Command | null {
  if (event.key === "F6") return event.shiftKey ? "previous-pane" : "next-pane";
  if (event.altKey && !event.ctrlKey && !event.metaKey && !where.inField) {
    if (event.key === "ArrowLeft") return "back";
    if (event.key === "ArrowRight") return "forward";
  }
  const control = where.mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  if (!control || event.altKey) return null;
  const key = event.key.toLowerCase();
  // On some keyboards the plus sign is typed with Shift, so the sign is checked before the Shift key.
  if (event.key === "+" || (event.key === "=" && !event.shiftKey)) return "larger-text";
  if (event.shiftKey) {
    if (key === "e") return "export-all";
    if (key === "v" && !where.inField) return "paste";
    return null;
  }
  const section = SECTION_OF_DIGIT[event.key];
  if (section) return { go: section };
  if (key === "z") return where.inField ? null : "undo";
  if (key === ",") return { go: "settings" };
  const controlKeys: Record<string, Command> = {
    k: "palette",
    f: "search",
    o: "import",
    e: "export",
    p: "print",
    l: "lock",
    "/": "shortcuts",
    "-": "smaller-text",
    "0": "normal-text",
    n: "write",
  };
  return controlKeys[key] ?? null;
}

const SHORTCUT_OF_COMMAND: Partial<Record<Extract<Command, string>, string>> = {
  palette: "Ctrl K",
  search: "Ctrl F",
  import: "Ctrl O",
  paste: "Ctrl Shift V",
  export: "Ctrl E",
  "export-all": "Ctrl Shift E",
  print: "Ctrl P",
  write: "Ctrl N",
  lock: "Ctrl L",
  shortcuts: "Ctrl /",
  undo: "Ctrl Z",
};

/** The shortcut of a command as this system writes it. */
export function keysOf(command: Command): string | undefined {
  if (typeof command === "string") return SHORTCUT_OF_COMMAND[command] && systemKeys(SHORTCUT_OF_COMMAND[command]);
  if (command.go === "settings") return systemKeys("Ctrl ,");
  const digit = Object.keys(SECTION_OF_DIGIT).find((each) => SECTION_OF_DIGIT[each] === command.go);
  return digit && systemKeys(`Ctrl ${digit}`);
}

/**
 * The list of shortcuts, in the order in which it is shown. `letter` marks single-letter shortcuts, which a setting
 * can disable. `range`: the first two keys are the first and the last of a range.
 */
export const SHORTCUTS = [
  { keys: ["Ctrl K"], text: "keys.palette" },
  { keys: ["Ctrl F"], text: "keys.search" },
  { keys: ["F6", "Shift F6"], text: "keys.panes" },
  { keys: ["Ctrl 1", "Ctrl 7"], text: "keys.sections", range: true },
  { keys: ["Ctrl O"], text: "keys.import" },
  { keys: ["Ctrl Shift V"], text: "keys.paste" },
  { keys: ["Ctrl E"], text: "keys.export" },
  { keys: ["Ctrl Shift E"], text: "keys.exportAll" },
  { keys: ["Ctrl P"], text: "keys.print" },
  { keys: ["Ctrl N"], text: "keys.write" },
  { keys: ["Ctrl +", "Ctrl -", "Ctrl 0"], text: "keys.textSize" },
  { keys: ["Ctrl L"], text: "keys.lock" },
  { keys: ["Ctrl ,"], text: "keys.settings" },
  { keys: ["Ctrl /"], text: "keys.shortcuts" },
  { keys: ["↑", "↓", "Home", "End"], text: "keys.move" },
  { keys: ["PageUp", "PageDown"], text: "keys.page" },
  { keys: ["Space", "Shift ↓", "Ctrl A", "Esc"], text: "keys.check" },
  { keys: ["Menu", "Shift F10"], text: "keys.menu" },
  { keys: ["Enter"], text: "keys.open" },
  { keys: ["E"], text: "keys.edit", letter: true },
  { keys: ["T"], text: "keys.tag", letter: true },
  { keys: ["R"], text: "keys.redact", letter: true },
  { keys: ["V"], text: "keys.source", letter: true },
  { keys: ["R", "I", "↓"], text: "keys.sensitive", letter: true },
  { keys: ["1", "5"], text: "keys.review", range: true },
  { keys: ["U"], text: "keys.reviewUndo", letter: true },
  { keys: ["↑", "↓", "1", "2"], text: "keys.contradictions" },
  { keys: ["B", "A"], text: "keys.contradictionsAll", letter: true },
  { keys: ["Delete"], text: "keys.trash" },
  { keys: ["Shift Delete"], text: "keys.erase" },
  { keys: ["Ctrl Enter", "Esc"], text: "keys.save" },
  { keys: ["Enter", "Shift Enter"], text: "keys.hits" },
  { keys: ["←", "→"], text: "keys.branch" },
  { keys: ["Alt ←", "Alt →"], text: "keys.back" },
  { keys: ["Ctrl Z"], text: "keys.undo" },
] satisfies { keys: string[]; text: MessageKey; letter?: boolean; range?: boolean }[];
