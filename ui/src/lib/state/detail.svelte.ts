import { onLock } from "./lock-cleanup";
import { registerWorkCheck } from "./unfinished-work";

export type Draft = { text: string; type: string | null; tags: string[] };

/**
 * An action that was requested with a key. `id` is the id of the record that was active when the key was pressed, or
 * null for all checked records.
 */
export type DetailRequest = { action: "edit" | "tag" | "redact" | "original" | "source"; id: string | null };

/** The requested action, and the unsaved edits of records. Both are kept in memory only. */
class Detail {
  pending = $state.raw<DetailRequest | null>(null);
  drafts = $state<Record<string, Draft>>({});

  request(action: DetailRequest["action"], id: string | null): void {
    this.pending = { action, id };
  }

  /** Discards the requested action for the record `id`, so that it does not run when the record is opened later. */
  discardRequest(id: string | null): void {
    if (this.pending?.id === id) this.pending = null;
  }

  keepDraft(id: string, draft: Draft): void {
    this.drafts = { ...this.drafts, [id]: draft };
  }

  dropDraft(id: string): void {
    const { [id]: _removed, ...rest } = this.drafts;
    this.drafts = rest;
  }

  dropDrafts(): void {
    this.drafts = {};
  }

  clear(): void {
    this.pending = null;
    this.dropDrafts();
  }
}

export const detail = new Detail();
onLock(() => detail.clear());
registerWorkCheck(() => Object.keys(detail.drafts).length > 0);
