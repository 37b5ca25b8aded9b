import { onLock } from "./lock-cleanup";

/** What stands in the search field of the bar. Each list follows it. */
class Search {
  text = $state("");
  #field: HTMLInputElement | null = null;

  /** A pane may search in itself, while the focus is in it: returns true when it took the request. */
  here: () => boolean = () => false;

  attach(field: HTMLInputElement | null): void {
    this.#field = field;
  }

  /** False where there is no field. */
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
