import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { SystemStyle } from "$lib/ipc";
import { ACCENT_TOKENS, accentTokens, contrast, THEME_TOKENS, type ThemeTokens } from "$lib/logic/accent";
import { appearance } from "$lib/state/appearance.svelte";
import { systemStyle } from "$lib/state/system-style";
import { start } from "./start-mock";

const css = readFileSync(resolve(import.meta.dirname, "../src/styles/tokens.css"), "utf8");

/** Returns the tokens of the first rule in the file that has this selector. */
function tokensOf(selector: string): ThemeTokens {
  const rule = css.slice(css.indexOf(`\n${selector} {`));
  const value = (token: string) => new RegExp(`${token}: (#[0-9a-f]{6});`).exec(rule)?.[1] ?? "";
  return Object.fromEntries(THEME_TOKENS.map((token) => [token, value(token)])) as ThemeTokens;
}

const THEMES = { light: tokensOf(":root"), dark: tokensOf(':root[data-theme="dark"]') };
const surfaces = ["--bg-app", "--bg-list", "--bg-content", "--bg-raised", "--bg-sunken"] as const;
/** The accent colours that GNOME offers. */
const GNOME = ["#3584e4", "#2190a4", "#3a944a", "#c88800", "#ed5b00", "#e62d42", "#d56199", "#9141ac", "#6f8396"];

/** Returns the pairs of foreground and background tokens whose contrast is too low with this accent colour. */
function tooLow(accent: string, theme: ThemeTokens): string[] {
  const tokens = accentTokens(accent, theme);
  if (!tokens) return [];
  const all: Record<string, string> = { ...theme, ...tokens };
  const tinted = ["--accent-soft", "--bg-selected"];
  const pairs: [string, string[], number][] = [
    ["--on-accent", ["--accent", "--accent-hover"], 4.5],
    ["--accent-text", [...surfaces, ...tinted, "--danger-soft", "--warn-soft"], 4.5],
    ["--text", tinted, 4.5],
    ["--text-2", tinted, 4.5],
    ["--accent", ["--bg-content"], 3],
    ["--focus", ["--bg-content", "--bg-list", "--bg-app", "--bg-raised"], 3],
    ["--redacted", ["--bg-selected"], 3],
  ];
  return pairs.flatMap(([front, backs, least]) =>
    backs
      .filter((back) => !(contrast(all[front] ?? "", all[back] ?? "") >= least))
      .map((back) => `${accent}: ${front} on ${back}`),
  );
}

describe.each(Object.entries(THEMES))("the system's accent colour in the %s theme", (_, theme) => {
  it("is shown for every colour that GNOME offers", () => {
    expect(Object.values(theme)).not.toContain("");
    expect(GNOME.filter((accent) => accentTokens(accent, theme) === null)).toEqual([]);
  });

  it("has enough contrast, whatever colour it is", () => {
    const steps = [0, 51, 102, 153, 204, 255].map((part) => part.toString(16).padStart(2, "0"));
    const colours = steps.flatMap((red) => steps.flatMap((green) => steps.map((blue) => `#${red}${green}${blue}`)));
    expect([...GNOME, ...colours].flatMap((accent) => tooLow(accent, theme))).toEqual([]);
  });

  it.each(["#ffff00", "#ffffff", "blue", "#12345", ""])("is not shown if it is %j", (accent) => {
    expect(accentTokens(accent, theme)).toBeNull();
  });

  it("is not changed where its contrast is enough", () => {
    const readable = theme === THEMES.light ? "#9141ac" : "#2c7296";
    expect(accentTokens(readable, THEMES.light)?.["--accent"]).toBe(readable);
  });
});

describe("the style of the system", () => {
  const root = document.documentElement;
  let stop: () => void = () => undefined;

  afterEach(() => {
    stop();
    appearance.setTheme("system");
    root.removeAttribute("style");
  });

  /** Makes the window follow a desktop with this style. Returns a function that changes the style of the desktop. */
  async function follow(first: SystemStyle): Promise<(style: SystemStyle) => void> {
    for (const [token, value] of Object.entries(THEMES.light)) root.style.setProperty(token, value);
    const mock = await start();
    let announce: (style: SystemStyle) => void = () => undefined;
    vi.spyOn(mock, "onStyle").mockImplementation((listener) => {
      announce = listener;
      return Promise.resolve(() => undefined);
    });
    vi.spyOn(mock, "systemStyle").mockResolvedValue(first);
    stop = systemStyle.follow();
    await vi.waitFor(() => expect(root.style.getPropertyValue("--accent")).not.toBe(""));
    return (style) => announce(style);
  }

  it("sets the accent, follows its changes, and removes the accent when the desktop has none", async () => {
    const change = await follow({ accent: "#9141ac" });
    expect(root.style.getPropertyValue("--accent")).toBe("#9141ac");
    change({ accent: "#3584e4" });
    expect(root.style.getPropertyValue("--accent")).toBe(accentTokens("#3584e4", THEMES.light)?.["--accent"]);
    for (const accent of ["#ffff00", null]) {
      change({ accent });
      expect(ACCENT_TOKENS.filter((token) => root.style.getPropertyValue(token) !== "")).toEqual([]);
    }
  });

  it("adapts the accent to the theme", async () => {
    await follow({ accent: "#3584e4" });
    for (const [token, value] of Object.entries(THEMES.dark)) root.style.setProperty(token, value);
    appearance.setTheme("dark");
    const expected = accentTokens("#3584e4", THEMES.dark);
    expect(root.style.getPropertyValue("--accent-text")).toBe(expected?.["--accent-text"]);
    expect(expected?.["--accent-text"]).not.toBe(accentTokens("#3584e4", THEMES.light)?.["--accent-text"]);
  });

  it("leaves the window's own style if the desktop does not answer", async () => {
    const mock = await start();
    vi.spyOn(mock, "systemStyle").mockRejectedValue(new Error("no desktop"));
    stop = systemStyle.follow();
    await vi.waitFor(() => expect(mock.systemStyle).toHaveBeenCalled());
    expect(root.style.getPropertyValue("--accent")).toBe("");
  });
});
