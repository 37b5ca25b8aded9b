import { meaning } from "./meaning.svelte";
import { RecordList } from "./records.svelte";
import { vault } from "./vault.svelte";

/** What a memory is about is also suggested by vectors, so its row may change after memories are encoded. */
export const memories = new RecordList({ kind: "memory" }, () => vault.revision + meaning.revision);
/** All conversations or, during a search, those with messages that match, ordered by their best hit. */
export const conversations = new RecordList({ kind: "conversation" });
export const files = new RecordList({ kind: "attachment" });
export const trash = new RecordList({ trash: true });
