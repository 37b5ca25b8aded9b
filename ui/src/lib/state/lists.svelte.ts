import { RecordList } from "./records.svelte";

export const memories = new RecordList({ kind: "memory" });
/** Conversations. During a search those with matching messages, ordered by their best hit. */
export const conversations = new RecordList({ kind: "conversation" });
export const files = new RecordList({ kind: "attachment" });
export const trash = new RecordList({ trash: true });
