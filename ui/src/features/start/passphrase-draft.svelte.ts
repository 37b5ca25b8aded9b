import { isTooShort, weaknessText } from "$lib/text/core";
import { backend } from "$lib/ipc";
import { t } from "$lib/text";

/** The lowest strength score that is accepted for a new passphrase. */
export const MIN_SCORE = 2;

/** A new passphrase with its repetition and strength. None of this is stored. */
export class PassphraseDraft {
  text = $state("");
  repeat = $state("");
  score = $state(0);
  /** Whether the text was rated. */
  #rated = $state(false);
  /** The backend's reason why the text is weak. */
  #weakness = $state<string | null>(null);
  #textToRate = "";

  readonly same = $derived(this.text !== "" && this.text === this.repeat);
  readonly differs = $derived(this.repeat.length >= this.text.length && this.repeat !== "" && !this.same);
  readonly ready = $derived(this.same && this.score >= MIN_SCORE);

  /** Replaces the text with a passphrase that the backend suggests. */
  async suggest(): Promise<void> {
    this.text = await backend().suggestPassphrase();
    this.repeat = "";
  }

  async rate(text: string): Promise<void> {
    this.#textToRate = text;
    if (text === "") {
      this.score = 0;
      this.#rated = false;
      this.#weakness = null;
      return;
    }
    const strength = await backend().passphraseStrength(text);
    if (this.#textToRate !== text) return;
    this.score = Math.max(0, Math.min(4, Math.round(strength.score)));
    this.#rated = true;
    this.#weakness = strength.reason;
  }

  /** Says what is still missing. Null if nothing is missing, or while the passphrase is being rated. */
  get missing(): string | null {
    if (this.text === "") return t("missing.passphrase");
    if (!this.#rated) return null;
    if (this.score < MIN_SCORE)
      return isTooShort(this.#weakness ?? "")
        ? t("missing.longer")
        : t("missing.stronger", { enough: t("strength.2") });
    if (this.same) return null;
    return this.repeat === "" ? t("missing.repeat") : t("missing.same");
  }

  get label(): string {
    return this.#rated ? t(`strength.${this.score as 0 | 1 | 2 | 3 | 4}`) : "";
  }

  get reason(): string {
    if (this.#weakness) return weaknessText(this.#weakness);
    return this.score >= MIN_SCORE + 1 ? t("strength.well") : "";
  }
}
