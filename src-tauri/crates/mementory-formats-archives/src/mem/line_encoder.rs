//! Encodes a record as a line: the record's original line if it was read from this format, otherwise a skeleton with
//! the format's defaults (spec v1.1 §8). In either line, only the fields that differ from the record are changed.
use super::{
    kinds::{KindSpec, ModelField, Type, kind_named},
    to_record::KEY_SCOPE,
    wire::{list, text, texts},
};
use mementory_format::StoredRecord;
use mementory_json::Tree;
use mementory_model::{Kind, Link, Record, RecordKey, Timestamp};

/// Wire kind for a record from another format.
pub(super) fn wire_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Conversation => "context",
        Kind::Profile => "core",
        Kind::Entity => "entity",
        Kind::Relation => "edge",
        Kind::Fact => "fact",
        Kind::Resource | Kind::Attachment => "resource",
        Kind::Chunk => "chunk",
        Kind::Procedure => "procedure",
        Kind::Credential => "secretRef",
        Kind::Foreign => FOREIGN_KIND,
        Kind::Memory | Kind::Message | Kind::Todo | Kind::Audit => "episode",
    }
}

/// Our vendor kind for records that fit no kind of the format.
pub(super) const FOREIGN_KIND: &str = "mementoryRecord";
/// Name of [`FOREIGN_KIND`] in bundles written before the program was renamed.
pub(super) const FORMER_FOREIGN_KIND: &str = "keepsakeRecord";

/// Prefix of generated ids. It depends on the model kind and not on the file, so that a later tombstone can refer to a
/// record without knowing its file. For example, a fact without an episode is written as an episode, but its id is
/// `fact_…`.
pub(super) fn id_prefix(kind: Kind) -> &'static str {
    match kind {
        Kind::Conversation => "ctx_",
        Kind::Profile => "core_",
        Kind::Entity => "ent_",
        Kind::Relation => "edge_",
        Kind::Fact => "fact_",
        Kind::Resource | Kind::Attachment => "res_",
        Kind::Chunk => "chunk_",
        Kind::Procedure => "proc_",
        Kind::Credential => "sec_",
        Kind::Foreign => "kp_",
        Kind::Memory | Kind::Message | Kind::Todo | Kind::Audit => "ep_",
    }
}

/// Id of a linked record in the bundle. None if the record is not in the vault.
pub(super) fn target_id(kind: Kind, key: &RecordKey, vault_id: Option<&String>) -> Option<String> {
    let vault_id = vault_id?;
    if key.scope == KEY_SCOPE {
        return key.value.split_once('/').map(|(_, id)| id.to_owned());
    }
    Some(format!("{}{vault_id}", id_prefix(kind)))
}

fn first_linked_id(stored: &StoredRecord, is_wanted: impl Fn(&Link) -> bool) -> Option<String> {
    let links = stored.record.links.iter().zip(&stored.link_ids);
    links.filter(|(l, _)| is_wanted(l)).find_map(|(l, id)| target_id(l.kind, &l.target, id.as_ref()))
}

/// Kind and skeleton line for a record from another format. The kind is `episode` if the usual kind requires a
/// reference that cannot be resolved. A required time that is not known is replaced with the known time nearest to the
/// creation, or with `conversation_time`, or with the start of 1970. It is never replaced with the time of the export,
/// so that every export of a record has the same line.
pub(super) fn skeleton(stored: &StoredRecord, conversation_time: Option<Timestamp>) -> (&'static KindSpec, Tree) {
    let record = &stored.record;
    let default_time =
        record.times.nearest_to_creation().or(conversation_time).unwrap_or(Timestamp::EPOCH).to_rfc3339_seconds();
    let id = match &record.origin_id {
        Some(id) if record.key.scope == KEY_SCOPE => id.clone(),
        _ => format!("{}{}", id_prefix(record.kind), stored.id),
    };
    let field = |name: &str| record.fields.get(name).and_then(|v| v.as_str()).unwrap_or_default().to_owned();
    let list_of = |name: &str| -> Vec<String> {
        let items = record.fields.get(name).and_then(|v| v.as_array());
        items.map(|a| a.iter().filter_map(|v| v.as_str()).map(str::to_owned).collect()).unwrap_or_default()
    };
    let parent = record.parent.as_ref();
    let parent_id = |kind: Kind| parent.and_then(|key| target_id(kind, key, stored.parent_id.as_ref()));
    let usual_kind = wire_kind(record.kind);
    let mut references: Vec<(&str, Tree)> = vec![];
    let ends_are_known = match usual_kind {
        "edge" => {
            let mut entity_links = record.links.iter().zip(&stored.link_ids).filter(|(l, _)| l.kind == Kind::Entity);
            let mut next_entity_id =
                || entity_links.next().and_then(|(l, id)| target_id(l.kind, &l.target, id.as_ref()));
            let (source, target) = (next_entity_id(), next_entity_id());
            source.zip(target).map(|(source, target)| {
                references.push(("srcEntityID", Tree::Text(source)));
                references.push(("dstEntityID", Tree::Text(target)));
            })
        }
        "fact" => {
            first_linked_id(stored, |l| l.relation == "derived_from" && matches!(l.kind, Kind::Memory | Kind::Message))
                .map(|episode| references.push(("episodeID", Tree::Text(episode))))
        }
        "chunk" => parent_id(Kind::Resource).map(|resource| references.push(("resourceID", Tree::Text(resource)))),
        _ => Some(()),
    };
    let spec = ends_are_known
        .and_then(|()| kind_named(usual_kind))
        .or_else(|| kind_named("episode"))
        .unwrap_or(&super::kinds::KIND_SPECS[0]);
    let mut tree = Tree::Object(vec![("id".into(), Tree::Text(id))]);
    for f in spec.fields.iter().filter(|f| f.required && f.name != "id") {
        tree.set(f.name, default_value(f.ty, &default_time));
    }
    let text_tree = |s: &str| Tree::Text(s.to_owned());
    match spec.kind {
        "episode" => {
            let is_message = record.kind == Kind::Message;
            let source_type = if is_message {
                "chat"
            } else if record.kind == Kind::Todo {
                "todo"
            } else {
                "note"
            };
            tree.set("sourceType", text_tree(source_type));
            tree.set("sensitivity", text_tree("low"));
            tree.set("lifecycleState", text_tree("HOT"));
            tree.set("extractionState", text_tree("done"));
            tree.set("importance", Tree::Number("0.5".into()));
            tree.set("confidence", Tree::Number("0.7".into()));
            if let Some(role) = record.message.as_ref().map(|m| m.role.as_str()) {
                if matches!(role, "user" | "assistant") {
                    tree.set("speaker", text_tree(role));
                }
                tree.set("actors", texts(&[role]));
            }
            tree.set("metadata", adapter_metadata(record));
            if is_message && let Some(context) = parent_id(Kind::Conversation) {
                tree.set("contextID", Tree::Text(context));
            }
        }
        "entity" => {
            tree.set("canonicalName", Tree::Text(first_chars(&record.text, 120)));
            tree.set("type", text_tree("thing"));
            tree.set("sensitivity", text_tree("low"));
            tree.set("aliases", texts(&list_of("aliases")));
        }
        "edge" => {
            tree.set("edgeType", text_tree("related_to"));
            tree.set("confidence", Tree::Number("0.7".into()));
        }
        "fact" => {
            tree.set("subject", Tree::Text(field("subject")));
            tree.set("predicate", Tree::Text(field("predicate")));
            tree.set("object", Tree::Text(field("object")));
            tree.set("importance", Tree::Number("0.5".into()));
            tree.set("confidence", Tree::Number("0.7".into()));
        }
        "core" => {
            tree.set("charBudget", Tree::Number(record.text.chars().count().max(2000).to_string()));
            tree.set("version", Tree::Number("1".into()));
        }
        "resource" => {
            tree.set("uri", Tree::Text(format!("mementory:{}", stored.id)));
            let media = record.attachments.first().and_then(|a| a.media_type.clone());
            tree.set("mimeType", Tree::Text(media.unwrap_or_else(|| "text/plain".into())));
        }
        "chunk" | "secretRef" => tree.set("sensitivity", text_tree("low")),
        "procedure" => tree.set("enabled", Tree::Bool(true)),
        _ => {}
    }
    for (name, value) in references {
        tree.set(name, value);
    }
    (spec, tree)
}

/// Metadata about the source of an episode, with the member names of the reference SDK's adapters, so that other
/// programs understand it. Our reader uses this metadata if another program removed the extension slot.
fn adapter_metadata(record: &Record) -> Tree {
    let field = |name: &str| record.fields.get(name).and_then(|v| v.as_str());
    let source = &record.source;
    let adapter_metadata = match (record.origin.format.as_str(), source.platform.as_str()) {
        ("transfer_text", platform) => vec![
            ("transfer_source", Some(platform)),
            ("transfer_section", field("section")),
            ("transfer_date_raw", field("date_raw")),
            ("transfer_line", record.origin.pointer.strip_prefix("line ")),
        ],
        (_, "chatgpt") => vec![
            ("openai_conversation_id", source.conversation.as_deref()),
            ("openai_message_id", source.message.as_deref()),
            ("openai_role", record.message.as_ref().map(|m| m.role.as_str())),
            ("openai_model", record.message.as_ref().and_then(|m| m.model.as_deref())),
        ],
        _ => vec![],
    };
    let present_values =
        adapter_metadata.into_iter().filter_map(|(name, value)| Some((name, value.filter(|v| !v.is_empty())?)));
    Tree::Object(present_values.map(|(name, value)| (name.to_owned(), Tree::Text(value.to_owned()))).collect())
}

fn default_value(ty: Type, default_time: &str) -> Tree {
    match ty {
        Type::Text | Type::Op => Tree::Text(String::new()),
        Type::Time => Tree::Text(default_time.to_owned()),
        Type::Float | Type::Int => Tree::Number("0".into()),
        Type::Bool => Tree::Bool(false),
        Type::List => Tree::Array(vec![]),
        Type::Map | Type::Derived => Tree::Object(vec![]),
    }
}

/// The first `n` characters of a text.
fn first_chars(text: &str, n: usize) -> String {
    text.chars().take(n).collect()
}

/// Writes the differences between `old` (the current values of the tree) and `new` into the tree. Skips differences
/// that the kind cannot express; the caller stores them in the extension slot.
pub(super) fn patch(spec: &KindSpec, tree: &mut Tree, old: &Record, new: &Record) {
    for (slot, name) in spec.model_fields {
        let value = match slot {
            // The summary of an episode without a title is the start of its text.
            ModelField::Title if spec.kind == "episode" => {
                let own_title = new.title.clone().filter(|t| !t.is_empty());
                let is_changed = old.title != new.title || (own_title.is_none() && old.text != new.text);
                is_changed.then(|| Some(Tree::Text(own_title.unwrap_or_else(|| first_chars(&new.text, 120)))))
            }
            ModelField::Text if spec.kind == "procedure" => {
                (old.text != new.text).then(|| Some(texts(&new.text.split('\n').collect::<Vec<_>>())))
            }
            ModelField::Text => (old.text != new.text).then(|| Some(Tree::Text(new.text.clone()))),
            ModelField::Title => text_change(&old.title, &new.title),
            ModelField::Type => text_change(&old.record_type, &new.record_type),
            ModelField::Status => text_change(&old.status, &new.status),
            ModelField::Sensitivity => text_change(&old.sensitivity, &new.sensitivity),
            ModelField::Namespace => text_change(&old.namespace, &new.namespace),
            ModelField::Tags => (old.tags != new.tags).then(|| Some(texts(&new.tags))),
            ModelField::Confidence => score_change(old.confidence, new.confidence),
            ModelField::Importance => score_change(old.importance, new.importance),
            ModelField::Created => time_change(old.times.created, new.times.created),
            ModelField::Updated => time_change(old.times.updated, new.times.updated),
            ModelField::Observed => time_change(old.times.observed, new.times.observed),
            ModelField::ValidFrom => time_change(old.times.valid_from, new.times.valid_from),
            ModelField::ValidTo => time_change(old.times.valid_to, new.times.valid_to),
            ModelField::LastAccessed => time_change(old.times.last_accessed, new.times.last_accessed),
        };
        let is_required = spec.field(name).is_some_and(|f| f.required);
        match value {
            Some(Some(value)) => tree.set(name, value),
            Some(None) if !is_required => tree.remove(name),
            _ => {}
        }
    }
    if spec.kind == "context" && old.status != new.status {
        tree.set("archived", Tree::Bool(new.status.as_deref() == Some("archived")));
    }
    if spec.kind == "episode" && text(tree, "details").is_some_and(str::is_empty) && list(tree, "summary") == [""] {
        tree.set("summary", Tree::Text(first_chars(&new.text, 120)));
    }
}

/// Change to a member: `Some(Some(value))` sets it, `Some(None)` removes it, `None` leaves it unchanged.
type MemberChange = Option<Option<Tree>>;

fn text_change(old: &Option<String>, new: &Option<String>) -> MemberChange {
    (old != new).then(|| new.clone().map(Tree::Text))
}

fn score_change(old: Option<f64>, new: Option<f64>) -> MemberChange {
    let token = new.filter(|n| n.is_finite()).map(|n| Tree::Number(n.to_string()));
    (old != new && (token.is_some() || new.is_none())).then_some(token)
}

fn time_change(old: Option<Timestamp>, new: Option<Timestamp>) -> MemberChange {
    (old != new).then(|| new.map(|t| Tree::Text(t.to_rfc3339_seconds())))
}
