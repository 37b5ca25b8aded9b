import { BackendError, codeOf, type ErrorBody } from "$lib/ipc";
import { oneLine } from "$lib/logic/untrusted-text";
import { hasText, t, word } from "$lib/text";

/** What went wrong: in the window's own words, by its code; and what the core said of it, for under "Details". */
export class UiError {
  readonly code: string;
  readonly details: string;
  readonly #values: Record<string, string>;

  constructor(error: unknown) {
    this.code = codeOf(error);
    const known = error instanceof BackendError;
    const values = Object.entries(known ? error.body.details : {});
    // Places are names that others gave.
    this.#values = Object.fromEntries(values.map(([name, value]) => [name, oneLine(value)]));
    this.details = `${this.code}: ${error instanceof Error ? error.message : String(error)}`;
  }

  /** As it was told, for whoever keeps it. */
  get body(): ErrorBody {
    const message = this.details.slice(this.code.length + 2);
    return { code: this.code, message, details: { ...this.#values } };
  }

  /**
   * Why a file that was recognised could not be taken in, as a part of a sentence; null for what is not about the file.
   */
  get clause(): string | null {
    if (hasText(`why.${this.code}`)) return word("why", this.code);
    return this.#values.place && !hasText(`error.${this.code}`) ? t("why.invalid") : null;
  }

  /** Read when it is shown, so that it follows the language. */
  get text(): string {
    const place = this.#values.place;
    const most = this.#values.most;
    const values = { ...this.#values, ...(most && { most: Number(most) }), place: place || t("error.thePlace") };
    if (hasText(`error.${this.code}`)) return word("error", this.code, values);
    // Codes of readers and writers: too many for a sentence each, and they always name the place.
    return place ? t("error.invalid", values) : t("error.unexpected");
  }
}
