import { backend } from "$lib/ipc";
import { itemsOf, MOST, RecordList, rowOf, TITLES, type Row } from "./records.svelte";

/** Conversations; while searching, those whose messages match, in the order of their best hit. */
class ConversationList extends RecordList {
  protected override async found(run: number, limit: number): Promise<Row[] | null> {
    const filter = { ...this.filter, kind: "message" };
    const first = this.offset === 0;
    const ask = { query: this.query, typing: true };
    const [messages, titles] = await Promise.all([
      // The conversations of all hits are then asked for in one call.
      backend().search({ ...ask, filter, limit: Math.min(limit, MOST - TITLES), offset: this.offset }),
      first ? backend().search({ ...ask, filter: this.filter, limit: TITLES, offset: 0 }) : null,
    ]);
    const hits = [...(titles?.hits ?? []), ...messages.hits];
    const ids = hits.map(rowOf).filter((id) => id !== null);
    const items = await itemsOf(ids, this.filter);
    if (!this.current(run)) return null;
    this.advance(messages.hits.length, messages.hits.length === 0 ? this.offset : messages.total);
    const rows = new Map<string, Row>();
    for (const hit of hits) {
      const item = items.get(rowOf(hit) ?? "");
      if (!item) continue;
      const found =
        hit.kind === "message" ? { snippet: hit.snippet, highlights: hit.highlights, message: hit.id } : null;
      const row = rows.get(item.id);
      if (!row) rows.set(item.id, { ...item, snippet: null, highlights: [], message: null, ...found });
      else if (found && row.message === null) rows.set(item.id, { ...row, ...found });
    }
    return [...rows.values()];
  }
}

export const memories = new RecordList({ kind: "memory" });
export const conversations = new ConversationList({ kind: "conversation" });
export const files = new RecordList({ kind: "attachment" });
export const trash = new RecordList({ trash: true });
