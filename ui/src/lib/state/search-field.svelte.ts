import { onLock } from "./lock-cleanup";

/** The text of the search field in the bar. Lists follow it. */
class SearchText {
  text = $state("");
  #field: HTMLInputElement | null = null;

  /** Whether the field in the bar has the focus. */
  get hasFocus(): boolean {
    return this.#field !== null && document.activeElement === this.#field;
  }

  /** Set by a pane with its own search. Opens that search and returns true, unless a search field has the focus. */
  searchInPane: () => boolean = () => false;

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
