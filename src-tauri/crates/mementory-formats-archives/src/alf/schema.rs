//! Schema rules of the ALF documents, and the codes under which violations are reported. The rules follow the
//! specification (§3, §4.2) and its schemas. A value that is not in a specified list causes only a warning (§8.2).
use mementory_json::schema::{
    Fit,
    Rule::{self, Any, Bool, Form, List, Map, Number, Object, OpenWord, Text, Time, UnitInterval, Uuid, Whole},
    TextForm, Violation, is_uri, is_uuid, nullable, optional, required, required_nullable,
};

/// Id of a memory. The schema requires a UUID version 7 in lower case. Other UUIDs are accepted with a warning, because
/// the reference program writes them, but only in the usual hyphenated notation (without braces and `urn:uuid:`).
const UUID_V7_FORM: TextForm = TextForm {
    expected: "a UUID of version 7 in lower case",
    fit: |t| {
        let is_v7 = is_uuid(t)
            && t.as_bytes()[14] == b'7'
            && matches!(t.as_bytes()[19], b'8' | b'9' | b'a' | b'b')
            && !t.bytes().any(|b| b.is_ascii_uppercase());
        match is_v7 {
            true => Fit::Exact,
            false if is_uuid(t) => Fit::Loose,
            false => Fit::Other,
        }
    },
};
/// A date, `YYYY-MM-DD`.
const DATE_FORM: TextForm = TextForm {
    expected: "a date",
    fit: |t| (t.len() == 10 && t.as_bytes()[4] == b'-' && t.parse::<jiff::civil::Date>().is_ok()).into(),
};
/// A version of three numbers, such as `1.0.0`.
const VERSION_FORM: TextForm = TextForm {
    expected: "a version x.y.z",
    fit: |t| {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        (t.split('.').count() == 3 && t.split('.').all(is_number)).into()
    },
};
/// A checksum, `algorithm:hex`.
const CHECKSUM_FORM: TextForm = TextForm {
    expected: "algorithm:hex",
    fit: |t| {
        let Some((algorithm, hex)) = t.split_once(':') else { return Fit::Other };
        let is_name = algorithm.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase());
        let is_hex = hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        (!algorithm.is_empty() && !hex.is_empty() && is_name && is_hex).into()
    },
};

/// A URI with its scheme (RFC 3986).
const URI_FORM: TextForm = TextForm { expected: "a URI", fit: |t| is_uri(t).into() };

/// Rule for the document `manifest.json`.
pub(super) const MANIFEST_RULE: Rule = Object(&[
    required("alf_version", Form(&VERSION_FORM)),
    required("created_at", Time),
    required(
        "agent",
        Object(&[
            required("id", Uuid),
            required("name", Text),
            required("source_runtime", Text),
            optional("source_runtime_version", Text),
        ]),
    ),
    optional(
        "runtime_hints",
        Object(&[
            required("primary_model", Text),
            required("last_model", Text),
            optional("provider", Text),
            optional("context_window", Whole(1)),
            nullable("notes", Text),
        ]),
    ),
    optional("sync", Object(&[required("last_sequence", Whole(0)), optional("last_sync_at", Time)])),
    required(
        "layers",
        Object(&[
            optional("identity", Object(&[required("version", Whole(1)), required("file", Text)])),
            optional("principals", Object(&[required("count", Whole(0)), required("file", Text)])),
            optional("credentials", Object(&[required("count", Whole(0)), required("file", Text)])),
            optional(
                "attachments",
                Object(&[
                    required("count", Whole(0)),
                    required("file", Text),
                    optional("included_count", Whole(0)),
                    optional("included_size_bytes", Whole(0)),
                    optional("referenced_count", Whole(0)),
                    optional("referenced_size_bytes", Whole(0)),
                ]),
            ),
            optional(
                "memory",
                Object(&[
                    required("record_count", Whole(0)),
                    required("index_file", Text),
                    optional("has_embeddings", Bool),
                    optional("has_raw_source", Bool),
                    required(
                        "partitions",
                        List(&Object(&[
                            required("file", Text),
                            required("from", Form(&DATE_FORM)),
                            nullable("to", Form(&DATE_FORM)),
                            required("record_count", Whole(0)),
                            required("sealed", Bool),
                        ])),
                    ),
                ]),
            ),
        ]),
    ),
    optional("raw_sources", List(&Text)),
    optional("checksum", Form(&CHECKSUM_FORM)),
]);

/// Rule for the document `manifest.json` of a delta bundle.
pub(super) const DELTA_MANIFEST_RULE: Rule = Object(&[
    required("alf_version", Form(&VERSION_FORM)),
    required("created_at", Time),
    required("agent", Object(&[required("id", Uuid), optional("source_runtime", Text)])),
    required(
        "sync",
        Object(&[
            required("base_sequence", Whole(0)),
            required("new_sequence", Whole(0)),
            optional("base_timestamp", Time),
            optional("new_timestamp", Time),
        ]),
    ),
    required(
        "changes",
        Object(&[
            optional("identity", Object(&[optional("file", Text), optional("new_version", Whole(1))])),
            optional("principals", Object(&[optional("file", Text), optional("changed_ids", List(&Uuid))])),
            optional("credentials", Object(&[optional("file", Text)])),
            optional("memory", Object(&[optional("file", Text), optional("record_count", Whole(0))])),
        ]),
    ),
]);

/// Rule for a line of a partition.
pub(super) const MEMORY_RULE: Rule = Object(&[
    required("id", Form(&UUID_V7_FORM)),
    required("agent_id", Uuid),
    required("content", Rule::NOT_EMPTY),
    required("memory_type", OpenWord(&super::wire::MEMORY_TYPES)),
    optional("category", Text),
    required(
        "source",
        Object(&[
            required("runtime", Text),
            optional("runtime_version", Text),
            optional("origin", Text),
            optional("origin_file", Text),
            optional("extraction_method", OpenWord(&super::wire::EXTRACTION_METHODS)),
            optional("session_id", Text),
            optional("interaction_id", Text),
            optional("identity_version", Whole(1)),
        ]),
    ),
    required(
        "temporal",
        Object(&[
            required("created_at", Time),
            nullable("updated_at", Time),
            nullable("observed_at", Time),
            nullable("valid_from", Time),
            nullable("valid_until", Time),
            nullable("last_accessed_at", Time),
            optional("access_count", Whole(0)),
        ]),
    ),
    required("status", OpenWord(&super::wire::MEMORY_STATUSES)),
    optional("supersedes", Uuid),
    optional("confidence", UnitInterval),
    optional(
        "entities",
        List(&Object(&[
            required("name", Text),
            required("type", OpenWord(&super::wire::ENTITY_TYPES)),
            optional("role", Text),
        ])),
    ),
    optional("tags", List(&Text)),
    required("namespace", Text),
    optional(
        "embeddings",
        List(&Object(&[
            required("model", Text),
            required("dimensions", Whole(1)),
            required("vector", List(&Number)),
            required("computed_at", Time),
            required("source", OpenWord(&["runtime", "sync_service", "import_adapter"])),
        ])),
    ),
    optional("related_records", List(&Object(&[required("id", Uuid), required("relation", Text)]))),
    optional("raw_source_format", Map(&Any)),
]);

const CAPABILITY_RULE: Rule = Object(&[
    required("name", Text),
    optional("description", Text),
    optional("priority", Whole(1)),
    optional("portability", OpenWord(&["intrinsic", "host_dependent"])),
    optional("host_requirements", Text),
    optional("credential_ids", List(&Uuid)),
]);

/// Rule for the document `identity.json`.
pub(super) const IDENTITY_RULE: Rule = Object(&[
    required("id", Uuid),
    required("agent_id", Uuid),
    required("version", Whole(1)),
    required("updated_at", Time),
    optional(
        "structured",
        Object(&[
            optional("names", Object(&[required("primary", Text), optional("nickname", Text), optional("full", Text)])),
            optional("role", Text),
            optional("goals", List(&Text)),
            optional(
                "psychology",
                Object(&[
                    optional("neural_matrix", Map(&UnitInterval)),
                    optional(
                        "personality_traits",
                        Object(&[required("framework", Text), required("scores", Map(&Number))]),
                    ),
                    optional("moral_alignment", Text),
                    optional("mbti", Text),
                ]),
            ),
            optional(
                "linguistics",
                Object(&[
                    optional("formality_level", UnitInterval),
                    optional("verbosity", UnitInterval),
                    optional("humor_level", UnitInterval),
                    optional("slang_usage", Bool),
                    optional("preferred_language", Text),
                    optional(
                        "idiolect",
                        Object(&[
                            optional("catchphrases", List(&Text)),
                            optional("verbal_tics", List(&Text)),
                            optional("avoided_words", List(&Text)),
                        ]),
                    ),
                ]),
            ),
            optional("capabilities", List(&CAPABILITY_RULE)),
            optional(
                "sub_agents",
                List(&Object(&[
                    required_nullable("agent_id", Uuid),
                    required("name", Text),
                    optional("description", Text),
                    optional("model_hints", Object(&[optional("primary_model", Text), optional("last_model", Text)])),
                    optional("routing_hints", Text),
                    optional("performance_notes", Text),
                    required("capabilities", List(&CAPABILITY_RULE)),
                    required("status", OpenWord(&["active", "inactive", "unavailable"])),
                    nullable("last_invoked_at", Time),
                ])),
            ),
            optional("aieos_extensions", Map(&Any)),
        ]),
    ),
    optional(
        "prose",
        Object(&[
            optional("soul", Text),
            optional("operating_instructions", Text),
            optional("identity_profile", Text),
            optional("custom_blocks", Map(&Text)),
        ]),
    ),
    optional("source_format", Text),
    optional("raw_source", Map(&Any)),
]);

/// Rule for a principal.
pub(super) const PRINCIPAL_RULE: Rule = Object(&[
    required("id", Uuid),
    required("principal_type", OpenWord(&["human", "agent"])),
    nullable("agent_id", Uuid),
    required(
        "profile",
        Object(&[
            required("id", Uuid),
            required("agent_id", Uuid),
            required("principal_id", Uuid),
            required("version", Whole(1)),
            required("updated_at", Time),
            optional(
                "structured",
                Object(&[
                    optional("name", Text),
                    optional("principal_type", Text),
                    optional("timezone", Text),
                    optional("locale", Text),
                    optional(
                        "communication_preferences",
                        Object(&[
                            optional("tone", Text),
                            optional("response_length", Text),
                            optional("formatting", Text),
                        ]),
                    ),
                    optional(
                        "work_context",
                        Object(&[optional("role", Text), optional("company", Text), optional("projects", List(&Text))]),
                    ),
                    optional("relationships", List(&Map(&Any))),
                    optional("custom_fields", Map(&Any)),
                ]),
            ),
            optional("prose", Object(&[optional("user_profile", Text)])),
            optional("source_format", Text),
            optional("raw_source", Map(&Any)),
        ]),
    ),
]);

/// Rule for the document `principals.json`.
pub(super) const PRINCIPALS_RULE: Rule = Object(&[required("principals", List(&PRINCIPAL_RULE))]);

/// Rule for a credential.
pub(super) const CREDENTIAL_RULE: Rule = Object(&[
    required("id", Uuid),
    required("agent_id", Uuid),
    required("service", Text),
    required(
        "credential_type",
        OpenWord(&["api_key", "oauth_token", "webhook_secret", "session_token", "ssh_key", "certificate", "custom"]),
    ),
    optional("label", Text),
    optional("capabilities_granted", List(&Text)),
    required("encrypted_payload", Text),
    required(
        "encryption",
        Object(&[
            required("algorithm", Text),
            optional("kdf", Text),
            optional(
                "kdf_params",
                Object(&[
                    optional("memory_cost", Whole(1)),
                    optional("time_cost", Whole(1)),
                    optional("parallelism", Whole(1)),
                ]),
            ),
            required("nonce", Text),
        ]),
    ),
    required("created_at", Time),
    nullable("updated_at", Time),
    nullable("last_rotated_at", Time),
    nullable("expires_at", Time),
    optional("tags", List(&Text)),
]);

/// Rule for the document `credentials.json`.
pub(super) const CREDENTIALS_RULE: Rule = Object(&[required("credentials", List(&CREDENTIAL_RULE))]);

/// Rule for a row of the attachment index.
pub(super) const ATTACHMENT_RULE: Rule = Object(&[
    required("id", Uuid),
    required("filename", Text),
    required("media_type", Text),
    required("size_bytes", Whole(0)),
    required("hash", Object(&[required("algorithm", Text), required("value", Text)])),
    required("source_path", Text),
    required_nullable("archive_path", Text),
    required_nullable("remote_ref", Form(&URI_FORM)),
    optional("referenced_by", List(&Uuid)),
]);

/// Rule for the document `attachments.json`.
pub(super) const ATTACHMENTS_RULE: Rule =
    Object(&[optional("artifact_size_threshold", Whole(0)), required("attachments", List(&ATTACHMENT_RULE))]);

/// Code of a violation, and true if it is only a warning.
pub(super) fn code_of(violation: &Violation) -> (&'static str, bool) {
    match violation {
        Violation::MissingField => ("missing_field", false),
        Violation::WrongType(_) => ("wrong_type", false),
        Violation::Empty => ("empty", false),
        Violation::UnlistedWord(_) => ("unknown_value", true),
        Violation::LooseForm(_) => ("id_not_uuid_v7", true),
        Violation::RepeatedKey => ("duplicate_key", true),
        _ => ("bad_value", false),
    }
}

/// True for a violation that makes an archive invalid: a value that the specification forbids, or a missing required
/// value.
pub(super) fn is_error(violation: &Violation) -> bool {
    !code_of(violation).1
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use mementory_json::{
        Tree,
        schema::{RepeatedKeys, check},
    };

    #[test]
    fn ids_and_vectors_of_a_memory_are_checked() {
        let violations_of = |json: &str| {
            let mut out = Vec::new();
            check(&Tree::parse(json, 16).unwrap(), &MEMORY_RULE, RepeatedKeys::Accept, &mut |at, violation| {
                if violation != Violation::MissingField {
                    out.push((code_of(&violation), at.to_string()));
                }
            });
            out
        };
        let id = |id: &str| violations_of(&format!(r#"{{"id":"{id}"}}"#)).pop().map(|(code, _)| code);
        assert_eq!(id("0190b1a2-0000-7000-8000-00000000000a"), None);
        // Readers accept a UUID in upper case, of another variant, or of another version.
        for accepted_id in [
            "0190B1A2-0000-7000-8000-00000000000A",
            "0190b1a2-0000-7000-0000-00000000000a",
            "0190b1a2-0000-4000-8000-00000000000a",
        ] {
            assert_eq!(id(accepted_id), Some(("id_not_uuid_v7", true)), "{accepted_id}");
        }
        for invalid_id in ["memory-1", "0190b1a200007000800000000000000a", "{0190b1a2-0000-7000-8000-00000000000a}"] {
            assert_eq!(id(invalid_id), Some(("bad_value", false)), "{invalid_id}");
        }
        let vector = violations_of(r#"{"embeddings":[{"vector":[0.5,1e999]}]}"#);
        assert_eq!(vector, [(("bad_value", false), "/embeddings/0/vector/1".to_owned())]);
    }
}
