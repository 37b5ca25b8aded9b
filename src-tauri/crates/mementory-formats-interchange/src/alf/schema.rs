//! Shapes of ALF documents as tables, and a walk that checks a JSON tree against them. Facts from the specification
//! (§3, §4.2) and the field names and rules that its schemas give; unknown words of a list are warnings (§8.2).
use mementory_json::Tree;
use mementory_model::Timestamp;

/// What a value must be.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    /// Anything.
    Any,
    /// Text.
    Text,
    /// Text of at least one character.
    Filled,
    /// A UUID.
    Uuid,
    /// A UUID that should be of version 7, lower case.
    UuidV7,
    /// RFC 3339 date and time.
    Time,
    /// `YYYY-MM-DD`.
    Date,
    /// Three numbers joined by dots.
    Version,
    /// `algorithm:hex`.
    Checksum,
    /// A whole number, at least this.
    Whole(i64),
    /// A number.
    Number,
    /// A number from 0 to 1.
    Unit,
    /// true, false.
    Bool,
    /// One of these words; another one is a warning.
    Word(&'static [&'static str]),
    /// A list of these.
    List(&'static Rule),
    /// An object with free keys and these values.
    Map(&'static Rule),
    /// An object with these members; others are allowed.
    Object(&'static [Field]),
}

/// A member of an object: name, required, null allowed, rule.
pub(super) struct Field(pub &'static str, pub bool, pub bool, pub Rule);

use Rule::{
    Any, Bool, Checksum, Date, Filled, List, Map, Number, Object, Text, Time, Unit, Uuid, UuidV7, Version, Whole, Word,
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
const fn must_or_null(name: &'static str, rule: Rule) -> Field {
    Field(name, true, true, rule)
}

/// `manifest.json`
pub(super) const MANIFEST: Rule = Object(&[
    must("alf_version", Version),
    must("created_at", Time),
    must(
        "agent",
        Object(&[
            must("id", Uuid),
            must("name", Text),
            must("source_runtime", Text),
            may("source_runtime_version", Text),
        ]),
    ),
    may(
        "runtime_hints",
        Object(&[
            must("primary_model", Text),
            must("last_model", Text),
            may("provider", Text),
            may("context_window", Whole(1)),
            nullable("notes", Text),
        ]),
    ),
    may("sync", Object(&[must("last_sequence", Whole(0)), may("last_sync_at", Time)])),
    must(
        "layers",
        Object(&[
            may("identity", Object(&[must("version", Whole(1)), must("file", Text)])),
            may("principals", Object(&[must("count", Whole(0)), must("file", Text)])),
            may("credentials", Object(&[must("count", Whole(0)), must("file", Text)])),
            may(
                "attachments",
                Object(&[
                    must("count", Whole(0)),
                    must("file", Text),
                    may("included_count", Whole(0)),
                    may("included_size_bytes", Whole(0)),
                    may("referenced_count", Whole(0)),
                    may("referenced_size_bytes", Whole(0)),
                ]),
            ),
            may(
                "memory",
                Object(&[
                    must("record_count", Whole(0)),
                    must("index_file", Text),
                    may("has_embeddings", Bool),
                    may("has_raw_source", Bool),
                    must(
                        "partitions",
                        List(&Object(&[
                            must("file", Text),
                            must("from", Date),
                            nullable("to", Date),
                            must("record_count", Whole(0)),
                            must("sealed", Bool),
                        ])),
                    ),
                ]),
            ),
        ]),
    ),
    may("raw_sources", List(&Text)),
    may("checksum", Checksum),
]);

/// `manifest.json` of a delta bundle.
pub(super) const DELTA_MANIFEST: Rule = Object(&[
    must("alf_version", Version),
    must("created_at", Time),
    must("agent", Object(&[must("id", Uuid), may("source_runtime", Text)])),
    must(
        "sync",
        Object(&[
            must("base_sequence", Whole(0)),
            must("new_sequence", Whole(0)),
            may("base_timestamp", Time),
            may("new_timestamp", Time),
        ]),
    ),
    must(
        "changes",
        Object(&[
            may("identity", Object(&[may("file", Text), may("new_version", Whole(1))])),
            may("principals", Object(&[may("file", Text), may("changed_ids", List(&Uuid))])),
            may("credentials", Object(&[may("file", Text)])),
            may("memory", Object(&[may("file", Text), may("record_count", Whole(0))])),
        ]),
    ),
]);

/// A line of a partition.
pub(super) const MEMORY: Rule = Object(&[
    must("id", UuidV7),
    must("agent_id", Uuid),
    must("content", Filled),
    must("memory_type", Word(&super::wire::MEMORY_TYPES)),
    may("category", Text),
    must(
        "source",
        Object(&[
            must("runtime", Text),
            may("runtime_version", Text),
            may("origin", Text),
            may("origin_file", Text),
            may("extraction_method", Word(&super::wire::METHODS)),
            may("session_id", Text),
            may("interaction_id", Text),
            may("identity_version", Whole(1)),
        ]),
    ),
    must(
        "temporal",
        Object(&[
            must("created_at", Time),
            nullable("updated_at", Time),
            nullable("observed_at", Time),
            nullable("valid_from", Time),
            nullable("valid_until", Time),
            nullable("last_accessed_at", Time),
            may("access_count", Whole(0)),
        ]),
    ),
    must("status", Word(&super::wire::STATUSES)),
    may("supersedes", Uuid),
    may("confidence", Unit),
    may(
        "entities",
        List(&Object(&[must("name", Text), must("type", Word(&super::wire::ENTITY_TYPES)), may("role", Text)])),
    ),
    may("tags", List(&Text)),
    must("namespace", Text),
    may(
        "embeddings",
        List(&Object(&[
            must("model", Text),
            must("dimensions", Whole(1)),
            must("vector", List(&Number)),
            must("computed_at", Time),
            must("source", Word(&["runtime", "sync_service", "import_adapter"])),
        ])),
    ),
    may("related_records", List(&Object(&[must("id", Uuid), must("relation", Text)]))),
    may("raw_source_format", Map(&Any)),
]);

const CAPABILITY: Rule = Object(&[
    must("name", Text),
    may("description", Text),
    may("priority", Whole(1)),
    may("portability", Word(&["intrinsic", "host_dependent"])),
    may("host_requirements", Text),
    may("credential_ids", List(&Uuid)),
]);

/// `identity.json`
pub(super) const IDENTITY: Rule = Object(&[
    must("id", Uuid),
    must("agent_id", Uuid),
    must("version", Whole(1)),
    must("updated_at", Time),
    may(
        "structured",
        Object(&[
            may("names", Object(&[must("primary", Text), may("nickname", Text), may("full", Text)])),
            may("role", Text),
            may("goals", List(&Text)),
            may(
                "psychology",
                Object(&[
                    may("neural_matrix", Map(&Unit)),
                    may("personality_traits", Object(&[must("framework", Text), must("scores", Map(&Number))])),
                    may("moral_alignment", Text),
                    may("mbti", Text),
                ]),
            ),
            may(
                "linguistics",
                Object(&[
                    may("formality_level", Unit),
                    may("verbosity", Unit),
                    may("humor_level", Unit),
                    may("slang_usage", Bool),
                    may("preferred_language", Text),
                    may(
                        "idiolect",
                        Object(&[
                            may("catchphrases", List(&Text)),
                            may("verbal_tics", List(&Text)),
                            may("avoided_words", List(&Text)),
                        ]),
                    ),
                ]),
            ),
            may("capabilities", List(&CAPABILITY)),
            may(
                "sub_agents",
                List(&Object(&[
                    must_or_null("agent_id", Uuid),
                    must("name", Text),
                    must("capabilities", List(&CAPABILITY)),
                    must("status", Word(&["active", "inactive", "unavailable"])),
                    nullable("last_invoked_at", Time),
                ])),
            ),
            may("aieos_extensions", Map(&Any)),
        ]),
    ),
    may(
        "prose",
        Object(&[
            may("soul", Text),
            may("operating_instructions", Text),
            may("identity_profile", Text),
            may("custom_blocks", Map(&Text)),
        ]),
    ),
    may("source_format", Text),
    may("raw_source", Map(&Any)),
]);

/// `principals.json`
pub(super) const PRINCIPALS: Rule = Object(&[must(
    "principals",
    List(&Object(&[
        must("id", Uuid),
        must("principal_type", Word(&["human", "agent"])),
        nullable("agent_id", Uuid),
        must(
            "profile",
            Object(&[
                must("id", Uuid),
                must("agent_id", Uuid),
                must("principal_id", Uuid),
                must("version", Whole(1)),
                must("updated_at", Time),
                may(
                    "structured",
                    Object(&[
                        may("name", Text),
                        may("timezone", Text),
                        may("locale", Text),
                        may("relationships", List(&Map(&Any))),
                    ]),
                ),
                may("prose", Object(&[may("user_profile", Text)])),
                may("source_format", Text),
                may("raw_source", Map(&Any)),
            ]),
        ),
    ])),
)]);

/// `credentials.json`
pub(super) const CREDENTIALS: Rule = Object(&[must(
    "credentials",
    List(&Object(&[
        must("id", Uuid),
        must("agent_id", Uuid),
        must("service", Text),
        must(
            "credential_type",
            Word(&["api_key", "oauth_token", "webhook_secret", "session_token", "ssh_key", "certificate", "custom"]),
        ),
        may("label", Text),
        may("capabilities_granted", List(&Text)),
        must("encrypted_payload", Text),
        must(
            "encryption",
            Object(&[
                must("algorithm", Text),
                may("kdf", Text),
                may(
                    "kdf_params",
                    Object(&[may("memory_cost", Whole(1)), may("time_cost", Whole(1)), may("parallelism", Whole(1))]),
                ),
                must("nonce", Text),
            ]),
        ),
        must("created_at", Time),
        nullable("updated_at", Time),
        nullable("last_rotated_at", Time),
        nullable("expires_at", Time),
        may("tags", List(&Text)),
    ])),
)]);

/// `attachments.json`
pub(super) const ATTACHMENTS: Rule = Object(&[
    may("artifact_size_threshold", Whole(0)),
    must(
        "attachments",
        List(&Object(&[
            must("id", Uuid),
            must("filename", Text),
            must("media_type", Text),
            must("size_bytes", Whole(0)),
            must("hash", Object(&[must("algorithm", Text), must("value", Text)])),
            must("source_path", Text),
            must_or_null("archive_path", Text),
            must_or_null("remote_ref", Text),
            may("referenced_by", List(&Uuid)),
        ])),
    ),
]);

/// A broken rule.
pub(super) struct Breach {
    /// Stable code.
    pub code: &'static str,
    /// JSON pointer.
    pub at: String,
    /// For people; no content.
    pub message: String,
    /// Only worth knowing (unknown words, ids that are not version 7).
    pub warning: bool,
}

/// Checks a tree against a rule; all breaches, outermost first. Depth is that of the rule tables.
pub(super) fn check(tree: &Tree, rule: &Rule, at: &str, out: &mut Vec<Breach>) {
    let mut say = |code, message: String, warning| out.push(Breach { code, at: at.to_owned(), message, warning });
    match (rule, tree) {
        (Any, _) | (Bool, Tree::Bool(_)) | (Text, Tree::Text(_)) | (Number, Tree::Number(_)) => {}
        (Filled, Tree::Text(t)) => {
            if t.is_empty() {
                say("empty", "must not be empty".into(), false);
            }
        }
        (Word(words), Tree::Text(t)) => {
            if !words.contains(&t.as_str()) {
                say("unknown_value", "a word that this version does not know".into(), true);
            }
        }
        (UuidV7, Tree::Text(t)) => match uuid::Uuid::parse_str(t) {
            Ok(id) if id.get_version_num() == 7 && id.hyphenated().to_string() == *t => {}
            Ok(_) => say("id_not_uuid_v7", "a UUID, but not one of version 7 in lower case".into(), true),
            Err(_) => say("bad_value", "not a UUID".into(), false),
        },
        (Uuid | Time | Date | Version | Checksum, Tree::Text(t)) => {
            if let Some(what) = bad_text(rule, t) {
                say("bad_value", format!("not {what}"), false);
            }
        }
        (Whole(least), Tree::Number(n)) => {
            // 2.0 is a whole number in JSON Schema
            let whole =
                n.parse::<i64>().ok().or_else(|| n.parse::<f64>().ok().filter(|f| f.fract() == 0.0).map(|f| f as i64));
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
                check(value, inner, &format!("{at}/{key}"), out);
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

fn bad_text(rule: &Rule, t: &str) -> Option<&'static str> {
    let date = |t: &str| t.len() == 10 && t.as_bytes()[4] == b'-' && t.parse::<jiff::civil::Date>().is_ok();
    let (good, what) = match rule {
        Uuid => (t.len() == 36 && uuid::Uuid::parse_str(t).is_ok(), "a UUID"),
        Time => {
            let zoned = t.ends_with(['Z', 'z'])
                || t.get(t.len().saturating_sub(6)..).is_some_and(|z| z.starts_with(['+', '-']));
            (zoned && t.len() >= 20 && Timestamp::parse(t).is_some(), "an RFC 3339 date and time")
        }
        Date => (date(t), "a date"),
        Version => (
            t.split('.').count() == 3 && t.split('.').all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit())),
            "a version x.y.z",
        ),
        _ => {
            let lower = |b: u8| b.is_ascii_digit() || b.is_ascii_lowercase();
            let parts = t.split_once(':');
            let good = parts.is_some_and(|(a, h)| {
                !a.is_empty()
                    && !h.is_empty()
                    && a.bytes().all(lower)
                    && h.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
            });
            (good, "algorithm:hex")
        }
    };
    (!good).then_some(what)
}
