import { backend } from "$lib/ipc";
import { itemsOf, RecordList, type Row } from "./records.svelte";

/** Conversations; while searching, those whose messages match, in the order of their best hit. */
class ConversationList extends RecordList {
  protected override async found(run: number): Promise<Row[] | null> {
    const filter = { ...this.filter, kind: "message" };
    const first = this.offset === 0;
    const [messages, titles] = await Promise.all([
      backend().search({ query: this.query, filter, limit: 100, offset: this.offset }),
      first ? backend().search({ query: this.query, filter: this.filter, limit: 20, offset: 0 }) : null,
    ]);
    const hits = [...(titles?.hits ?? []), ...messages.hits];
    const ids = hits
      .map((hit) => (hit.kind === "conversation" ? hit.id : hit.conversation_id))
      .filter((id) => id !== null);
    const items = await itemsOf(ids, this.filter);
    if (!this.current(run)) return null;
    this.advance(messages.hits.length, messages.hits.length === 0 ? this.offset : messages.total);
    const rows = new Map<string, Row>();
    for (const hit of hits) {
      const id = hit.kind === "conversation" ? hit.id : hit.conversation_id;
      const item = id ? items.get(id) : undefined;
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
