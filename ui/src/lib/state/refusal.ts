import { BackendError, codeOf } from "$lib/ipc";
import { coreIsSpoken } from "$lib/text/core";
import { hasText, t, word } from "$lib/text";

/** What went wrong: in the window's own words, by its code; and what the core said of it, for under "Details". */
export class Refusal {
  readonly code: string;
  readonly details: string;
  readonly #values: Record<string, string>;

  constructor(error: unknown) {
    this.code = codeOf(error);
    const known = error instanceof BackendError;
    this.#values = known ? { ...error.body.details } : {};
    this.details = `${this.code}: ${error instanceof Error ? error.message : String(error)}`;
  }

  /** Read when it is shown, so that it follows the language. */
  get text(): string {
    const place = this.#values.place;
    const most = this.#values.most;
    const values = {
      ...this.#values,
      ...(most && { most: Number(most) }),
      place: place && coreIsSpoken() ? place : (place ?? t("error.thePlace")),
    };
    if (hasText(`error.${this.code}`)) return word("error", this.code, values);
    // Codes of readers and writers: too many for a sentence each, and they always name the place.
    return place ? t("error.invalid", values) : t("error.unexpected");
  }
}
