//! Converts records to entries. A record of this format is written as its original entry, with edits applied. An event
//! of a log becomes the entry that Zaxy exports for the event. Any other record becomes an event (`<kind>.recorded`),
//! an entity or an edge.
use super::{
    canonical::canonical,
    cited_event::{CitedEvent, CitedEvents, Occurrence},
    entry::{citation, first_fault, seq, text_member},
    envelope::ENTRY_VERSION,
    extension::{attach, is_composed, report_losses, without_extension},
    log_event::{ExportedEvent, LOG_FORMAT, entry_of},
    to_record::{KEY_SCOPE, RECORDED_SUFFIX, TIME_MEMBERS, patch, to_record},
};
use mementory_format::StoredRecord;
use mementory_json::{Tree, tree_of};
use mementory_model::{Kind, LossKind, LossReport, Record, Timestamp};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Placeholder for the id of an entry, which is computed from the complete entry.
const PLACEHOLDER_ID: &str = "\u{0}";

/// An entry to be written.
pub(super) struct OutputEntry {
    /// Vault id of the record of the entry.
    pub record: String,
    pub kind: Kind,
    /// The entry. If it was composed, its number and citation are set later.
    pub tree: Tree,
    /// Original text of the entry, if it is written unchanged.
    pub verbatim: Option<String>,
    /// The place that the entry was read from. None if it was composed.
    pub source: Option<SourceEntry>,
    /// Sensitivity of the record, for the selector.
    pub sensitivity: String,
    /// Time by which composed entries are sorted.
    pub at: Option<Timestamp>,
    /// True if Mementory composed the entry. Its citation must then still be set, and its number if that is 0.
    pub is_composed: bool,
    /// True if the entry was composed for an attachment, whose file is left out.
    pub is_of_file: bool,
}

impl OutputEntry {
    /// True if the entry needs a new number.
    pub fn needs_number(&self) -> bool {
        self.is_composed && seq(&self.tree) == Some(0)
    }
}

/// The place that an entry was read from, and the other members of its wrapper.
pub(super) struct SourceEntry {
    /// Place of the bundle or log with the entry.
    pub container: String,
    /// Index in the bundle, or line number in the log.
    pub index: u64,
    /// Unknown members of the wrapper of the entry.
    pub extra: Vec<(String, Tree)>,
    /// Index and proof of the entry in the signed bundle from which it was disclosed.
    pub disclosed: Option<(Tree, Tree)>,
}

/// Result of converting one record.
pub(super) enum ConversionResult {
    /// The record is written as this entry.
    Entry(Box<OutputEntry>),
    /// The record is withheld for this reason.
    Withheld(&'static str),
}

/// Record field in which the reader stores the unknown members of an entry's wrapper.
pub(super) const WRAPPER_FIELD: &str = "wrapper";
/// Record field in which the reader stores the index and the proof of a disclosed entry.
pub(super) const DISCLOSED_FIELD: &str = "disclosed";

/// Converts a record to an entry. `names` has the names of the entities converted so far, by vault id, and `events` the
/// events that are written as they were read.
pub(super) fn output_entry(
    stored: &StoredRecord,
    names: &mut HashMap<String, String>,
    events: &mut CitedEvents,
    depth: u32,
    report: &mut LossReport,
) -> ConversionResult {
    let record = &stored.record;
    if record.kind == Kind::Entity {
        names.insert(stored.id.clone(), entity_name(record).to_owned());
    }
    let parsed = record.verbatim.as_ref().and_then(|v| Tree::parse(&v.text, depth).ok());
    let sensitivity = record.sensitivity.clone().unwrap_or_else(|| "public".into());
    let mut entry = OutputEntry {
        record: stored.id.clone(),
        kind: record.kind,
        tree: Tree::Null,
        verbatim: None,
        source: None,
        sensitivity,
        at: record.times.nearest_to_creation(),
        is_composed: false,
        is_of_file: false,
    };
    // Fault and number of the original entry. An entry with a fault is composed from the record instead of being
    // copied, because its text would make the whole bundle invalid.
    let mut fault = None;
    let mut fault_of = |tree: &Tree| {
        // An edited event gets a new citation.
        let event = if stored.edited { None } else { CitedEvent::of(tree) };
        let is_conflicting = |event| events.add(event) == Occurrence::Conflicting;
        let why = first_fault(tree).or_else(|| event.is_some_and(is_conflicting).then_some("citation_conflict"));
        why.map(|why| (why, seq(tree).unwrap_or_default()))
    };
    match (record.origin.format.as_str(), parsed) {
        // If the record of an entry that Mementory composed was edited, the entry is composed again instead of being
        // patched.
        (KEY_SCOPE, Some(tree)) if !(stored.edited && is_composed(&tree)) => {
            entry.source = Some(source_entry(record));
            fault = fault_of(&tree);
            if fault.is_none() {
                entry.tree = tree;
            }
            if !stored.edited && fault.is_none() {
                entry.verbatim = record.verbatim.as_ref().map(|v| v.text.clone());
                return ConversionResult::Entry(Box::new(entry));
            }
        }
        (LOG_FORMAT, Some(line)) => match entry_of(&line, line_number(record)) {
            Some(ExportedEvent::Entry(tree)) => {
                entry.source = Some(source_entry(record));
                fault = fault_of(&tree);
                if fault.is_none() {
                    entry.tree = tree;
                }
                if !stored.edited && fault.is_none() {
                    return ConversionResult::Entry(Box::new(entry));
                }
            }
            Some(ExportedEvent::Encrypted) => return ConversionResult::Withheld("encrypted"),
            None => {}
        },
        _ => {}
    }
    if entry.source.is_some() && fault.is_none() {
        apply_edits(&mut entry.tree, record);
        if let Some(source) = &mut entry.source {
            source.disclosed = None;
        }
        let note = "the entry was edited: it no longer cites the event of the log that it was taken from";
        report.add(&stored.id, "citation", LossKind::Narrowed, note);
    } else {
        entry.is_composed = true;
        entry.tree = write_foreign(stored, names);
        if let Some(source) = &mut entry.source {
            source.disclosed = None;
        }
        // An entry that replaces an edited entry must not contain the old origin and verbatim. If the old entry was
        // only faulty, both are preserved, because only the old text contains the faulty values.
        let is_replaced = record.origin.format == KEY_SCOPE && (stored.edited || fault.is_none());
        if let Some((why, number)) = &fault {
            let (loss, what) = match is_replaced {
                true => (LossKind::LeftOut, " from the edited record, its former text is left out"),
                false => (LossKind::MovedToExtension, ", its text is in the extension"),
            };
            let note = format!("the entry breaks the contract ({why}): it is composed again{what}");
            report.add(&stored.id, "verbatim", loss, &note);
            entry.tree.set("seq", Tree::Number(number.to_string()));
        }
        let mapped = to_record(&entry.tree, PLACEHOLDER_ID, true);
        let mut record = record.clone();
        if is_replaced {
            (record.origin, record.verbatim) = Default::default();
        }
        attach(&mut entry.tree, &mapped, &record, false);
        entry.is_of_file = record.kind == Kind::Attachment;
    }
    report_losses(&stored.id, &entry.tree, report);
    ConversionResult::Entry(Box::new(entry))
}

fn source_entry(record: &Record) -> SourceEntry {
    let index = record.origin.pointer.rsplit(['/', ' ']).next().and_then(|n| n.parse().ok()).unwrap_or_default();
    let members = |name: &str| match record.fields.get(name).map(tree_of) {
        Some(Tree::Object(members)) => members,
        _ => vec![],
    };
    let disclosed = Tree::Object(members(DISCLOSED_FIELD));
    let disclosed = disclosed.get("index").cloned().zip(disclosed.get("proof").cloned());
    SourceEntry { container: record.origin.container.clone(), index, extra: members(WRAPPER_FIELD), disclosed }
}

/// Returns the line number of an event in its log. It serves as the event's number if its id contains none.
fn line_number(record: &Record) -> u64 {
    record.fields.get("seq").and_then(serde_json::Value::as_u64).unwrap_or(1)
}

/// Applies the edits of a record to the entry that it was read from. The citation gets a new hash, because the old one
/// covers the text before the edit, which may have been redacted.
fn apply_edits(tree: &mut Tree, record: &Record) {
    let is_composed = is_composed(tree);
    let unedited = to_record(tree, PLACEHOLDER_ID, is_composed);
    patch(tree, &unedited, record);
    let hash = content_hash(tree);
    let citation_text = text_member(tree, "citation").unwrap_or_default();
    let new_citation = match citation(citation_text) {
        Some(c) => format!("eventloom://{}/events/{}#{hash}", c.thread, c.seq),
        None => citation_text.to_owned(),
    };
    tree.set("citation", Tree::Text(new_citation.clone()));
    let mut new_record = record.clone();
    new_record.fields.retain(|k, _| k != WRAPPER_FIELD && k != DISCLOSED_FIELD);
    if new_record.fields.contains_key("citation") {
        new_record.fields.insert("citation".into(), new_citation.into());
    }
    let mut mapped = to_record(tree, PLACEHOLDER_ID, is_composed);
    if record.links.iter().all(|l| l.target.scope == KEY_SCOPE) {
        mapped.links.clone_from(&record.links); // readers derive these links from the entries
    }
    attach(tree, &mapped, &new_record, true);
}

/// The hash for the citation of a composed or edited entry. It is a digest of the entry's content, because no sealed
/// event has this content.
fn content_hash(tree: &Tree) -> String {
    let content = without_extension(tree).get("content").cloned().unwrap_or(Tree::Null);
    hex::encode(Sha256::digest(canonical(&content).unwrap_or_default()))
}

fn entity_name(record: &Record) -> &str {
    record.title.as_deref().filter(|t| !t.is_empty()).unwrap_or(&record.text)
}

/// Composes an entry from a record of another format. The caller stores the values that the entry cannot express in the
/// extension slot.
fn write_foreign(stored: &StoredRecord, names: &HashMap<String, String>) -> Tree {
    let record = &stored.record;
    let times = &record.times;
    let entity_names: Vec<&String> = record
        .links
        .iter()
        .zip(&stored.link_ids)
        .filter(|(l, _)| l.kind == Kind::Entity)
        .filter_map(|(_, id)| names.get(id.as_ref()?))
        .collect();
    let text = |t: Option<Timestamp>| t.map(Timestamp::to_rfc3339);
    let (grain, kind, source, from, to, content) = match (record.kind, entity_names.as_slice()) {
        (Kind::Entity, _) if !entity_name(record).is_empty() => {
            let entity_type = record.record_type.as_deref().unwrap_or("thing");
            let summary = (!record.text.is_empty()).then_some(&record.text);
            let content = json!({"name": entity_name(record), "entity_type": entity_type, "summary": summary, "properties": null});
            let observed = text(times.observed.or(times.created));
            ("semantic", format!("entity:{entity_type}"), "extraction", observed, None, content)
        }
        (Kind::Relation, [source, target, ..]) => {
            let relation = record.record_type.as_deref().unwrap_or("related_to");
            let content = json!({
                "source": source, "target": target, "relation_type": relation,
                "confidence": record.confidence.unwrap_or(1.0), "inferred": false, "inference_method": null,
                "evidence": {},
            });
            let from = text(times.valid_from);
            ("semantic", format!("edge:{relation}"), "extraction", from, text(times.valid_to), content)
        }
        _ => {
            let kind = format!("{}{RECORDED_SUFFIX}", record.kind.as_str());
            let role = record.message.as_ref().map(|m| m.role.as_str()).filter(|r| !r.is_empty());
            let platform = Some(record.source.platform.as_str()).filter(|p| !p.is_empty());
            let actor = role.or(platform).unwrap_or("mementory");
            let content = json!({"type": kind, "actor": actor, "thread": "", "payload": composed_payload(record)});
            ("event", kind, "eventloom", text(times.nearest_to_creation()), None, content)
        }
    };
    tree_of(&json!({
        "schema_version": ENTRY_VERSION, "grain": grain, "kind": kind, "citation": "", "seq": 0,
        "valid_from": from, "valid_to": to, "source": source, "content": content,
    }))
}

fn composed_payload(record: &Record) -> serde_json::Value {
    let mut out = serde_json::Map::new();
    out.insert("text".into(), record.text.clone().into());
    let times = &record.times;
    let time_values =
        [times.created, times.updated, times.observed, times.valid_from, times.valid_to, times.last_accessed];
    let text_values = [
        ("title", &record.title),
        ("type", &record.record_type),
        ("status", &record.status),
        ("sensitivity", &record.sensitivity),
        ("namespace", &record.namespace),
    ];
    for (name, value) in text_values {
        out.extend(value.iter().map(|w| (name.to_owned(), w.clone().into())));
    }
    if !record.source.platform.is_empty() {
        out.insert("source".into(), record.source.platform.clone().into());
    }
    if !record.tags.is_empty() {
        out.insert("tags".into(), record.tags.clone().into());
    }
    for (name, score) in [("confidence", record.confidence), ("importance", record.importance)] {
        out.extend(score.map(|s| (name.to_owned(), s.into())));
    }
    for (name, time) in TIME_MEMBERS.into_iter().zip(time_values) {
        out.extend(time.map(|t| (name.to_owned(), t.to_rfc3339().into())));
    }
    out.into()
}

/// Sets session, number and citation of a composed entry.
pub(super) fn assign_number(tree: &mut Tree, session: &str, seq: u64) {
    if text_member(tree, "grain") == Some("event")
        && let Some(mut content) = tree.get("content").cloned()
    {
        content.set("thread", Tree::Text(session.to_owned()));
        tree.set("content", content);
    }
    let hash = content_hash(tree);
    tree.set("citation", Tree::Text(format!("eventloom://{session}/events/{seq}#{hash}")));
    tree.set("seq", Tree::Number(seq.to_string()));
}
