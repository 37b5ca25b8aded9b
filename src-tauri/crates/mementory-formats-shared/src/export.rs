//! Shared code of writers of memories: selects the records to write, and reports values that the target cannot store.
use mementory_format::extension::{EDITED_MEMBER, members};
use mementory_format::passthrough_envelope::note_left_out;
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport};
use mementory_model::{Kind, LossKind, Record, Timestamp};
use serde_json::Value;
use std::collections::HashMap;

/// Longest text of a document that is written as a memory, in bytes. Programs pass a whole memory to the model, so it
/// must be short.
pub const MAX_DOCUMENT_BYTES: usize = 16 << 10;

/// Kinds of records that a format of memories can store. An export to such a format withholds all other kinds.
pub const MEMORY_KINDS: [Kind; 8] = [
    Kind::Memory,
    Kind::Profile,
    Kind::Entity,
    Kind::Relation,
    Kind::Fact,
    Kind::Resource,
    Kind::Procedure,
    Kind::Todo,
];

/// Members that no conversion to another format preserves, so they are not reported as losses.
const UNREPORTED_MEMBERS: [&str; 6] = [EDITED_MEMBER, "key", "origin", "origin_id", "kind", "repeats"];

const OTHER_TIME_NOTE: &str =
    "the format requires a time of creation, and another time of the record or the export is written";

/// The state of an export, including its report.
pub struct Export {
    /// The report so far: the written records, the withheld records, and the losses.
    pub report: WriteReport,
    /// Time of the export.
    pub now: Timestamp,
    /// True if the export leaves out identifiers of accounts and platforms.
    pub strip: bool,
    /// True if the target can store documents of any length, not only short memories.
    pub holds_documents: bool,
    format: &'static str,
    holds_validity_end: bool,
}

impl Export {
    /// Starts an export. `holds_validity_end` is true if the target can express when a memory stops being true.
    pub fn new(
        format: &'static str,
        version: &str,
        source: &dyn RecordSource,
        options: &WriteOptions,
        holds_validity_end: bool,
    ) -> Self {
        Self {
            report: WriteReport { version: version.into(), ..WriteReport::default() },
            now: source.description().now,
            strip: options.strip_identifiers,
            holds_documents: false,
            format,
            holds_validity_end,
        }
    }

    /// Returns the reason for withholding a record, or None if the record is written. In general, only memories that
    /// have text and are still true are written.
    pub fn reason_to_withhold(&self, stored: &StoredRecord, kinds: &[Kind]) -> Option<&'static str> {
        let record = &stored.record;
        if !kinds.contains(&record.kind) {
            return Some("not_a_memory");
        }
        if is_list_of_files(record) {
            return Some("not_a_memory");
        }
        if is_derived_from_exported_memory(stored) {
            return Some("said_elsewhere");
        }
        if has_ended(record) || !self.holds_validity_end && record.times.valid_to.is_some_and(|end| end <= self.now) {
            return Some("no_longer_true");
        }
        if record.kind == Kind::Resource && !self.holds_documents && words(record).len() > MAX_DOCUMENT_BYTES {
            return Some("not_a_memory");
        }
        let may_lack_text = matches!(record.kind, Kind::Entity | Kind::Relation);
        (!may_lack_text && words(record).trim().is_empty()).then_some("no_text")
    }

    /// Counts a record that is not written.
    pub fn withhold(&mut self, reason: &str) {
        *self.report.withheld.entry(reason.into()).or_default() += 1;
    }

    /// Counts a written record. `mapped` is the record that our reader would create from the written file. Each value
    /// of `stored` that is missing or different in `mapped` is reported as a loss.
    pub fn wrote(&mut self, stored: &StoredRecord, mapped: &Record) {
        self.count_written_with(stored, mapped, &[]);
    }

    /// Like [`Export::wrote`]. `in_other_form` names members that the file expresses in a way that our reader cannot
    /// restore. Such members are reported as narrowed, not as left out.
    pub fn count_written_with(&mut self, stored: &StoredRecord, mapped: &Record, in_other_form: &[&str]) {
        let record = &stored.record;
        *self.report.by_kind.entry(record.kind.as_str().to_owned()).or_default() += 1;
        let losses = &mut self.report.losses;
        if mapped.kind != record.kind {
            let note = format!("written as a {}: this format has no other place for it", mapped.kind.as_str());
            losses.add(&stored.id, "kind", LossKind::Narrowed, &note);
        }
        let written_members = members(mapped);
        for (name, value) in members(record) {
            if UNREPORTED_MEMBERS.contains(&name.as_str()) {
                continue;
            }
            match loss_of(&value, written_members.get(&name)) {
                None => {}
                Some(_) if name == "verbatim" => {
                    let note = "this format cannot hold the original text of another source";
                    losses.add(&stored.id, &name, LossKind::LeftOut, note);
                }
                Some(LossKind::LeftOut) if name == "source" && self.strip => {
                    losses.add(&stored.id, &name, LossKind::LeftOut, "left out as requested");
                }
                Some(LossKind::LeftOut) if !in_other_form.contains(&name.as_str()) => {
                    losses.add(&stored.id, &name, LossKind::LeftOut, "this format cannot hold it");
                }
                Some(_) => {
                    losses.add(
                        &stored.id,
                        &name,
                        LossKind::Narrowed,
                        "this format can hold it partly or in another form",
                    );
                }
            }
        }
        if record.times.created.is_none() && mapped.times.created.is_some() {
            losses.add(&stored.id, "times", LossKind::Narrowed, OTHER_TIME_NOTE);
        }
    }

    /// The record's original text, which can be written unchanged. None if the record was read from another format or
    /// edited, or if identifiers are left out.
    pub fn own_text<'r>(&self, stored: &'r StoredRecord) -> Option<&'r str> {
        let record = &stored.record;
        let is_own = record.origin.format == self.format && !stored.edited && !self.strip;
        record.verbatim.as_ref().filter(|_| is_own).map(|verbatim| verbatim.text.as_str())
    }

    /// The source's id if the record was read from this format, otherwise the vault id in the form of a UUID.
    pub fn id(&self, stored: &StoredRecord) -> String {
        let id_at_source = stored.record.origin_id.clone();
        id_at_source
            .filter(|_| stored.record.origin.format == self.format && !self.strip)
            .unwrap_or_else(|| uuid_of(&stored.id))
    }

    /// Completes the report with losses that do not concern a record: deletions and passthrough files.
    pub fn finish(mut self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
        for tombstone in source.tombstones()? {
            let note = "this format has no deletions; the file only has the remaining records";
            self.report.losses.add(&tombstone.id, "tombstone", LossKind::LeftOut, note);
        }
        if options.everything {
            note_left_out(source, |_| true, &mut self.report.losses)?;
        }
        Ok(self.report)
    }
}

/// The error for an export that would contain no records.
pub fn nothing_to_write(format: &str) -> FormatError {
    FormatError::invalid("nothing_to_write", format, "there is no memory to write among these records")
}

/// The text of a record, or its title if the text is blank.
pub fn words(record: &Record) -> &str {
    if record.text.trim().is_empty() { record.title.as_deref().unwrap_or_default() } else { &record.text }
}

/// The vault id with the hyphens of a UUID.
pub fn uuid_of(id: &str) -> String {
    match [id.get(..8), id.get(8..12), id.get(12..16), id.get(16..20), id.get(20..)] {
        [Some(a), Some(b), Some(c), Some(d), Some(e)] if id.is_ascii() => [a, b, c, d, e].join("-"),
        _ => id.to_owned(),
    }
}

/// True for a statement derived from a memory that is exported too.
fn is_derived_from_exported_memory(stored: &StoredRecord) -> bool {
    let mut links = stored.record.links.iter().zip(&stored.link_ids);
    let is_memory = |kind: Kind| matches!(kind, Kind::Memory | Kind::Profile);
    stored.record.kind == Kind::Fact
        && links.any(|(link, id)| link.relation == "derived_from" && is_memory(link.kind) && id.is_some())
}

/// True for an index of memory files, which a writer generates itself, and for a line that tells an agent to load a
/// file.
fn is_list_of_files(record: &Record) -> bool {
    let is_line = || record.text.starts_with('@') && !record.text.contains(char::is_whitespace);
    match record.record_type.as_deref().filter(|_| record.kind == Kind::Memory) {
        Some("index") => record.text.contains("]("),
        Some("import") => is_line(),
        _ => false,
    }
}

/// True for a memory whose source marks it as no longer true.
pub fn has_ended(record: &Record) -> bool {
    matches!(record.status.as_deref(), Some("superseded" | "archived" | "deleted" | "cancelled" | "expired"))
}

/// Compares a value with the value that was written for it. None if they are equal or `value` is empty. `LeftOut` if
/// nothing was written, otherwise `Narrowed`.
fn loss_of(value: &Value, written: Option<&Value>) -> Option<LossKind> {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    let Some(written) = written else { return (!is_empty(value)).then_some(LossKind::LeftOut) };
    if let (Value::Object(wanted), Value::Object(found)) = (value, written) {
        let mut kept_count = 0;
        let mut lost_count = 0;
        for (name, value) in wanted.iter().filter(|(_, value)| !is_empty(value)) {
            if found.get(name) == Some(value) { kept_count += 1 } else { lost_count += 1 }
        }
        return match (lost_count, kept_count) {
            (0, _) => None,
            (_, 0) => Some(LossKind::LeftOut),
            _ => Some(LossKind::Narrowed),
        };
    }
    (value != written && !is_empty(value)).then_some(LossKind::Narrowed)
}

/// Names of the records that relations and links may refer to, by vault id.
#[derive(Default)]
pub struct Names(HashMap<String, String>);

/// The two ends of a relation, and its name.
pub struct Ends {
    /// Name of the record that the relation starts from.
    pub from: String,
    /// Name of the relation.
    pub relation: String,
    /// Name of the record that the relation leads to.
    pub to: String,
}

impl Names {
    /// Collects the titles of entities, people and documents. Reads `source` once.
    pub fn read(source: &mut dyn RecordSource) -> Result<Self, FormatError> {
        let mut out = HashMap::new();
        source.records(&mut |stored| {
            let record = &stored.record;
            if matches!(record.kind, Kind::Entity | Kind::Profile | Kind::Resource)
                && let Some(title) = record.title.as_deref().filter(|title| !title.trim().is_empty())
            {
                out.insert(stored.id, title.to_owned());
            }
            Ok(())
        })?;
        Ok(Self(out))
    }

    /// The name of the record with this vault id.
    pub fn get(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }

    /// The ends of a relation: the entities with the roles of source and target, otherwise the records that the
    /// relation links to.
    pub fn ends(&self, stored: &StoredRecord) -> Option<Ends> {
        let record = &stored.record;
        let by_role = |names: &[&str]| {
            let mut entities = record.entities.iter();
            let role = |role: &Option<String>| role.as_deref().is_some_and(|role| names.contains(&role));
            entities.find(|entity| role(&entity.role)).map(|entity| entity.name.clone())
        };
        let linked_names: Vec<(&str, &str)> = record
            .links
            .iter()
            .zip(&stored.link_ids)
            .filter(|(link, _)| link.relation != "derived_from")
            .filter_map(|(link, id)| Some((link.relation.as_str(), self.get(id.as_deref()?)?)))
            .collect();
        let by_link = |names: &[&str], position: usize| {
            let named_end = linked_names.iter().find(|(relation, _)| names.contains(relation));
            named_end
                .or_else(|| linked_names.get(position).filter(|_| linked_names.len() == 2))
                .map(|(_, name)| (*name).to_owned())
        };
        let (sources, targets) = (["source", "from", "start", "subject"], ["target", "to", "end", "object"]);
        let from = by_role(&sources).or_else(|| by_link(&sources, 0))?;
        let to = by_role(&targets).or_else(|| by_link(&targets, 1))?;
        let relation = record.record_type.clone().filter(|name| !name.trim().is_empty());
        Some(Ends { from, relation: relation.unwrap_or_else(|| "relates_to".into()), to })
    }
}

/// Metadata that a target stores with a record: the record's source, and other values for which the target has no
/// member.
pub fn metadata_of(record: &Record, strip: bool) -> serde_json::Map<String, Value> {
    let mut out = serde_json::Map::new();
    let mut add = |key: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
            out.insert(key.to_owned(), value.into());
        }
    };
    add("title", record.title.as_deref());
    add("type", record.record_type.as_deref());
    if !strip {
        let platform = if record.source.platform.is_empty() { "unknown" } else { &record.source.platform };
        add("source_platform", Some(platform));
        add("source_method", record.source.method.as_deref());
        add("source_project", record.source.project.as_deref());
        add("source_conversation", record.source.conversation.as_deref());
    }
    out
}

/// The ends of a relation, taken from the fields that a memory engine stored with it.
pub fn relation_ends_in_fields(record: &Record) -> Option<Ends> {
    let text = |names: [&str; 2]| {
        names.into_iter().find_map(|name| record.fields.get(name)?.as_str().map(str::trim)).filter(|t| !t.is_empty())
    };
    let (from, to) = (text(["source", "from"])?, text(["target", "destination"])?);
    let relation = record.record_type.clone().unwrap_or_else(|| "relates_to".into());
    Some(Ends { from: from.to_owned(), relation, to: to.to_owned() })
}
