import { RecordList } from "./records.svelte";

export const memories = new RecordList({ kind: "memory" });
/** All conversations or, during a search, those with messages that match, ordered by their best hit. */
export const conversations = new RecordList({ kind: "conversation" });
export const files = new RecordList({ kind: "attachment" });
export const trash = new RecordList({ trash: true });
