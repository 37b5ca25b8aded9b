/** A colour as `#rrggbb`. */
export type Hex = string;

/** The tokens of tokens.css that are derived from the accent colour. */
export const ACCENT_TOKENS = [
  "--accent",
  "--accent-hover",
  "--on-accent",
  "--accent-text",
  "--accent-soft",
  "--bg-selected",
  "--focus",
] as const;
export type AccentTokens = Record<(typeof ACCENT_TOKENS)[number], Hex>;

/** The tokens of a theme with which the accent colour is combined, as its background or as text on it. */
export const THEME_TOKENS = [
  "--bg-app",
  "--bg-list",
  "--bg-content",
  "--bg-raised",
  "--bg-sunken",
  "--danger-soft",
  "--warn-soft",
  "--text",
  "--text-2",
  "--redacted",
] as const;
export type ThemeTokens = Record<(typeof THEME_TOKENS)[number], Hex>;

/** Minimum contrast of text and of graphics on their backgrounds (WCAG 2.2, 1.4.3 and 1.4.11). */
const TEXT_CONTRAST = 4.5;
const GRAPHICS_CONTRAST = 3;
/** Largest share of black or white that may be mixed into the desktop's accent colour. */
const MAX_MIX_SHARE = 0.4;
/** Replaces `MAX_MIX_SHARE` for text, which may be paler or darker than the accent of buttons. */
const MAX_TEXT_MIX_SHARE = 0.7;
const SHARE_STEP = 0.01;
const [BLACK, WHITE] = ["#000000", "#ffffff"];

const channels = (hex: Hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

/** Relative luminance (WCAG 2.2), from 0 for black to 1 for white. */
function luminance(hex: Hex): number {
  const [red = 0, green = 0, blue = 0] = channels(hex)
    .map((channel) => channel / 255)
    .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast of two colours (WCAG 2.2), from 1 to 21. */
export function contrast(a: Hex, b: Hex): number {
  const [first, second] = [luminance(a), luminance(b)];
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
}

/** Mixes a colour with another one, whose share is from 0 to 1. */
function mix(colour: Hex, other: Hex, share: number): Hex {
  const otherChannels = channels(other);
  const mixed = channels(colour).map((channel, n) => Math.round(channel + ((otherChannels[n] ?? 0) - channel) * share));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * Mixes more and more black or white into `colour`, up to the share `maxShare`, and returns the first colour that is
 * accepted. Null if none is.
 */
function nearestAccepted(colour: Hex, maxShare: number, isAccepted: (candidate: Hex) => boolean): Hex | null {
  for (let share = 0; share <= maxShare; share += SHARE_STEP) {
    for (const other of [BLACK, WHITE]) {
      const candidate = mix(colour, other, share);
      if (isAccepted(candidate)) return candidate;
    }
  }
  return null;
}

/**
 * Returns the accent tokens of a theme for the accent colour of the system, which is made darker or paler as far as
 * needed for the contrasts. Null if that is impossible: the theme then keeps its own accent.
 */
export function accentTokens(accent: Hex, theme: ThemeTokens): AccentTokens | null {
  if (!/^#[0-9a-f]{6}$/i.test(accent)) return null;
  const isDark = luminance(theme["--bg-content"]) < luminance(theme["--text"]);
  const hasTextContrast = (foreground: Hex, ...backgrounds: Hex[]) =>
    backgrounds.every((background) => contrast(foreground, background) >= TEXT_CONTRAST);
  const hasGraphicsContrast = (foreground: Hex, ...backgrounds: Hex[]) =>
    backgrounds.every((background) => contrast(foreground, background) >= GRAPHICS_CONTRAST);

  const buttonColour = nearestAccepted(
    accent,
    MAX_MIX_SHARE,
    (candidate) => hasTextContrast(WHITE, candidate) && hasGraphicsContrast(candidate, theme["--bg-content"]),
  );
  const softColour = mix(theme["--bg-content"], accent, isDark ? 0.14 : 0.12);
  const selectedColour = mix(theme["--bg-content"], accent, isDark ? 0.18 : 0.16);
  const surfaces = [theme["--bg-app"], theme["--bg-list"], theme["--bg-content"], theme["--bg-raised"]];
  const backgrounds = [
    ...surfaces,
    theme["--bg-sunken"],
    theme["--danger-soft"],
    theme["--warn-soft"],
    softColour,
    selectedColour,
  ];
  const textColour = nearestAccepted(accent, MAX_TEXT_MIX_SHARE, (candidate) =>
    hasTextContrast(candidate, ...backgrounds),
  );
  const focusColour = nearestAccepted(accent, MAX_TEXT_MIX_SHARE, (candidate) =>
    hasGraphicsContrast(candidate, ...surfaces),
  );
  if (buttonColour === null || textColour === null || focusColour === null) return null;
  const isReadable =
    hasTextContrast(theme["--text"], softColour, selectedColour) &&
    hasTextContrast(theme["--text-2"], softColour, selectedColour) &&
    hasGraphicsContrast(theme["--redacted"], selectedColour);
  if (!isReadable) return null;
  return {
    "--accent": buttonColour,
    "--accent-hover": mix(buttonColour, BLACK, 0.12),
    "--on-accent": WHITE,
    "--accent-text": textColour,
    "--accent-soft": softColour,
    "--bg-selected": selectedColour,
    "--focus": focusColour,
  };
}
