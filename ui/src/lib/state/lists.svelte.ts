import { meaning } from "./meaning.svelte";
import { RecordList } from "./records.svelte";
import { vault } from "./vault.svelte";

/**
 * The rows of memories are reloaded after memories are encoded too, because the subject that a row shows may be
 * suggested by vectors.
 */
export const memories = new RecordList({ kind: "memory" }, () => vault.revision + meaning.revision);
/** All conversations or, during a search, those with messages that match, ordered by their best hit. */
export const conversations = new RecordList({ kind: "conversation" });
export const files = new RecordList({ kind: "attachment" });
export const trash = new RecordList({ trash: true });
