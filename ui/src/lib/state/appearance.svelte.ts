import { backend } from "$lib/ipc";
import { debounced } from "$lib/logic/debounce";
import { LANGUAGES, type Choice } from "$lib/text";
import { isHours, setLanguage, setHours, type Hours } from "$lib/text/locale.svelte";

export type Theme = "system" | "light" | "dark";
export type TextSize = "small" | "normal" | "large" | "larger";
export type ListRows = "two" | "one";
/** Seconds until copied text is cleared. */
export const CLEAR_COPIED = ["30", "120", "never"] as const;
export type ClearCopied = (typeof CLEAR_COPIED)[number];

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Stores a preference, in the backend as well because the web view persists nothing. */
function write(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`mementory.${name}`);
    else localStorage.setItem(`mementory.${name}`, value);
  } catch {
    // Without storage the choice lasts until the window closes.
  }
  void backend()
    .setPreference(name, value)
    .catch(() => undefined);
}

const validLanguage = (stored: string | null): Choice =>
  stored !== null && Object.hasOwn(LANGUAGES, stored) ? (stored as Choice) : "system";

/** Sets a data attribute on the root element, which the styles query. */
function mark(name: "blur" | "motion", value: string | null): void {
  if (value === null) delete document.documentElement.dataset[name];
  else document.documentElement.dataset[name] = value;
}

function validHours(stored: string | null): Hours {
  const hours = isHours(stored) ? stored : "24";
  setHours(hours);
  return hours;
}

const validClearing = (stored: string | null): ClearCopied => CLEAR_COPIED.find((each) => each === stored) ?? "30";

/** Preferences of the window, stored on this computer, without content. public/boot.js reads the same keys. */
class Appearance {
  language = $state<Choice>(validLanguage(read("mementory.language")));
  theme = $state<Theme>((read("mementory.theme") as Theme | null) ?? "system");
  textSize = $state<TextSize>((read("mementory.text-size") as TextSize | null) ?? "normal");
  letterKeys = $state(read("mementory.letter-keys") !== "off");
  listRows = $state<ListRows>(read("mementory.list-rows") === "one" ? "one" : "two");
  blur = $state(read("mementory.blur") === "on");
  hours = $state<Hours>(validHours(read("mementory.hours")));
  lessMotion = $state(read("mementory.motion") === "less");
  clearCopied = $state<ClearCopied>(validClearing(read("mementory.clear-copied")));
  readonly clearAfter = $derived(this.clearCopied === "never" ? null : Number(this.clearCopied));
  listWidth = $state<number | null>(Number(read("mementory.list-width")) || null);

  setTheme(theme: Theme): void {
    this.theme = theme;
    write("theme", theme === "system" ? null : theme);
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }

  /** Takes effect at once: all visible texts update. */
  setLanguage(language: Choice): Promise<void> {
    this.language = language;
    write("language", language === "system" ? null : language);
    return setLanguage(language);
  }

  setTextSize(size: TextSize): void {
    this.textSize = size;
    write("text-size", size === "normal" ? null : size);
    if (size === "normal") delete document.documentElement.dataset.textSize;
    else document.documentElement.dataset.textSize = size;
  }

  setLetterKeys(on: boolean): void {
    this.letterKeys = on;
    write("letter-keys", on ? null : "off");
  }

  setListRows(rows: ListRows): void {
    this.listRows = rows;
    write("list-rows", rows === "two" ? null : rows);
  }

  setBlur(on: boolean): void {
    this.blur = on;
    write("blur", on ? "on" : null);
    mark("blur", on ? "on" : null);
  }

  /** All visible times update. */
  setHours(hours: Hours): void {
    this.hours = hours;
    write("hours", hours === "24" ? null : hours);
    setHours(hours);
  }

  /** Can only reduce motion further than the system setting. */
  setLessMotion(on: boolean): void {
    this.lessMotion = on;
    write("motion", on ? "less" : null);
    mark("motion", on ? "less" : null);
  }

  setClearCopied(after: ClearCopied): void {
    this.clearCopied = after;
    write("clear-copied", after === "30" ? null : after);
  }

  setListWidth(width: number): void {
    this.listWidth = width;
    this.#keepWidth(width);
  }

  readonly #keepWidth = debounced((width: number) => write("list-width", String(Math.round(width))), 300);
}

export const appearance = new Appearance();
