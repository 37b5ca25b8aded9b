import { onLock } from "./lock-cleanup";

/** The search field in the bar and its text. The lists are filtered by this text. */
class SearchText {
  text = $state("");
  #field: HTMLInputElement | null = null;

  /** Whether the field in the bar has the focus. */
  get hasFocus(): boolean {
    return this.#field !== null && document.activeElement === this.#field;
  }

  /**
   * Opens the search of the current pane and returns true. Returns false if a search field already has the focus, or if
   * the pane has no search of its own. A pane with its own search sets this function.
   */
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
