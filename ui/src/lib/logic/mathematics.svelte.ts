import fontUrl from "@fontsource/noto-sans-math/files/noto-sans-math-latin-400-normal.woff2?url";

type Render = (tex: string, options: { displayMode: boolean; throwOnError: boolean }) => string;

/**
 * Formulas with more UTF-16 code units than this are shown as they are written, because typesetting them would block
 * the window.
 */
const MAX_FORMULA_LENGTH = 4_000;

const INLINE_STYLE = /(<[^<>]*?) style="[^"]*"/g;

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Typesets TeX as MathML. The library and its font are loaded with the first formula. */
class Mathematics {
  #render = $state.raw<Render | null>(null);
  #loading: Promise<void> | null = null;

  /**
   * Returns the MathML of a formula. `source` is the formula with its delimiters. Until the library is loaded, and for
   * a formula that the library cannot read, the MathML contains only the source. Never throws.
   */
  html(tex: string, source: string, displayMode: boolean): string {
    const render = this.#render;
    if (!render) void this.load();
    else if (tex.length <= MAX_FORMULA_LENGTH) {
      try {
        return render(tex, { displayMode, throwOnError: true });
      } catch {
        // The library does not understand this TeX, so the source is shown.
      }
    }
    return `<math class="source"><mtext>${escapeHtml(source)}</mtext></math>`;
  }

  /** Loads the library. Formulas that are already shown as source are then typeset. */
  load(): Promise<void> {
    this.#loading ??= Promise.all([import("temml"), import("temml/dist/Temml-Local.css")]).then(
      ([{ default: temml }]) => {
        // System fonts rarely have the tables that large brackets and roots need, so load a font for mathematics.
        if (typeof FontFace !== "undefined") document.fonts.add(new FontFace("Noto Sans Math", `url("${fontUrl}")`));
        // `trust` is not set, so a formula cannot contain links or pictures. Inline styles are removed, because the CSP
        // would report them.
        this.#render = (tex, options) => temml.renderToString(tex, options).replaceAll(INLINE_STYLE, "$1");
      },
    );
    return this.#loading;
  }
}

export const mathematics = new Mathematics();
