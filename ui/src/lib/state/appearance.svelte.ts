import { backend } from "$lib/ipc";
import { debounced } from "$lib/logic/debounce";
import { LANGUAGES, type Choice } from "$lib/text";
import { systemStyle } from "./system-style";
import { isHours, setLanguage, setHours, type Hours } from "$lib/text/locale.svelte";

export type Theme = "system" | "light" | "dark";
const TEXT_SIZES = ["small", "normal", "large", "larger"] as const;
export type TextSize = (typeof TEXT_SIZES)[number];
export type ListRows = "two" | "one";
/** The choices for the number of seconds after which copied text is cleared from the clipboard. */
export const CLEAR_COPIED_CHOICES = ["30", "120", "never"] as const;
export type ClearCopied = (typeof CLEAR_COPIED_CHOICES)[number];

function readPreference(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/**
 * Stores a preference in the page's storage, and also in the backend, because the page's storage is empty at the next
 * start.
 */
function storePreference(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`mementory.${name}`);
    else localStorage.setItem(`mementory.${name}`, value);
  } catch {
    // If the page has no storage, the preference applies until the window is closed.
  }
  void backend()
    .setPreference(name, value)
    .catch(() => undefined);
}

const validLanguage = (stored: string | null): Choice =>
  stored !== null && Object.hasOwn(LANGUAGES, stored) ? (stored as Choice) : "system";

/** Sets or removes a data attribute on the root element. The styles depend on it. */
function setRootAttribute(name: "blur" | "motion", value: string | null): void {
  if (value === null) delete document.documentElement.dataset[name];
  else document.documentElement.dataset[name] = value;
}

function applyStoredHours(stored: string | null): Hours {
  const hours = isHours(stored) ? stored : "system";
  setHours(hours);
  return hours;
}

const validClearCopied = (stored: string | null): ClearCopied =>
  CLEAR_COPIED_CHOICES.find((each) => each === stored) ?? "30";

/**
 * Preferences of the window. They are stored on this computer and contain nothing from the vault. public/boot.js reads
 * the same keys.
 */
class Appearance {
  language = $state<Choice>(validLanguage(readPreference("mementory.language")));
  theme = $state<Theme>((readPreference("mementory.theme") as Theme | null) ?? "system");
  textSize = $state<TextSize>((readPreference("mementory.text-size") as TextSize | null) ?? "normal");
  letterKeys = $state(readPreference("mementory.letter-keys") !== "off");
  listRows = $state<ListRows>(readPreference("mementory.list-rows") === "one" ? "one" : "two");
  blur = $state(readPreference("mementory.blur") === "on");
  hours = $state<Hours>(applyStoredHours(readPreference("mementory.hours")));
  lessMotion = $state(readPreference("mementory.motion") === "less");
  clearCopied = $state<ClearCopied>(validClearCopied(readPreference("mementory.clear-copied")));
  notifications = $state(readPreference("mementory.notifications") !== "off");
  readonly clearAfter = $derived(this.clearCopied === "never" ? null : Number(this.clearCopied));
  listWidth = $state<number | null>(Number(readPreference("mementory.list-width")) || null);

  setTheme(theme: Theme): void {
    this.theme = theme;
    storePreference("theme", theme === "system" ? null : theme);
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    systemStyle.themeChanged();
  }

  /** Switches the language of all visible texts at once. */
  setLanguage(language: Choice): Promise<void> {
    this.language = language;
    storePreference("language", language === "system" ? null : language);
    return setLanguage(language);
  }

  setTextSize(size: TextSize): void {
    this.textSize = size;
    storePreference("text-size", size === "normal" ? null : size);
    if (size === "normal") delete document.documentElement.dataset.textSize;
    else document.documentElement.dataset.textSize = size;
  }

  /** Sets the next larger (1) or smaller (-1) text size, or the normal one (0). */
  stepTextSize(by: 1 | -1 | 0): void {
    const index = TEXT_SIZES.indexOf(this.textSize) + by;
    this.setTextSize(
      by === 0 ? "normal" : (TEXT_SIZES[Math.max(0, Math.min(index, TEXT_SIZES.length - 1))] ?? "normal"),
    );
  }

  setLetterKeys(on: boolean): void {
    this.letterKeys = on;
    storePreference("letter-keys", on ? null : "off");
  }

  setListRows(rows: ListRows): void {
    this.listRows = rows;
    storePreference("list-rows", rows === "two" ? null : rows);
  }

  setBlur(on: boolean): void {
    this.blur = on;
    storePreference("blur", on ? "on" : null);
    setRootAttribute("blur", on ? "on" : null);
  }

  /** Switches the clock format of all visible times at once. */
  setHours(hours: Hours): void {
    this.hours = hours;
    storePreference("hours", hours === "system" ? null : hours);
    setHours(hours);
  }

  /** Reduces motion if `on`; otherwise the setting of the system applies. */
  setLessMotion(on: boolean): void {
    this.lessMotion = on;
    storePreference("motion", on ? "less" : null);
    setRootAttribute("motion", on ? "less" : null);
  }

  /** Sets whether the desktop shows a notification at the end of a long job. The backend reads this preference. */
  setNotifications(on: boolean): void {
    this.notifications = on;
    storePreference("notifications", on ? null : "off");
  }

  setClearCopied(after: ClearCopied): void {
    this.clearCopied = after;
    storePreference("clear-copied", after === "30" ? null : after);
  }

  setListWidth(width: number): void {
    this.listWidth = width;
    this.#storeWidth(width);
  }

  readonly #storeWidth = debounced((width: number) => storePreference("list-width", String(Math.round(width))), 300);
}

export const appearance = new Appearance();
