import { onLock } from "./lock-cleanup";

/** The text of the search field in the bar. Lists follow it. */
class SearchText {
  text = $state("");
  #field: HTMLInputElement | null = null;

  /** Lets a focused pane handle the request to search. Returns whether it did. */
  here: () => boolean = () => false;

  attach(field: HTMLInputElement | null): void {
    this.#field = field;
  }

  /** Focuses the search field. Returns false if the section has none. */
  focus(): boolean {
    this.#field?.focus();
    this.#field?.select();
    return this.#field !== null;
  }

  clear(): void {
    this.text = "";
  }
}

export const search = new SearchText();
onLock(() => search.clear());
