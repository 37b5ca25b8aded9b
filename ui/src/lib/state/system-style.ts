import { backend, type SystemStyle } from "$lib/ipc";
import { ACCENT_TOKENS, accentTokens, THEME_TOKENS, type ThemeTokens } from "$lib/logic/accent";

/**
 * Shows the accent colour of the desktop in the window. The desktop's text size needs no code here, because WebKitGTK
 * applies it.
 */
class SystemStyleState {
  #accent: string | null = null;

  /** Applies the desktop's style now and after each change. Returns a function that stops listening to changes. */
  follow(): () => void {
    const darkness = matchMedia("(prefers-color-scheme: dark)");
    const themeChanged = () => this.themeChanged();
    darkness.addEventListener("change", themeChanged);
    let isStopped = false;
    // If the desktop's style is unknown, the window keeps its own style, so errors are ignored.
    const ignore = () => undefined;
    // The first answer must not replace a later change.
    let isChanged = false;
    const stopListening = backend().onStyle((style) => {
      isChanged = true;
      this.#show(style);
    });
    void stopListening
      .then(() => backend().systemStyle())
      .then((style) => isStopped || isChanged || this.#show(style))
      .catch(ignore);
    return () => {
      isStopped = true;
      darkness.removeEventListener("change", themeChanged);
      void stopListening.then((stop) => stop()).catch(ignore);
    };
  }

  /** Must be called when the theme has changed, because the accent colour is adapted to it. */
  themeChanged(): void {
    const { style } = document.documentElement;
    // Remove the adapted tokens first, because the values computed below must be those of the theme.
    for (const token of ACCENT_TOKENS) style.removeProperty(token);
    if (this.#accent === null) return;
    const computed = getComputedStyle(document.documentElement);
    const theme = Object.fromEntries(THEME_TOKENS.map((token) => [token, computed.getPropertyValue(token).trim()]));
    const tokens = accentTokens(this.#accent, theme as ThemeTokens);
    for (const [token, colour] of Object.entries(tokens ?? {})) style.setProperty(token, colour);
  }

  #show({ accent }: SystemStyle): void {
    this.#accent = accent;
    this.themeChanged();
  }
}

export const systemStyle = new SystemStyleState();
