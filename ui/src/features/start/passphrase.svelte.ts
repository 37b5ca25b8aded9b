import { weakness } from "$lib/text/core";
import { backend } from "$lib/ipc";
import { t } from "$lib/text";

const FAIR = 2;

/** A passphrase being chosen: how strong it is, and whether it was repeated. Nothing of it is kept. */
export class PassphraseDraft {
  text = $state("");
  repeat = $state("");
  score = $state(0);
  label = $state("");
  reason = $state("");
  #asked = "";

  readonly same = $derived(this.text !== "" && this.text === this.repeat);
  readonly differs = $derived(this.repeat.length >= this.text.length && this.repeat !== "" && !this.same);
  readonly ready = $derived(this.same && this.score >= FAIR);

  async judge(text: string): Promise<void> {
    this.#asked = text;
    if (text === "") {
      this.score = 0;
      this.label = "";
      this.reason = "";
      return;
    }
    const strength = await backend().passphraseStrength(text);
    if (this.#asked !== text) return;
    const score = Math.max(0, Math.min(4, Math.round(strength.score))) as 0 | 1 | 2 | 3 | 4;
    this.score = score;
    this.label = t(`strength.${score}`);
    this.reason = strength.reason ? weakness(strength.reason) : score >= FAIR + 1 ? t("strength.well") : "";
  }
}
