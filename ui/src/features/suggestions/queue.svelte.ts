import { backend, type SuggestionDecision, type SuggestionItem } from "$lib/ipc";
import { agents } from "$lib/state/agents.svelte";
import { lockGuard } from "$lib/state/lock-cleanup";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { t } from "$lib/text";

/** The waiting suggestions, and which of them the person has selected. Each visit of the page makes a new queue. */
export class Queue {
  /** The waiting suggestions; null until loaded. */
  items = $state.raw<SuggestionItem[] | null>(null);
  selected = $state.raw<ReadonlySet<string>>(new Set());
  busy = $state(false);
  readonly selection = $derived((this.items ?? []).filter((item) => this.selected.has(item.id)));

  show(items: SuggestionItem[]): void {
    this.items = items;
    const ids = new Set(items.map(({ id }) => id));
    this.selected = new Set([...this.selected].filter((id) => ids.has(id)));
  }

  select(id: string, on: boolean): void {
    const next = new Set(this.selected);
    if (on) next.add(id);
    else next.delete(id);
    this.selected = next;
  }

  selectAll(on: boolean): void {
    this.selected = new Set(on ? (this.items ?? []).map(({ id }) => id) : []);
  }

  /** Applies a decision, then loads the suggestions that are left. Throws the error of the backend if there is one. */
  async decide(decision: Partial<SuggestionDecision>): Promise<void> {
    if (this.busy) return;
    const isUnlocked = lockGuard();
    this.busy = true;
    try {
      const decided = await backend().decideSuggestions({ accept: [], refuse: [], never: [], ...decision });
      if (!isUnlocked()) return;
      const [accepted, refused] = [decided.accepted.length, decided.refused.length];
      if (accepted > 0) toasts.show(t("suggestions.accepted", { n: accepted }), { icon: "check" });
      else if (refused > 0) toasts.show(t("suggestions.refused", { n: refused }), { icon: "check" });
      if (accepted > 0) vault.changed();
    } finally {
      this.busy = false;
      // Reload also after an error, because the decisions before the failed one were applied.
      if (isUnlocked()) {
        const { items } = await backend().suggestions();
        if (isUnlocked()) this.show(items);
        void agents.load();
      }
    }
  }
}

export const idsOf = (items: readonly SuggestionItem[]): string[] => items.map(({ id }) => id);
/**
 * The request to accept these suggestions without an edit. Suggestions whose record has changed since they were made
 * are left out.
 */
export const toAccept = (items: readonly SuggestionItem[]) =>
  items.filter((item) => !item.changed_since).map(({ id }) => ({ id, text: null }));
