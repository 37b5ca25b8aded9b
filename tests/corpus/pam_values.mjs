// Values in PAM documents that the specification and its schemas forbid. The checksum is made from the changed
// memories.
import { CONVERSATION, EMBEDDINGS, contentHash } from "./pam_store.mjs";

const editStore = (change) => ({ store: (store) => void change(store) });
const editMemory = (change) => editStore((store) => change(store.memories[0], store));
const editConversation = (change) => ({ conversation: (value) => void change(value) });
const editEmbedding = (change) => ({ embeddings: (value) => void change(value.embeddings[0], value) });

/** Sets the member at a path such as `temporal.created_at`. The value undefined removes the member. */
function set(object, path, value) {
  const parts = path.split(".");
  const last = parts.pop();
  const parent = parts.reduce((at, part) => at[part], object);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
}

/**
 * Changes to a memory: [path of the member, new value (`undefined` removes it), error code that `validate` reports].
 */
const MEMORY = [
  ["type", "opinion", "bad_value"],
  ["type", undefined, "missing_field"],
  ["type", "custom", "custom_type"],
  ["custom_type", "rowing", "custom_type"],
  ["content", "", "empty"],
  ["content_hash", undefined, "missing_field"],
  ["content_hash", `sha256:${"A".repeat(64)}`, "bad_value"],
  ["content_hash", "md5:00", "bad_value"],
  ["content_hash", `sha256:${"0".repeat(64)}`, "content_hash_mismatch"],
  ["status", "deleted", "bad_value"],
  ["status", null, "wrong_type"],
  ["summary", 7, "wrong_type"],
  ["tags", "rowing", "wrong_type"],
  ["tags", ["Rowing"], "bad_value"],
  ["tags", ["-rowing"], "bad_value"],
  ["tags", ["dawn", "dawn"], "bad_value"],
  ["confidence.initial", 1.7, "bad_value"],
  ["confidence.current", -0.1, "bad_value"],
  ["confidence.current", null, "wrong_type"],
  ["confidence.current", "high", "wrong_type"],
  ["confidence.decay_model", "fast", "bad_value"],
  ["confidence.extra", 1, "unknown_field"],
  ["temporal", undefined, "missing_field"],
  ["temporal.created_at", undefined, "missing_field"],
  ["temporal.created_at", null, "wrong_type"],
  ["temporal.created_at", "2026-02-30T00:00:00Z", "bad_date"],
  ["temporal.created_at", "2026-01-01T25:00:00Z", "bad_date"],
  ["temporal.created_at", "2026-01-01", "bad_date"],
  ["temporal.created_at", 1_767_225_600, "wrong_type"],
  ["temporal.created_at", "0001-01-01T00:00:00+23:59", ""],
  ["temporal.created_at", "9999-12-31T23:59:59-23:59", ""],
  ["temporal.updated_at", "2020-01-01T00:00:00Z", "time_order"],
  ["temporal.valid_until", "2020-01-01T00:00:00Z", "time_order"],
  ["temporal.superseded_by", "m-99", "dangling_reference"],
  ["temporal.superseded_by", "m-01", ""],
  ["provenance.platform", undefined, "missing_field"],
  ["provenance.platform", "Claude", "bad_value"],
  ["provenance.platform", "x", "bad_value"],
  ["provenance.platform", "x".repeat(33), "bad_value"],
  ["provenance.extraction_method", "guess", "bad_value"],
  ["provenance.extractor", "ruder", "bad_value"],
  ["provenance.extracted_at", "soon", "bad_date"],
  ["provenance.conversation_ref", "talk-z", "dangling_reference"],
  ["access.visibility", "secret", "bad_value"],
  ["access.exportable", "no", "wrong_type"],
  ["access.shared_with", [{ entity: "club", permissions: [] }], "bad_value"],
  ["access.shared_with", [{ entity: "club", permissions: ["read", "read"] }], "bad_value"],
  ["access.shared_with", [{ entity: "", permissions: ["read"] }], "empty"],
  ["access.shared_with", [{ permissions: ["own"] }], "missing_field"],
  ["embedding_ref", "v-99", "dangling_reference"],
  ["embedding_ref", 99, "dangling_reference"],
  ["embedding_ref", "", ""],
  ["temporal.superseded_by", "", ""],
  ["provenance.conversation_ref", "", ""],
  ["provenance.message_ref", "", ""],
  ["metadata.language", "english", "bad_value"],
  ["metadata", [], "wrong_type"],
  ["x_more", 1, "unknown_field"],
];

const ROOT = [
  ["schema_version", undefined, "missing_field"],
  ["owner", undefined, "missing_field"],
  ["owner.id", "", "empty"],
  ["owner.did", "alice", "bad_value"],
  ["owner.did", "did:web:a\nb", "bad_value"],
  ["owner.name", "Lena", "unknown_field"],
  ["exported_by", "ruder 1", "bad_value"],
  ["export_date", null, "wrong_type"],
  ["export_date", "yesterday", "bad_date"],
  ["export_type", "partial", "bad_value"],
  ["since", "yesterday", "bad_date"],
  ["relations", null, "wrong_type"],
  ["spec_uri", "the specification", "bad_value"],
  ["type_registry", "//types", "bad_value"],
  ["export_date", "2026-03-01T00:00:00+24:00", "bad_date"],
  ["extra", true, "unknown_field"],
];

const RELATION = [
  ["id", undefined, "missing_field"],
  ["id", "r-1", "duplicate_id"],
  ["from", "m-99", "dangling_reference"],
  ["to", "m-99", "dangling_reference"],
  ["type", "likes", "bad_value"],
  ["confidence", 1.7, "bad_value"],
  ["created_at", undefined, "missing_field"],
  ["note", "x", "unknown_field"],
];

const INDEX = [
  ["platform", undefined, "missing_field"],
  ["temporal", undefined, "missing_field"],
  ["message_count", -1, "bad_value"],
  ["message_count", 1.5, "wrong_type"],
  ["derived_memories", ["m-99"], "dangling_reference"],
  ["derived_memories", [99], "dangling_reference"],
  ["storage.type", "tape", "bad_value"],
  ["storage.ref", "../../evil.json", "unsafe_path"],
  ["storage.ref", "/etc/passwd", "unsafe_path"],
  ["storage.ref", "./../talk-a.json", "unsafe_path"],
  ["storage.ref", "./conversations/./talk-a.json", ""],
];

const CONVERSATION_VALUES = [
  ["provider", undefined, "missing_field"],
  ["provider.name", "Claude AI", "bad_value"],
  ["temporal.created_at", "never", "bad_date"],
  ["messages.0.role", "human", "bad_value"],
  ["messages.0.created_at", undefined, "missing_field"],
  ["messages.0.content.type", "html", "bad_value"],
  ["messages.0.content", "When shall I row?", "wrong_type"],
  ["messages.0.content", [{ type: "text", text: "When shall I row?" }], "wrong_type"],
  ["id", 7, "wrong_type"],
  ["messages.0.children_ids", [99], "wrong_type"],
  ["messages.0.token_count", -1, "bad_value"],
  ["messages.1.id", "n1", "duplicate_id"],
  ["messages.0.parent_id", "n4", ""],
  ["messages.1.parent_id", "", ""],
  ["messages.0.attachments.0.type", "zip", "bad_value"],
  ["messages.0.citations", [{ url: "over there" }], "bad_value"],
  ["messages.0.mood", "calm", "unknown_field"],
  ["import_metadata", { source_checksum: "md5:00" }, "bad_value"],
];

const EMBEDDING_VALUES = [
  ["id", "v-01", "duplicate_id"],
  ["memory_id", "m-01", "duplicate_id"],
  ["memory_id", "m-99", "dangling_reference"],
  ["dimensions", 3, "dimensions_mismatch"],
  ["dimensions", 0, "bad_value"],
  ["vector", ["0.25", -1.5], "wrong_type"],
  ["model", undefined, "missing_field"],
];

const casesOf = (what, rows, edit) =>
  Object.fromEntries(
    rows.map(([path, value, finds]) => {
      const shownValue = JSON.stringify(value);
      const name =
        value === undefined ? `${what} without ${path}` : `${what} with ${path} = ${shownValue.slice(0, 60)}`;
      return [name, [edit((object) => set(object, path, value)), "taken", finds]];
    }),
  );

/** The cases, in the structure that `pam.mjs` uses. */
export const valueCases = () => ({
  ...casesOf("a memory", MEMORY, (change) =>
    editMemory((memory) => {
      change(memory);
    }),
  ),
  ...casesOf("a store", ROOT, editStore),
  ...casesOf("a relation", RELATION, (change) => editStore((store) => change(store.relations[0]))),
  ...casesOf("an entry of the index", INDEX, (change) => editStore((store) => change(store.conversations_index[0]))),
  ...casesOf(CONVERSATION, CONVERSATION_VALUES, editConversation),
  ...casesOf(EMBEDDINGS, EMBEDDING_VALUES, editEmbedding),
  "a memory without id": [editMemory((memory) => delete memory.id), "taken", "missing_field"],
  "a memory without content": [editMemory((memory) => delete memory.content), "taken", "missing_field"],
  "a memory that is a text": [editStore((store) => store.memories.push("Lena rows.")), "taken", "wrong_type"],
  "two memories with one id": [
    editStore((store) => {
      const content = "Lena rows at noon.";
      store.memories.push({ ...store.memories[2], content, content_hash: contentHash(content) });
    }),
    "taken",
    "duplicate_id",
  ],
  "a relation of a memory with itself": [editStore((store) => (store.relations[0].to = "m-02")), "taken", ""],
  "superseded without a successor": [editMemory((memory) => (memory.temporal.superseded_by = null)), "taken", ""],
  "a time without a zone": [editMemory((memory) => (memory.temporal.created_at = "2026-01-01T00:00:00")), "taken", ""],
  "a memory that is not exportable": [editMemory((memory) => (memory.access.exportable = false)), "taken", ""],
  "a conversation that names an unknown parent": [
    editConversation((value) => (value.messages[1].parent_id = "n-99")),
    "taken",
    "",
  ],
  "an index with another number of messages": [
    editStore((store) => (store.conversations_index[0].message_count = 9)),
    "taken",
    "",
  ],
  "a conversation of another version": [
    editConversation((value) => (value.schema_version = "1.1")),
    "taken",
    "version_mismatch",
  ],
  "a conversation of the next major version": [
    editConversation((value) => (value.schema_version = "2.0")),
    "taken",
    "unsupported_version",
  ],
  "a conversation of a version that is none": [
    editConversation((value) => (value.schema_version = "one")),
    "taken",
    "version_malformed",
  ],
  "embeddings of the next major version": [
    { embeddings: (value) => void (value.schema_version = "2.0") },
    "taken",
    "unsupported_version",
  ],
});
