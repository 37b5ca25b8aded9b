import { onLock } from "./lock-cleanup";
import { holdsWork } from "./unfinished-work";

export type Draft = { text: string; type: string | null; tags: string[] };

/** `id` is the record that was active when the key was pressed, or null for all checked records. */
export type DetailRequest = { action: "edit" | "tag" | "redact" | "original" | "source"; id: string | null };

/** An action that was requested for the open or the checked records, and unsaved edits. Kept in memory only. */
class Detail {
  pending = $state.raw<DetailRequest | null>(null);
  drafts = $state<Record<string, Draft>>({});

  request(action: DetailRequest["action"], id: string | null): void {
    this.pending = { action, id };
  }

  /** Discards the request, so that it does not run when the record is opened later. */
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
holdsWork(() => Object.keys(detail.drafts).length > 0);
