import { backend } from "$lib/ipc";

export type Theme = "system" | "light" | "dark";
export type TextSize = "small" | "normal" | "large" | "larger";

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // No storage: the choice holds until the window closes.
  }
  // The webview forgets when it closes; Rust remembers and puts it back before the first paint.
  const remember = async () => backend().setPreference(key.replace("keepsake.", ""), value);
  void remember().catch(() => undefined);
}

/** How the window looks and listens; kept on this computer, holds no content. public/boot.js reads the same keys. */
class Appearance {
  theme = $state<Theme>((read("keepsake.theme") as Theme | null) ?? "system");
  textSize = $state<TextSize>((read("keepsake.text-size") as TextSize | null) ?? "normal");
  letterKeys = $state(read("keepsake.letter-keys") !== "off");
  listWidth = $state<number | null>(Number(read("keepsake.list-width")) || null);

  setTheme(theme: Theme): void {
    this.theme = theme;
    write("keepsake.theme", theme === "system" ? null : theme);
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }

  setTextSize(size: TextSize): void {
    this.textSize = size;
    write("keepsake.text-size", size === "normal" ? null : size);
    if (size === "normal") delete document.documentElement.dataset.textSize;
    else document.documentElement.dataset.textSize = size;
  }

  setLetterKeys(on: boolean): void {
    this.letterKeys = on;
    write("keepsake.letter-keys", on ? null : "off");
  }

  setListWidth(width: number): void {
    this.listWidth = width;
    write("keepsake.list-width", String(Math.round(width)));
  }
}

export const appearance = new Appearance();
