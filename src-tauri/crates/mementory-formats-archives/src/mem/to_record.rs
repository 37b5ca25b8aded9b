//! Converts a checked line to a record. Fields for which the table of kinds has no model field are stored in the
//! `fields` of the record.
use super::{
    kinds::{KindSpec, ModelField},
    secret_refs,
    wire::{list, text, time_of},
};
use mementory_format::{extension::is_slot_name, without_tokens};
use mementory_json::{Tree, value_of};
use mementory_model::{EntityRef, Fields, Kind, Link, Record, RecordKey, Source, Timestamp};

/// Id space of all keys of this format.
pub(super) const KEY_SCOPE: &str = "mem";

pub(super) fn key(kind: &str, id: &str) -> RecordKey {
    RecordKey::new(KEY_SCOPE, format!("{kind}/{id}"))
}

/// Id of a line: the value of its id field, or the values of several id fields joined by `|`. If there are several
/// fields, `\` and `|` in their values are escaped with a `\`. Without the escapes, a link from `a|b` to `c` and a link
/// from `a` to `b|c` would have the same id, and one of them would be lost.
pub(super) fn id_of(spec: &KindSpec, tree: &Tree) -> String {
    let value_of = |name: &&str| text(tree, name).unwrap_or_default();
    match spec.id {
        [name] => value_of(name).to_owned(),
        names => {
            names.iter().map(|n| value_of(n).replace('\\', "\\\\").replace('|', "\\|")).collect::<Vec<_>>().join("|")
        }
    }
}

/// The record of a line of a known kind. The caller sets origin and verbatim.
pub(super) fn to_record(spec: &KindSpec, tree: &Tree) -> Record {
    let id = id_of(spec, tree);
    let mut record = Record::new(spec.model, key(spec.kind, &id), "");
    if spec.id == ["id"] {
        record.origin_id = Some(id.clone());
    }
    let mut used: Vec<&str> = spec.model_fields.iter().map(|(_, name)| *name).collect();
    for (slot, name) in spec.model_fields {
        fill_slot(&mut record, *slot, name, tree);
    }
    for (field, relation, kind, wire) in spec.references {
        used.push(field);
        for target in list(tree, field).into_iter().filter(|t| !t.is_empty()) {
            record.links.push(Link { relation: (*relation).into(), kind: *kind, target: key(wire, &target) });
        }
    }
    record.source = Source { platform: KEY_SCOPE.into(), ..Source::default() };
    apply_kind_rules(spec, tree, &id, &mut record);
    record.fields = remaining_fields(tree, &used, spec);
    if spec.model == Kind::Credential {
        secret_refs::remove_secrets(&mut record.fields);
        record.title = record.title.as_deref().map(without_tokens);
        record.text = without_tokens(&record.text);
    }
    record
}

fn fill_slot(record: &mut Record, slot: ModelField, name: &str, tree: &Tree) {
    let value_text = || text(tree, name).map(str::to_owned);
    let time = || -> Option<Timestamp> { time_of(tree, name) };
    let number = || tree.get(name).and_then(Tree::as_f64);
    match slot {
        ModelField::Text => record.text = list(tree, name).join("\n"),
        ModelField::Title => record.title = value_text(),
        ModelField::Type => record.record_type = value_text(),
        ModelField::Status => record.status = value_text(),
        ModelField::Tags => record.tags = list(tree, name),
        ModelField::Confidence => record.confidence = number(),
        ModelField::Importance => record.importance = number(),
        ModelField::Sensitivity => record.sensitivity = value_text(),
        ModelField::Namespace => record.namespace = value_text(),
        ModelField::Created => record.times.created = time(),
        ModelField::Updated => record.times.updated = time(),
        ModelField::Observed => record.times.observed = time(),
        ModelField::ValidFrom => record.times.valid_from = time(),
        ModelField::ValidTo => record.times.valid_to = time(),
        ModelField::LastAccessed => record.times.last_accessed = time(),
    }
}

/// Applies rules for single kinds that the table of kinds cannot express.
fn apply_kind_rules(spec: &KindSpec, tree: &Tree, id: &str, record: &mut Record) {
    let value = |name: &str| text(tree, name).unwrap_or_default();
    match spec.kind {
        "episode" => {
            let summary = value("summary");
            if record.text.is_empty() {
                record.text = summary.to_owned();
            }
            // Most writers use the start of the text as the summary. Only a different summary is a title.
            if summary.is_empty() || record.text.starts_with(summary) {
                record.title = None;
            }
            record.entities = list(tree, "actors")
                .into_iter()
                .map(|name| EntityRef { name, entity_type: None, role: Some("actor".into()) })
                .collect();
            record.source = episode_source(tree);
        }
        "edge" => record.text = format!("{} {} {}", value("srcEntityID"), value("edgeType"), value("dstEntityID")),
        "factLink" => record.text = format!("{} {} {}", value("srcFactID"), value("linkType"), value("dstFactID")),
        "episodeLink" => {
            record.text = format!("{} {} {}", value("srcEpisodeID"), value("linkType"), value("dstEpisodeID"));
        }
        "chunk" => record.parent = Some(key("resource", value("resourceID"))),
        "core" | "category" | "preference" => {
            record.title = Some(id.to_owned());
            record.record_type = Some(spec.kind.into());
        }
        "context" => {
            record.record_type = Some(spec.kind.into());
            let is_archived = tree.get("archived") == Some(&Tree::Bool(true));
            record.status = Some(if is_archived { "archived" } else { "active" }.into());
        }
        "community" => record.record_type = Some(spec.kind.into()),
        _ => {}
    }
    let is_superseded = text(tree, "supersededBy").is_some_and(|s| !s.is_empty());
    if is_superseded && spec.field("supersededBy").is_some() {
        record.status = Some("superseded".into());
    }
}

/// The source of an episode, from the `metadata` members of the reference SDK's adapters.
fn episode_source(tree: &Tree) -> Source {
    let empty_object = Tree::Object(vec![]);
    let metadata = tree.get("metadata").unwrap_or(&empty_object);
    let has = |prefix: &str| match metadata {
        Tree::Object(members) => members.iter().any(|(k, _)| k.starts_with(prefix)),
        _ => false,
    };
    let platform = match text(metadata, "transfer_source") {
        Some(source) if !source.is_empty() => source,
        _ if has("openai_") => "chatgpt",
        _ if has("claude_") => "claude",
        _ if has("mem0_") => "mem0",
        _ => KEY_SCOPE,
    };
    let text_of_member = |name: &str| text(metadata, name).map(str::to_owned);
    Source {
        platform: platform.to_owned(),
        conversation: text_of_member("openai_conversation_id"),
        message: text_of_member("openai_message_id"),
        ..Source::default()
    }
}

/// Members that have no field in the model, in their original order.
fn remaining_fields(tree: &Tree, used: &[&str], spec: &KindSpec) -> Fields {
    let Tree::Object(members) = tree else { return Fields::new() };
    let has_own_place = |k: &str| {
        used.contains(&k) || spec.id.contains(&k) || is_slot_name(k) || (k == "actors" && spec.kind == "episode")
    };
    members
        .iter()
        .filter(|(k, v)| !has_own_place(k) && *v != Tree::Null)
        .map(|(k, v)| (k.clone(), value_of(v)))
        .collect()
}

/// A record for a line of a vendor kind: stored verbatim, not interpreted. `text` stays empty.
pub(super) fn vendor_record(vendor: &str, key_value: String, id: Option<String>) -> Record {
    let mut record = Record::new(Kind::Foreign, RecordKey::new(KEY_SCOPE, key_value), "");
    record.origin_id = id;
    record.record_type = Some(vendor.to_owned());
    record.source.platform = KEY_SCOPE.into();
    record
}
