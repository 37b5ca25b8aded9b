//! Composes a memory line (spec §3.1) from a record of any format, and applies edits to a line that was read from ALF.
//!
//! Composed lines contain nothing that depends on the time of the export, so that a sealed partition always has the
//! same bytes. Fields that ALF does not have are stored in `raw_source_format.mementory` (see [`super::extension`]).
use super::extension;
use super::vocabulary::{EMPTY_CONTENT, ENTITY_TYPES, EXTRACTION_METHODS, memory_type, status};
use super::wire;
use mementory_format::StoredRecord;
use mementory_json::{Tree, write_string};
use mementory_model::{Kind, LossKind, LossReport, Record, Timestamp};
use std::fmt::Write;

/// The content of a memory line: the text of the record, or its title if there is no text, otherwise a placeholder.
pub(super) fn content(record: &Record) -> &str {
    let title = record.title.as_deref().unwrap_or_default();
    [record.text.as_str(), title].into_iter().find(|t| !t.is_empty()).unwrap_or(EMPTY_CONTENT)
}

/// The values of a line that are not taken from its record.
pub(super) struct LineContext<'a> {
    /// Id of the line.
    pub id: &'a str,
    /// Agent id of the archive.
    pub agent: &'a str,
    /// Creation time, which determines the partition of the line.
    pub created: Timestamp,
    /// Identity version under which the memory was made, if known (spec §3.1.10).
    pub identity_version: Option<u64>,
    /// Relation and target id of each link whose target is in the archive.
    pub links: &'a [(String, String)],
}

/// Composes the memory line for a record of a format other than ALF.
pub(super) fn line(stored: &StoredRecord, context: &LineContext<'_>) -> String {
    let edited_record = super::workspace_origin::with_current_text(stored);
    let record = edited_record.as_ref().unwrap_or(&stored.record);
    let content = content(record);
    let mut out = String::with_capacity(content.len() * 2 + 1024);
    out.push_str("{\"id\":");
    write_string(context.id, &mut out);
    write_text_member(&mut out, "agent_id", context.agent);
    write_text_member(&mut out, "content", content);
    write_text_member(&mut out, "memory_type", memory_type(record));
    if record.kind != Kind::Memory {
        write_text_member(&mut out, "category", record.kind.as_str());
    } else if let Some(category) = record.fields.get("category").and_then(|c| c.as_str()) {
        write_text_member(&mut out, "category", category);
    }
    write_source(&mut out, record, context.identity_version);
    write_temporal(&mut out, record, context.created);
    write_text_member(&mut out, "status", status(record));
    let supersedes = context.links.iter().find(|(relation, _)| relation == "supersedes");
    if let Some((_, id)) = supersedes {
        write_text_member(&mut out, "supersedes", id);
    }
    if let Some(confidence) = record.confidence.filter(|c| (0.0..=1.0).contains(c)) {
        let _ = write!(out, ",\"confidence\":{confidence}");
    }
    write_list_member(&mut out, "entities", record.entities.iter(), |out, e| {
        out.push_str("{\"name\":");
        write_string(&e.name, out);
        write_text_member(out, "type", entity_type(e.entity_type.as_deref()));
        write_optional_member(out, "role", e.role.as_deref());
        out.push('}');
    });
    write_list_member(&mut out, "tags", record.tags.iter(), |out, tag| write_string(tag, out));
    write_text_member(&mut out, "namespace", &namespace(stored));
    let vectors = record.embeddings.iter().filter(|e| is_alf_embedding(&e.json));
    write_list_member(&mut out, "embeddings", vectors, |out, e| out.push_str(&e.json));
    let related_records = context.links.iter().filter(|link| Some(*link) != supersedes);
    write_list_member(&mut out, "related_records", related_records, |out, (relation, id)| {
        out.push_str("{\"id\":");
        write_string(id, out);
        write_text_member(out, "relation", relation);
        out.push('}');
    });
    out.push_str(",\"raw_source_format\":{\"mementory\":");
    out.push_str(&extension::slot(record, &stored.id, content));
    out.push_str("}}");
    out
}

fn namespace(stored: &StoredRecord) -> String {
    match (stored.record.kind, &stored.parent_id) {
        (Kind::Conversation, _) => format!("conversation:{}", stored.id),
        (Kind::Message, Some(parent)) => format!("conversation:{parent}"),
        _ => stored.record.namespace.clone().unwrap_or_else(|| "default".into()),
    }
}

fn entity_type(stated: Option<&str>) -> &'static str {
    ENTITY_TYPES
        .into_iter()
        .find(|known| stated.is_some_and(|word| word.eq_ignore_ascii_case(known)))
        .unwrap_or("other")
}

/// True if the JSON has the five members that ALF requires of an embedding. Any other embedding is written only to the
/// extension slot.
fn is_alf_embedding(json: &str) -> bool {
    wire::members(json).is_some_and(|m| {
        ["model", "dimensions", "vector", "computed_at", "source"].iter().all(|k| wire::get(&m, k).is_some())
    })
}

fn write_source(out: &mut String, record: &Record, identity_version: Option<u64>) {
    let platform = Some(record.source.platform.as_str()).filter(|p| !p.is_empty()).unwrap_or("mementory");
    out.push_str(",\"source\":{\"runtime\":");
    write_string(platform, out);
    write_optional_member(out, "origin", Some(record.origin.format.as_str()).filter(|f| !f.is_empty()));
    let file = record.fields.get("file").and_then(|f| f.as_str());
    write_optional_member(out, "origin_file", file.filter(|_| super::workspace_origin::runtime_of(record).is_some()));
    let stated_method = record.source.method.as_deref();
    let method = EXTRACTION_METHODS.into_iter().find(|known| Some(*known) == stated_method).unwrap_or("migrated");
    write_text_member(out, "extraction_method", method);
    write_optional_member(out, "session_id", record.source.conversation.as_deref());
    write_optional_member(out, "interaction_id", record.source.message.as_deref());
    if let Some(version) = identity_version {
        let _ = write!(out, ",\"identity_version\":{version}");
    }
    out.push('}');
}

fn write_temporal(out: &mut String, record: &Record, created: Timestamp) {
    out.push_str(",\"temporal\":{\"created_at\":");
    write_string(&created.to_rfc3339(), out);
    let times = &record.times;
    let rows = [
        ("updated_at", times.updated),
        ("observed_at", times.observed),
        ("valid_from", times.valid_from),
        ("valid_until", times.valid_to),
        ("last_accessed_at", times.last_accessed),
    ];
    for (key, time) in rows {
        write_optional_member(out, key, time.map(Timestamp::to_rfc3339).as_deref());
    }
    out.push('}');
}

fn write_text_member(out: &mut String, key: &str, value: &str) {
    out.push(',');
    write_string(key, out);
    out.push(':');
    write_string(value, out);
}

fn write_optional_member(out: &mut String, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        write_text_member(out, key, value);
    }
}

fn write_list_member<T>(
    out: &mut String,
    key: &str,
    items: impl Iterator<Item = T>,
    write_item: impl Fn(&mut String, T),
) {
    let mut is_list_open = false;
    for item in items {
        out.push(',');
        if !is_list_open {
            write_string(key, out);
            out.push_str(":[");
            is_list_open = true;
        }
        write_item(out, item);
    }
    if is_list_open {
        out.push(']');
    }
}

/// The original line of an ALF record with the edited fields replaced. None if the verbatim is not a memory line.
pub(super) fn patch(record: &Record, verbatim: &str) -> Option<String> {
    let base = wire::read_line(verbatim, true, |_, _| record.key.scope.clone()).ok()?.record;
    let mut tree = Tree::parse(verbatim, 512).ok()?;
    if base.text != record.text {
        tree.set("content", Tree::Text(content(record).to_owned()));
    }
    if base.title != record.title {
        match &record.title {
            Some(title) => tree.set("title", Tree::Text(title.clone())),
            None => tree.remove("title"),
        }
    }
    if base.tags != record.tags {
        tree.set("tags", Tree::Array(record.tags.iter().cloned().map(Tree::Text).collect()));
    }
    if base.record_type != record.record_type {
        let word = record.record_type.clone().unwrap_or_else(|| "semantic".into());
        tree.set("memory_type", Tree::Text(word));
    }
    // A status that the reader derived from a newer record is not written back.
    let is_derived =
        record.fields.contains_key("alf_status") && matches!(record.status.as_deref(), Some("superseded" | "deleted"));
    if base.status != record.status && !is_derived {
        let word = record.status.clone().unwrap_or_else(|| "active".into());
        tree.set("status", Tree::Text(word));
    }
    if let Some(updated) = record.times.updated.filter(|_| base.times.updated != record.times.updated) {
        super::identity::set_path(&mut tree, &["temporal", "updated_at"], Tree::Text(updated.to_rfc3339()));
    }
    let mut out = String::new();
    tree.write(&mut out);
    Some(out)
}

/// Reports the losses of a composed line: values that are only in the extension slot, and values that ALF cannot
/// express.
pub(super) fn report_losses(stored: &StoredRecord, losses: &mut LossReport) {
    let Record { kind, text, title, record_type, status: own_status, importance, sensitivity, source, .. } =
        &stored.record;
    let record = &stored.record;
    let mut report_moved = |is_present: bool, field: &str| {
        if is_present {
            losses.add(&stored.id, field, LossKind::MovedToExtension, "kept in raw_source_format.mementory");
        }
    };
    report_moved(title.is_some() && !text.is_empty(), "title");
    report_moved(importance.is_some(), "importance");
    report_moved(sensitivity.is_some(), "sensitivity");
    report_moved(!record.fields.is_empty(), "fields");
    report_moved(record.verbatim.is_some(), "verbatim");
    report_moved(record.message.is_some(), "message");
    report_moved(source.account.is_some() || source.project.is_some(), "source");
    report_moved(record.embeddings.iter().any(|e| !is_alf_embedding(&e.json)), "embeddings");
    report_moved(stored.link_ids.iter().any(Option::is_none), "links");
    let mut report_narrowed = |is_narrowed: bool, field: &str, note: &str| {
        if is_narrowed {
            losses.add(&stored.id, field, LossKind::Narrowed, note);
        }
    };
    report_narrowed(text.is_empty(), "text", "content must not be empty: the title or a placeholder is written");
    report_narrowed(*kind != Kind::Memory, "kind", "written as a memory; its kind is the category");
    let is_known_type = record_type.as_deref().is_none_or(|t| t == memory_type(record));
    report_narrowed(!is_known_type, "type", "replaced by the closest memory type of ALF");
    let is_known_status = own_status.as_deref().is_none_or(|s| s == status(record));
    report_narrowed(!is_known_status, "status", "ALF has no such status: written as active");
    report_narrowed(
        source.method.as_deref().is_some_and(|m| !EXTRACTION_METHODS.contains(&m)),
        "method",
        "ALF has no such method: written as migrated",
    );
    report_narrowed(
        record.times.created.is_none(),
        "created",
        "no creation time: the closest known time is written, or 1970",
    );
}
