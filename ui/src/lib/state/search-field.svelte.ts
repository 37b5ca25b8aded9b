import { onLock } from "./lock-cleanup";

/** The text of the search field in the bar. Lists follow it. */
class Search {
  text = $state("");
  #field: HTMLInputElement | null = null;

  /** A focused pane may handle the search itself: returns true if it did. */
  here: () => boolean = () => false;

  attach(field: HTMLInputElement | null): void {
    this.#field = field;
  }

  /** False if the section has no search field. */
  focus(): boolean {
    this.#field?.focus();
    this.#field?.select();
    return this.#field !== null;
  }

  clear(): void {
    this.text = "";
  }
}

export const search = new Search();
onLock(() => search.clear());
