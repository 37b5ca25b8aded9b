import { BackendError, codeOf, type ErrorBody } from "$lib/ipc";
import { oneLine } from "$lib/logic/untrusted-text";
import { hasText, joinSentences, t, word } from "$lib/text";
import { limitAdvice } from "$lib/text/limits";

/**
 * Codes of errors that a file causes again whenever it is imported. Damage is not one of them, because the file may have
 * been downloaded again.
 */
const LASTING_CODES: readonly string[] = ["limit", "refused_input", "unsupported_version"];

/** An error for display: the window's text for its code, and the backend's message for "Details". */
export class UiError {
  readonly code: string;
  readonly details: string;
  readonly #values: Record<string, string>;

  constructor(error: unknown) {
    this.code = codeOf(error);
    const isBackendError = error instanceof BackendError;
    const values = Object.entries(isBackendError ? error.body.details : {});
    // Values may contain untrusted names.
    this.#values = Object.fromEntries(values.map(([name, value]) => [name, oneLine(value)]));
    this.details = `${this.code}: ${error instanceof Error ? error.message : String(error)}`;
  }

  /** The error in the backend's format, to store it or pass it on. */
  get body(): ErrorBody {
    const message = this.details.slice(this.code.length + 2);
    return { code: this.code, message, details: { ...this.#values } };
  }

  /** Whether the intact parts of the damaged file can be imported. */
  get canSalvage(): boolean {
    return this.#values.salvage === "true";
  }

  /** Whether the same import would fail again in the same way. */
  get isLasting(): boolean {
    return LASTING_CODES.includes(this.code);
  }

  /** What is too large, and what a person can do about it. Null if the error is not about a size limit. */
  get advice(): string | null {
    return this.code === "limit" ? limitAdvice(this.#values) : null;
  }

  /** The reason why a recognised file could not be imported, as a clause. Null if the error is not about the file. */
  get reasonClause(): string | null {
    if (hasText(`why.${this.code}`)) return word("why", this.code);
    return this.#values.place && !hasText(`error.${this.code}`) ? t("why.invalid") : null;
  }

  /** The window's text. It is a getter, so that the text changes with the language. */
  get text(): string {
    const place = this.#values.place;
    const most = this.#values.most;
    const values = { ...this.#values, ...(most && { most: Number(most) }), place: place || t("error.thePlace") };
    if (hasText(`error.${this.code}`)) return joinSentences([word("error", this.code, values), this.advice]);
    // Readers and writers have too many error codes for a text each, but their errors always name the place.
    return place ? t("error.invalid", values) : t("error.unexpected");
  }
}
