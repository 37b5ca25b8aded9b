//! What each part of a document may hold, as data (specification §2–§7 and the published schema for version 1; the
//! reference program's own types for version 2), and the check of a tree against it.
use mementory_json::Tree;
use mementory_model::Timestamp;

/// A rule for one value.
pub(super) enum Rule {
    /// Anything.
    Any,
    /// A string.
    Text,
    /// A string of 1 to so many code points.
    Length(usize),
    /// An id: what stands before it, and which other characters it may have.
    Id(&'static str, Letters),
    /// RFC 3339.
    Time,
    /// `sha256:` and 64 hex digits.
    Checksum,
    /// `MAJOR.MINOR`
    Version,
    /// A number.
    Number,
    /// A whole number of at least this.
    Whole(i64),
    /// A number from 0 to 1.
    Unit,
    /// true, false.
    Bool,
    /// One of these words; another one is an error.
    Word(&'static [&'static str]),
    /// One of these words; another one is worth knowing.
    Usual(&'static [&'static str]),
    /// A list of these.
    List(&'static Rule),
    /// An object with free keys and these values.
    Map(&'static Rule),
    /// An object with these members; others are allowed.
    Object(&'static [Field]),
    /// An object whose `type` names which of these rules holds.
    Tagged(&'static [(&'static str, Rule)]),
}

/// Characters of an id behind its prefix.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Letters {
    /// Hex digits and hyphens.
    Hex,
    /// ASCII letters and digits.
    Alphanumeric,
    /// A UUID.
    Uuid,
    /// Capitals, a hyphen, digits.
    Short,
}

/// A member of an object: name, required, null allowed, rule.
pub(super) struct Field(pub &'static str, pub bool, pub bool, pub Rule);

use Letters::{Alphanumeric, Hex, Short, Uuid};
use Rule::{
    Any, Bool, Checksum, Id, Length, List, Map, Number, Object, Tagged, Text, Time, Unit, Usual, Version, Whole, Word,
};

const fn must(name: &'static str, rule: Rule) -> Field {
    Field(name, true, false, rule)
}
const fn may(name: &'static str, rule: Rule) -> Field {
    Field(name, false, false, rule)
}
const fn nullable(name: &'static str, rule: Rule) -> Field {
    Field(name, false, true, rule)
}

/// Memory types of version 1: nine of the specification, four more of its schema.
pub(super) const TYPES: [&str; 13] = [
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
/// The same words as version 2 writes them, and the one that only it has.
pub(super) const TYPES_2: [&str; 14] = [
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
/// States of a todo.
pub(super) const STATES: [&str; 6] = ["backlog", "todo", "in_progress", "blocked", "done", "cancelled"];
/// Priorities of a todo.
pub(super) const PRIORITIES: [&str; 5] = ["urgent", "high", "medium", "low", "none"];
/// Where a memory came from.
pub(super) const SOURCES: [&str; 5] = ["conversation", "file", "api", "hook", "user"];
/// Edge types of version 1: five of the specification, one more of its schema.
pub(super) const EDGE_TYPES: [&str; 6] =
    ["semantic_association", "entity_mention", "temporal_sequence", "causal", "user_linked", "todo_memory"];
/// Models of vectors that the schema of version 1 lists; the specification lists none.
pub(super) const MODELS: [&str; 5] =
    ["minilm-l6-v2", "bge-small-en-v1.5", "text-embedding-3-small", "text-embedding-3-large", "voyage-3"];

const TEXTS: Rule = List(&Text);
const EMBEDDING: Rule = Object(&[
    must("model", Usual(&MODELS)),
    must("dimensions", Whole(1)),
    must("vector", List(&Number)),
    may("normalized", Bool),
]);
const GENERATOR: Rule = Object(&[must("name", Text), must("version", Text)]);
const PRIVACY: Rule =
    Object(&[may("pii_detected", Bool), may("secrets_detected", Bool), may("redacted_fields", TEXTS)]);
const REDACTION: Rule =
    Object(&[must("type", Text), may("original_length", Whole(0)), may("position", List(&Whole(0)))]);
const COMMENT: Rule = Object(&[
    must("id", Text),
    must("content", Text),
    must("created_at", Time),
    may("type", Word(&["comment", "progress", "resolution", "activity"])),
]);
/// Consent (§6.3), in the document; the specification does not say where.
const CONSENT: Rule = Object(&[
    may("exported_by", Text),
    may("purpose", Text),
    may("retention_days", Whole(0)),
    may("sharing_allowed", Bool),
    may("gdpr_basis", Text),
    may("timestamp", Time),
]);

/// A version 1 document without its lists of records.
pub(super) const DOCUMENT_1: Rule = Object(&[
    may("$schema", Text),
    must("mif_version", Version),
    may("generator", GENERATOR),
    must(
        "export",
        Object(&[
            must("id", Id("exp_", Alphanumeric)),
            must("created_at", Time),
            must("user_id", Text),
            may("checksum", Checksum),
        ]),
    ),
    must("memories", List(&Any)),
    may("todos", List(&Any)),
    may(
        "graph",
        Object(&[
            may("format", Word(&["adjacency_list"])),
            may("node_count", Whole(0)),
            may("edge_count", Whole(0)),
            may("nodes", List(&Any)),
            may("edges", List(&Any)),
            may(
                "hebbian_config",
                Object(&[
                    may("learning_rate", Number),
                    may("decay_rate", Number),
                    may("ltp_threshold", Number),
                    may("max_weight", Number),
                ]),
            ),
        ]),
    ),
    may(
        "metadata",
        Object(&[
            may("total_memories", Whole(0)),
            may("total_todos", Whole(0)),
            may("date_range", Object(&[may("earliest", Time), may("latest", Time)])),
            may("memory_types", Map(&Whole(0))),
            may("top_entities", List(&Object(&[may("text", Text), may("count", Whole(0))]))),
            may("projects", List(&Object(&[may("id", Text), may("name", Text), may("todo_count", Whole(0))]))),
            may("privacy", PRIVACY),
        ]),
    ),
    may("consent", CONSENT),
    may("redactions", List(&REDACTION)),
]);

/// A version 1 memory (§3).
pub(super) const MEMORY_1: Rule = Object(&[
    must("id", Id("mem_", Hex)),
    must("content", Length(100_000)),
    must("type", Word(&TYPES)),
    must("created_at", Time),
    may("importance", Unit),
    may("updated_at", Time),
    may("accessed_at", Time),
    may("access_count", Whole(0)),
    may("decay_rate", Unit),
    may("tags", TEXTS),
    may("source", Object(&[may("type", Word(&SOURCES)), may("session_id", Text), may("agent", Text)])),
    may("entities", List(&Object(&[must("text", Text), must("type", Text), may("confidence", Unit)]))),
    may("embedding", EMBEDDING),
    may("relations", Object(&[may("related_memories", TEXTS), may("related_todos", TEXTS)])),
    may("redactions", List(&REDACTION)),
]);

/// A version 1 todo (§4).
pub(super) const TASK_1: Rule = Object(&[
    must("id", Id("todo_", Hex)),
    must("content", Length(10_000)),
    must("status", Word(&STATES)),
    must("created_at", Time),
    may("short_id", Id("", Short)),
    may("priority", Word(&PRIORITIES)),
    may("updated_at", Time),
    nullable("due_date", Time),
    nullable("completed_at", Time),
    nullable("project", Object(&[may("id", Text), may("name", Text), may("prefix", Text)])),
    may("contexts", TEXTS),
    may("tags", TEXTS),
    nullable("notes", Text),
    nullable("parent_id", Text),
    may("subtask_ids", TEXTS),
    nullable("blocked_on", Text),
    nullable("recurrence", Word(&["daily", "weekly", "monthly"])),
    may("related_memory_ids", TEXTS),
    may("embedding", EMBEDDING),
    may("comments", List(&COMMENT)),
]);

/// A node of a version 1 graph.
pub(super) const NODE: Rule =
    Object(&[must("id", Text), must("type", Word(&["memory", "todo", "entity"])), may("entity_type", Text)]);

/// An edge of a version 1 graph (§5).
pub(super) const EDGE: Rule = Object(&[
    must("source", Text),
    must("target", Text),
    must("weight", Unit),
    must("type", Word(&EDGE_TYPES)),
    may("created_at", Time),
    may("strengthened_count", Whole(0)),
]);

/// A version 2 document without its lists of records.
pub(super) const DOCUMENT_2: Rule = Object(&[
    must("mif_version", Version),
    must("generator", GENERATOR),
    must(
        "export_meta",
        Object(&[
            must("id", Text),
            must("created_at", Time),
            must("user_id", Text),
            must("checksum", Text),
            nullable("privacy", PRIVACY),
        ]),
    ),
    may("memories", List(&Any)),
    may("todos", List(&Any)),
    may("projects", List(&Any)),
    may("reminders", List(&Any)),
    nullable(
        "knowledge_graph",
        Object(&[may("entities", List(&Any)), may("relationships", List(&Any)), may("episodes", List(&Any))]),
    ),
    may("vendor_extensions", Map(&Any)),
]);

/// A version 2 memory.
pub(super) const MEMORY_2: Rule = Object(&[
    must("id", Id("", Uuid)),
    must("content", Text),
    must("memory_type", Usual(&TYPES_2)),
    must("created_at", Time),
    may("tags", TEXTS),
    may("entities", List(&Object(&[must("name", Text), may("entity_type", Text), may("confidence", Number)]))),
    may("metadata", Map(&Text)),
    nullable("embeddings", Object(&[must("model", Text), must("dimensions", Whole(0)), must("vector", List(&Number))])),
    nullable("source", Object(&[may("source_type", Text), nullable("session_id", Text), nullable("agent", Text)])),
    nullable("parent_id", Id("", Uuid)),
    may("related_memory_ids", List(&Id("", Uuid))),
    may("related_todo_ids", List(&Id("", Uuid))),
    nullable("agent_id", Text),
    nullable("external_id", Text),
    may("version", Whole(0)),
]);

/// A version 2 todo.
pub(super) const TASK_2: Rule = Object(&[
    must("id", Id("", Uuid)),
    must("content", Text),
    must("status", Usual(&STATES)),
    must("priority", Usual(&PRIORITIES)),
    must("created_at", Time),
    must("updated_at", Time),
    nullable("due_date", Time),
    nullable("completed_at", Time),
    may("tags", TEXTS),
    may("contexts", TEXTS),
    nullable("notes", Text),
    nullable("parent_id", Id("", Uuid)),
    may("related_memory_ids", List(&Id("", Uuid))),
    may("blocked_by", TEXTS),
]);

/// A version 2 project.
pub(super) const PROJECT: Rule = Object(&[
    must("id", Id("", Uuid)),
    must("name", Text),
    must("created_at", Time),
    nullable("prefix", Text),
    nullable("description", Text),
    may("status", Usual(&["active", "archived", "completed", "onhold"])),
]);

/// A version 2 reminder.
pub(super) const REMINDER: Rule = Object(&[
    must("id", Id("", Uuid)),
    must("content", Text),
    must(
        "trigger",
        Tagged(&[
            ("time", Object(&[must("at", Time)])),
            ("duration", Object(&[must("seconds", Whole(0)), must("from", Time)])),
            ("context", Object(&[must("keywords", TEXTS), may("threshold", Number)])),
        ]),
    ),
    must("status", Text),
    must("created_at", Time),
    may("priority", Whole(0)),
    may("tags", TEXTS),
]);

/// An entity of a version 2 graph.
pub(super) const ENTITY: Rule = Object(&[
    must("id", Id("", Uuid)),
    must("name", Text),
    must("created_at", Time),
    must("last_seen_at", Time),
    may("types", TEXTS),
    may("attributes", Map(&Text)),
    may("summary", Text),
    nullable("fine_type", Text),
]);

/// A relationship of a version 2 graph.
pub(super) const RELATIONSHIP: Rule = Object(&[
    must("id", Id("", Uuid)),
    must("source_entity_id", Id("", Uuid)),
    must("target_entity_id", Id("", Uuid)),
    must("relation_type", Text),
    must("created_at", Time),
    must("valid_at", Time),
    nullable("context", Text),
    nullable("confidence", Number),
    nullable("invalidated_at", Time),
]);

/// An episode of a version 2 graph.
pub(super) const EPISODE: Rule =
    Object(&[must("id", Id("", Uuid)), must("name", Text), must("created_at", Time), may("content", Text)]);

/// A broken rule.
pub(super) struct Breach {
    /// Stable code.
    pub code: &'static str,
    /// JSON pointer.
    pub at: String,
    /// For people; no content.
    pub message: String,
    /// Only worth knowing.
    pub warning: bool,
}

/// Checks a tree against a rule; all breaches, outermost first. Depth is that of the rule tables.
pub(super) fn check(tree: &Tree, rule: &Rule, at: &str, out: &mut Vec<Breach>) {
    let mut say = |code, message: String, warning| out.push(Breach { code, at: at.to_owned(), message, warning });
    match (rule, tree) {
        (Any, _) | (Bool, Tree::Bool(_)) | (Text, Tree::Text(_)) => {}
        (Number, Tree::Number(n)) => {
            if !n.parse::<f64>().is_ok_and(f64::is_finite) {
                say("bad_value", "a number beyond 64 bits".into(), false);
            }
        }
        (Length(most), Tree::Text(t)) => {
            if t.is_empty() {
                say("empty", "must not be empty".into(), false);
            } else if t.chars().count() > *most {
                say("too_long", format!("longer than {most} characters"), false);
            }
        }
        (Word(words), Tree::Text(t)) if !words.contains(&t.as_str()) => {
            say("unknown_value", "a word that this version does not have".into(), false);
        }
        (Usual(words), Tree::Text(t)) if !words.contains(&t.as_str()) => {
            say("unusual_value", "a word that the format does not list".into(), true);
        }
        (Word(_) | Usual(_), Tree::Text(_)) => {}
        (Id(..) | Time | Checksum | Version, Tree::Text(t)) => {
            if let Some(what) = bad_text(rule, t) {
                say("bad_value", format!("not {what}"), false);
            }
        }
        (Whole(least), Tree::Number(n)) => {
            // 2.0 is a whole number in JSON Schema
            let double = || n.parse::<f64>().ok().filter(|f| f.fract() == 0.0 && f.abs() < 9.2e18);
            let whole = n.parse::<i64>().ok().or_else(|| double().map(|f| f as i64));
            if whole.is_none_or(|w| w < *least) {
                say("bad_value", format!("not a whole number of at least {least}"), false);
            }
        }
        (Unit, Tree::Number(n)) => {
            if !n.parse::<f64>().is_ok_and(|f| (0.0..=1.0).contains(&f)) {
                say("bad_value", "not between 0 and 1".into(), false);
            }
        }
        (List(inner), Tree::Array(items)) => {
            for (i, item) in items.iter().enumerate() {
                check(item, inner, &format!("{at}/{i}"), out);
            }
        }
        (Map(inner), Tree::Object(members)) => {
            for (key, value) in members {
                check(value, inner, &format!("{at}/{}", escaped(key)), out);
            }
        }
        (Tagged(rules), Tree::Object(_)) => {
            let tag = tree.get("type").and_then(Tree::as_str);
            match rules.iter().find(|(name, _)| Some(*name) == tag) {
                Some((_, rule)) => check(tree, rule, at, out),
                None => say("unknown_value", "a type that this version does not have".into(), false),
            }
        }
        (Object(fields), Tree::Object(_)) => {
            for Field(name, required, null, rule) in *fields {
                let here = format!("{at}/{name}");
                match tree.get(name) {
                    None if *required => out.push(Breach {
                        code: "missing_field",
                        at: here,
                        message: "a required field is missing".into(),
                        warning: false,
                    }),
                    None => {}
                    Some(Tree::Null) if *null => {}
                    Some(value) => check(value, rule, &here, out),
                }
            }
        }
        _ => say("wrong_type", "a value of another type than the format has here".into(), false),
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn bad_text(rule: &Rule, t: &str) -> Option<&'static str> {
    let (good, what) = match rule {
        Time => (is_time(t), "an RFC 3339 date and time"),
        Version => (super::wire::version_parts(t).is_some(), "a version MAJOR.MINOR"),
        Checksum => {
            let digest = t.strip_prefix("sha256:");
            (digest.is_some_and(|h| h.len() == 64 && h.bytes().all(|b| b.is_ascii_hexdigit())), "sha256: and 64 digits")
        }
        Id(prefix, letters) => {
            let rest = t.strip_prefix(prefix);
            let good = rest.is_some_and(|rest| !rest.is_empty() && has_letters(rest, *letters));
            (good, if *letters == Uuid { "a UUID" } else { "an id in the form that the format gives" })
        }
        _ => (true, ""),
    };
    (!good).then_some(what)
}

fn has_letters(rest: &str, letters: Letters) -> bool {
    match letters {
        Hex => rest.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-'),
        Alphanumeric => rest.bytes().all(|b| b.is_ascii_alphanumeric()),
        Uuid => uuid::Uuid::try_parse(rest).is_ok(),
        Short => rest.split_once('-').is_some_and(|(a, b)| {
            !a.is_empty()
                && !b.is_empty()
                && a.bytes().all(|b| b.is_ascii_uppercase())
                && b.bytes().all(|b| b.is_ascii_digit())
        }),
    }
}

/// Date, time and zone, all of them.
pub(super) fn is_time(t: &str) -> bool {
    let zoned =
        t.ends_with(['Z', 'z']) || t.get(t.len().saturating_sub(6)..).is_some_and(|z| z.starts_with(['+', '-']));
    zoned && t.len() >= 20 && Timestamp::parse(t).is_some()
}

/// Numbers and words where the rule wants text become the text that stood there: YAML may have taken them for more.
pub(super) fn settle(tree: &mut Tree, rule: &Rule) {
    match (rule, tree) {
        (Text | Length(_) | Id(..) | Time | Checksum | Version | Word(_) | Usual(_), tree) => {
            let text = match tree {
                Tree::Number(token) => std::mem::take(token),
                Tree::Bool(b) => b.to_string(),
                _ => return,
            };
            *tree = Tree::Text(text);
        }
        (List(inner), Tree::Array(items)) => items.iter_mut().for_each(|item| settle(item, inner)),
        (Map(inner), Tree::Object(members)) => members.iter_mut().for_each(|(_, value)| settle(value, inner)),
        (Object(fields), Tree::Object(members)) => {
            for Field(name, _, _, rule) in *fields {
                members.iter_mut().filter(|(key, _)| key == name).for_each(|(_, value)| settle(value, rule));
            }
        }
        _ => {}
    }
}
