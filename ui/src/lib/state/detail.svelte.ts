import { onLock } from "./scope";

export type Draft = { text: string; type: string | null; tags: string[] };

/** What the list asks of the open record, and unsaved edits, kept in memory only. */
class Detail {
  asked = $state.raw<{ what: "edit" | "tag" | "redact" } | null>(null);
  drafts = $state<Record<string, Draft>>({});

  ask(what: "edit" | "tag" | "redact"): void {
    this.asked = { what };
  }

  keep(id: string, draft: Draft): void {
    this.drafts = { ...this.drafts, [id]: draft };
  }

  drop(id: string): void {
    const { [id]: _gone, ...rest } = this.drafts;
    this.drafts = rest;
  }

  clear(): void {
    this.asked = null;
    this.drafts = {};
  }
}

export const detail = new Detail();
onLock(() => detail.clear());
