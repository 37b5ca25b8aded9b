//! Schema rules for the objects in a document, and the codes under which violations are reported. The rules for version
//! 1 follow the specification (§2–§7) and the published schema. The rules for version 2 follow the types of the
//! reference program.
use mementory_json::{
    Tree,
    schema::{
        Fit,
        Rule::{
            self, Any, Bool, Form, Int64, Length, List, Map, Number, Object, OpenWord, Range, Tagged, Text, Time,
            UnitInterval, Whole, Word,
        },
        TextForm, Violation, is_uri, nullable, optional, required,
    },
};

/// A version number `MAJOR.MINOR`.
const VERSION_FORM: TextForm =
    TextForm { expected: "a version MAJOR.MINOR", fit: |t| super::wire::version_parts(t).is_some().into() };
/// `sha256:` and 64 hex digits in lower or upper case, as in the published schema.
const CHECKSUM_FORM: TextForm = TextForm {
    expected: "sha256: and 64 digits",
    fit: |t| {
        let digest = t.strip_prefix("sha256:");
        digest.is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit())).into()
    },
};
/// A URI with its scheme, as in the published schema.
const URI_FORM: TextForm = TextForm { expected: "a URI", fit: |t| is_uri(t).into() };
const EXPORT_ID_FORM: TextForm = id(|t| prefixed(t, "exp_", |b| b.is_ascii_alphanumeric()));
const MEMORY_ID_FORM: TextForm = id(|t| prefixed(t, "mem_", |b| b.is_ascii_hexdigit() || b == b'-'));
const TASK_ID_FORM: TextForm = id(|t| prefixed(t, "todo_", |b| b.is_ascii_hexdigit() || b == b'-'));
/// A short id: one or more uppercase letters, a hyphen, and one or more digits.
const SHORT_ID_FORM: TextForm = id(|t| {
    let fits = |(letters, digits)| {
        prefixed(letters, "", |b| b.is_ascii_uppercase()) == Fit::Exact
            && prefixed(digits, "", |b| b.is_ascii_digit()) == Fit::Exact
    };
    t.split_once('-').is_some_and(fits).into()
});
/// A UUID in any notation that the reference program reads, including without hyphens or in braces.
const UUID_FORM: TextForm = TextForm { expected: "a UUID", fit: |t| uuid::Uuid::try_parse(t).is_ok().into() };

const fn id(fit: fn(&str) -> Fit) -> TextForm {
    TextForm { expected: "an id in the form that the format defines", fit }
}

/// Accepts a text that starts with this prefix, followed by one or more allowed bytes.
fn prefixed(text: &str, prefix: &str, is_allowed: fn(u8) -> bool) -> Fit {
    text.strip_prefix(prefix).is_some_and(|name| !name.is_empty() && name.bytes().all(is_allowed)).into()
}

/// Rule for the footer, the last line of JSON lines (SEP-002 §9). It is not defined what the checksum of this line
/// covers.
pub(super) const FOOTER_RULE: Rule = Object(&[optional("checksum", Text), optional("counts", Map(&Whole(0)))]);

/// Memory types of version 1: nine from the specification, and four that are only in the published schema.
pub(super) const MEMORY_TYPES_1: [&str; 13] = [
    "Observation",
    "Decision",
    "Learning",
    "Error",
    "Discovery",
    "Pattern",
    "Context",
    "Task",
    "CodeEdit",
    "FileAccess",
    "Search",
    "Command",
    "Conversation",
];
/// Memory types of version 2: those of version 1 in lower case, and one more.
pub(super) const MEMORY_TYPES_2: [&str; 14] = [
    "observation",
    "decision",
    "learning",
    "error",
    "discovery",
    "pattern",
    "context",
    "task",
    "code_edit",
    "file_access",
    "search",
    "command",
    "conversation",
    "intention",
];
pub(super) const TASK_STATES: [&str; 6] = ["backlog", "todo", "in_progress", "blocked", "done", "cancelled"];
/// Priorities of a todo.
pub(super) const TASK_PRIORITIES: [&str; 5] = ["urgent", "high", "medium", "low", "none"];
/// Source types of a memory.
pub(super) const SOURCE_TYPES: [&str; 5] = ["conversation", "file", "api", "hook", "user"];
/// Edge types of version 1: five from the specification, and one that is only in the published schema.
pub(super) const EDGE_TYPES: [&str; 6] =
    ["semantic_association", "entity_mention", "temporal_sequence", "causal", "user_linked", "todo_memory"];
/// Embedding models that the published schema of version 1 lists. The specification lists none.
pub(super) const EMBEDDING_MODELS: [&str; 5] =
    ["minilm-l6-v2", "bge-small-en-v1.5", "text-embedding-3-small", "text-embedding-3-large", "voyage-3"];

const TEXT_LIST_RULE: Rule = List(&Text);
const EMBEDDING_RULE: Rule = Object(&[
    required("model", OpenWord(&EMBEDDING_MODELS)),
    required("dimensions", Whole(1)),
    required("vector", List(&Number)),
    optional("normalized", Bool),
]);
const GENERATOR_RULE: Rule = Object(&[required("name", Text), required("version", Text)]);
const PRIVACY_RULE: Rule = Object(&[
    optional("pii_detected", Bool),
    optional("secrets_detected", Bool),
    optional("redacted_fields", TEXT_LIST_RULE),
]);
const REDACTION_RULE: Rule =
    Object(&[required("type", Text), optional("original_length", Whole(0)), optional("position", List(&Whole(0)))]);
const COMMENT_RULE: Rule = Object(&[
    required("id", Text),
    required("content", Text),
    required("created_at", Time),
    optional("type", Word(&["comment", "progress", "resolution", "activity"])),
]);
/// Consent (§6.3). The specification does not say which object contains it; here it is a member of the document.
const CONSENT_RULE: Rule = Object(&[
    optional("exported_by", Text),
    optional("purpose", Text),
    optional("retention_days", Whole(0)),
    optional("sharing_allowed", Bool),
    optional("gdpr_basis", Text),
    optional("timestamp", Time),
]);

/// Envelope of an encrypted document (§6.2). Its other members are checked by `envelope::find_faults`.
const ENCRYPTION_RULE: Rule = Object(&[
    required("algorithm", Text),
    required("key_derivation", Text),
    required("encrypted_payload", Text),
    required("iv", Text),
    required("auth_tag", Text),
]);

/// Rule for a version 1 document without its lists of records.
pub(super) const DOCUMENT_RULE_1: Rule = Object(&[
    optional("$schema", Form(&URI_FORM)),
    required("mif_version", Form(&VERSION_FORM)),
    optional("generator", GENERATOR_RULE),
    required(
        "export",
        Object(&[
            required("id", Form(&EXPORT_ID_FORM)),
            required("created_at", Time),
            required("user_id", Text),
            optional("checksum", Form(&CHECKSUM_FORM)),
        ]),
    ),
    required("memories", List(&Any)),
    optional("todos", List(&Any)),
    optional(
        "graph",
        Object(&[
            optional("format", Word(&["adjacency_list"])),
            optional("node_count", Whole(0)),
            optional("edge_count", Whole(0)),
            optional("nodes", List(&Any)),
            optional("edges", List(&Any)),
            optional(
                "hebbian_config",
                Object(&[
                    optional("learning_rate", Number),
                    optional("decay_rate", Number),
                    optional("ltp_threshold", Number),
                    optional("max_weight", Number),
                ]),
            ),
        ]),
    ),
    optional(
        "metadata",
        Object(&[
            optional("total_memories", Whole(0)),
            optional("total_todos", Whole(0)),
            optional("date_range", Object(&[optional("earliest", Time), optional("latest", Time)])),
            optional("memory_types", Map(&Whole(0))),
            optional("top_entities", List(&Object(&[optional("text", Text), optional("count", Whole(0))]))),
            optional(
                "projects",
                List(&Object(&[optional("id", Text), optional("name", Text), optional("todo_count", Whole(0))])),
            ),
            optional("privacy", PRIVACY_RULE),
        ]),
    ),
    optional("consent", CONSENT_RULE),
    nullable("encryption", ENCRYPTION_RULE),
    optional("redactions", List(&REDACTION_RULE)),
]);

/// Rule for a version 1 memory (§3).
pub(super) const MEMORY_RULE_1: Rule = Object(&[
    required("id", Form(&MEMORY_ID_FORM)),
    required("content", Length(100_000)),
    required("type", Word(&MEMORY_TYPES_1)),
    required("created_at", Time),
    optional("importance", UnitInterval),
    optional("updated_at", Time),
    optional("accessed_at", Time),
    optional("access_count", Whole(0)),
    optional("decay_rate", UnitInterval),
    optional("tags", TEXT_LIST_RULE),
    optional(
        "source",
        Object(&[optional("type", Word(&SOURCE_TYPES)), optional("session_id", Text), optional("agent", Text)]),
    ),
    optional(
        "entities",
        List(&Object(&[required("text", Text), required("type", Text), optional("confidence", UnitInterval)])),
    ),
    optional("embedding", EMBEDDING_RULE),
    optional(
        "relations",
        Object(&[optional("related_memories", TEXT_LIST_RULE), optional("related_todos", TEXT_LIST_RULE)]),
    ),
    optional("redactions", List(&REDACTION_RULE)),
]);

/// Rule for a version 1 todo (§4).
pub(super) const TASK_RULE_1: Rule = Object(&[
    required("id", Form(&TASK_ID_FORM)),
    required("content", Length(10_000)),
    required("status", Word(&TASK_STATES)),
    required("created_at", Time),
    optional("short_id", Form(&SHORT_ID_FORM)),
    optional("priority", Word(&TASK_PRIORITIES)),
    optional("updated_at", Time),
    nullable("due_date", Time),
    nullable("completed_at", Time),
    nullable("project", Object(&[optional("id", Text), optional("name", Text), optional("prefix", Text)])),
    optional("contexts", TEXT_LIST_RULE),
    optional("tags", TEXT_LIST_RULE),
    nullable("notes", Text),
    nullable("parent_id", Text),
    optional("subtask_ids", TEXT_LIST_RULE),
    nullable("blocked_on", Text),
    nullable("recurrence", Word(&["daily", "weekly", "monthly"])),
    optional("related_memory_ids", TEXT_LIST_RULE),
    optional("embedding", EMBEDDING_RULE),
    optional("comments", List(&COMMENT_RULE)),
]);

/// Rule for a node of a version 1 graph.
pub(super) const NODE_RULE: Rule = Object(&[
    required("id", Text),
    required("type", Word(&["memory", "todo", "entity"])),
    optional("entity_type", Text),
]);

/// Rule for an edge of a version 1 graph (§5).
pub(super) const EDGE_RULE: Rule = Object(&[
    required("source", Text),
    required("target", Text),
    required("weight", UnitInterval),
    required("type", Word(&EDGE_TYPES)),
    optional("created_at", Time),
    optional("strengthened_count", Whole(0)),
]);

/// Rule for a version 2 document without its lists of records.
pub(super) const DOCUMENT_RULE_2: Rule = Object(&[
    required("mif_version", Form(&VERSION_FORM)),
    required("generator", GENERATOR_RULE),
    required(
        "export_meta",
        Object(&[
            required("id", Text),
            required("created_at", Time),
            required("user_id", Text),
            required("checksum", Text),
            nullable("privacy", PRIVACY_RULE),
        ]),
    ),
    optional("memories", List(&Any)),
    optional("todos", List(&Any)),
    optional("projects", List(&Any)),
    optional("reminders", List(&Any)),
    nullable(
        "knowledge_graph",
        Object(&[
            optional("entities", List(&Any)),
            optional("relationships", List(&Any)),
            optional("episodes", List(&Any)),
        ]),
    ),
    optional("vendor_extensions", Map(&Any)),
]);

/// Rule for a version 2 memory.
pub(super) const MEMORY_RULE_2: Rule = Object(&[
    required("id", Form(&UUID_FORM)),
    required("content", Text),
    required("memory_type", OpenWord(&MEMORY_TYPES_2)),
    required("created_at", Time),
    optional("tags", TEXT_LIST_RULE),
    optional(
        "entities",
        List(&Object(&[required("name", Text), optional("entity_type", Text), optional("confidence", Number)])),
    ),
    optional("metadata", Map(&Text)),
    nullable(
        "embeddings",
        Object(&[required("model", Text), required("dimensions", Int64(0)), required("vector", List(&Number))]),
    ),
    nullable("source", Object(&[optional("source_type", Text), nullable("session_id", Text), nullable("agent", Text)])),
    nullable("parent_id", Form(&UUID_FORM)),
    optional("related_memory_ids", List(&Form(&UUID_FORM))),
    optional("related_todo_ids", List(&Form(&UUID_FORM))),
    nullable("agent_id", Text),
    nullable("external_id", Text),
    optional("version", Int64(0)),
]);

/// Rule for a version 2 todo.
pub(super) const TASK_RULE_2: Rule = Object(&[
    required("id", Form(&UUID_FORM)),
    required("content", Text),
    required("status", OpenWord(&TASK_STATES)),
    required("priority", OpenWord(&TASK_PRIORITIES)),
    required("created_at", Time),
    required("updated_at", Time),
    nullable("due_date", Time),
    nullable("completed_at", Time),
    optional("tags", TEXT_LIST_RULE),
    optional("contexts", TEXT_LIST_RULE),
    nullable("notes", Text),
    nullable("parent_id", Form(&UUID_FORM)),
    optional("related_memory_ids", List(&Form(&UUID_FORM))),
    optional("blocked_by", TEXT_LIST_RULE),
]);

/// Rule for a version 2 project.
pub(super) const PROJECT_RULE: Rule = Object(&[
    required("id", Form(&UUID_FORM)),
    required("name", Text),
    required("created_at", Time),
    nullable("prefix", Text),
    nullable("description", Text),
    optional("status", OpenWord(&["active", "archived", "completed", "onhold"])),
]);

/// Rule for a version 2 reminder.
pub(super) const REMINDER_RULE: Rule = Object(&[
    required("id", Form(&UUID_FORM)),
    required("content", Text),
    required(
        "trigger",
        Tagged(&[
            ("time", Object(&[required("at", Time)])),
            ("duration", Object(&[required("seconds", Int64(0)), required("from", Time)])),
            ("context", Object(&[required("keywords", TEXT_LIST_RULE), optional("threshold", Number)])),
        ]),
    ),
    required("status", Text),
    required("created_at", Time),
    optional("priority", Range(0, 255)),
    optional("tags", TEXT_LIST_RULE),
]);

/// Rule for an entity of a version 2 graph.
pub(super) const ENTITY_RULE: Rule = Object(&[
    required("id", Form(&UUID_FORM)),
    required("name", Text),
    required("created_at", Time),
    required("last_seen_at", Time),
    optional("types", TEXT_LIST_RULE),
    optional("attributes", Map(&Text)),
    optional("summary", Text),
    nullable("fine_type", Text),
]);

/// Rule for a relationship of a version 2 graph.
pub(super) const RELATIONSHIP_RULE: Rule = Object(&[
    required("id", Form(&UUID_FORM)),
    required("source_entity_id", Form(&UUID_FORM)),
    required("target_entity_id", Form(&UUID_FORM)),
    required("relation_type", Text),
    required("created_at", Time),
    required("valid_at", Time),
    nullable("context", Text),
    nullable("confidence", Number),
    nullable("invalidated_at", Time),
]);

/// Rule for an episode of a version 2 graph.
pub(super) const EPISODE_RULE: Rule = Object(&[
    required("id", Form(&UUID_FORM)),
    required("name", Text),
    required("created_at", Time),
    optional("content", Text),
]);

/// Code of a violation, and true if it is only a warning.
pub(super) fn code_of(violation: &Violation) -> (&'static str, bool) {
    match violation {
        Violation::MissingField => ("missing_field", false),
        Violation::WrongType(_) => ("wrong_type", false),
        Violation::Empty => ("empty", false),
        Violation::TooLong(_) => ("too_long", false),
        Violation::UnknownWord(_) | Violation::UnknownTag => ("unknown_value", false),
        Violation::UnlistedWord(_) => ("unusual_value", true),
        Violation::RepeatedKey => ("duplicate_key", true),
        _ => ("bad_value", false),
    }
}

/// Converts numbers and booleans of a YAML document to text where the rule requires text.
pub(super) fn restore_text_scalars(tree: &mut Tree, rule: &Rule) {
    match (rule, tree) {
        (rule, tree) if rule.is_text() => {
            let text = match tree {
                Tree::Number(token) => std::mem::take(token),
                Tree::Bool(b) => b.to_string(),
                _ => return,
            };
            *tree = Tree::Text(text);
        }
        (List(inner), Tree::Array(items)) => items.iter_mut().for_each(|item| restore_text_scalars(item, inner)),
        (Map(inner), Tree::Object(members)) => {
            members.iter_mut().for_each(|(_, value)| restore_text_scalars(value, inner))
        }
        (Object(fields), Tree::Object(members)) => {
            for field in *fields {
                let same_members = members.iter_mut().filter(|(key, _)| key == field.name);
                same_members.for_each(|(_, value)| restore_text_scalars(value, &field.rule));
            }
        }
        _ => {}
    }
}
