//! Writes memories as the rows of a LangGraph store, in the form in which LangMem stores them.
use super::read::memory;
use super::{ID, PLATFORM};
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport};
use mementory_formats_shared::export::{Export, MEMORY_KINDS, metadata_of, nothing_to_write, words};
use mementory_formats_shared::new_files::NewFile;
use mementory_formats_shared::object::Object;
use mementory_model::{Kind, Record, RecordKey, Timestamp, Verbatim};
use serde_json::{Value, json};
use std::path::Path;

/// The first part of a namespace, as in LangMem's documentation.
const NAMESPACE: &str = "memories";
/// Members of a record that are part of the value of a row, in addition to the text.
const MEMBERS_IN_VALUE: [&str; 4] = ["title", "type", "tags", "source"];

/// Writes the new file `out`. Without `out`, only the report is produced.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let mut export = Export::new(ID, "store", source, options, true);
    let mut file = NewFile::create(out)?;
    let mut separator = "[\n";
    source.records(&mut |stored| {
        let needs_text = matches!(stored.record.kind, Kind::Entity | Kind::Relation);
        let is_bare = needs_text && stored.record.text.trim().is_empty();
        if let Some(reason) = export.reason_to_withhold(&stored, &MEMORY_KINDS).or_else(|| is_bare.then_some("no_text"))
        {
            export.withhold(reason);
            return Ok(());
        }
        let is_row_json = |text: &&str| Object::parse(text).is_some_and(|object| is_row(&object));
        let own_json = export.own_text(&stored).filter(is_row_json).map(str::to_owned);
        let text = own_json.unwrap_or_else(|| row(&export, &stored).to_string());
        let mapped = Object::parse(&text).and_then(|object| memory(&object).ok());
        let mut mapped = mapped.unwrap_or_else(|| Record::new(Kind::Memory, RecordKey::new(ID, ""), ""));
        mapped.source.platform = PLATFORM.into();
        mapped.verbatim = Some(Verbatim::json(text.as_str()));
        export.count_written_with(&stored, &mapped, &MEMBERS_IN_VALUE);
        file.add(separator)?;
        separator = ",\n";
        file.add(&text)
    })?;
    file.add("\n]\n")?;
    file.finish()?;
    if export.report.by_kind.is_empty()
        && let Some(out) = out
    {
        std::fs::remove_file(out).map_err(|e| FormatError::io(out.display().to_string(), e))?;
        return Err(nothing_to_write(ID));
    }
    export.finish(source, options)
}

/// True if detection would recognise a file by a row with these members.
fn is_row(object: &Object<'_>) -> bool {
    let has_name = object.has("namespace") || object.has("prefix");
    has_name && object.has("key") && object.has("created_at") && memory(object).is_ok()
}

fn row(export: &Export, stored: &StoredRecord) -> Value {
    let record = &stored.record;
    let mut content = json!({"content": words(record)});
    let mut metadata = metadata_of(record, export.strip);
    if !record.tags.is_empty() {
        metadata.insert("tags".into(), record.tags.clone().into());
    }
    if let Value::Object(content) = &mut content {
        content.extend(metadata);
    }
    let created = record.times.created.or(record.times.updated).unwrap_or(export.now);
    let updated = record.times.updated.unwrap_or(created);
    let mut out = json!({
        "namespace": namespace(record, export.strip),
        "key": export.id(stored),
        "value": {"kind": "Memory", "content": content},
        "created_at": created.to_rfc3339(),
        "updated_at": updated.to_rfc3339(),
    });
    if let Some(end) = record.times.valid_to {
        out["expires_at"] = Timestamp::to_rfc3339(end).into();
    }
    out
}

/// Returns the namespace for a record. A record of this format keeps its namespace. Any other record gets
/// [`NAMESPACE`], followed by its own namespace if it has one. Dots and empty parts are replaced or removed, because
/// the store does not allow them.
fn namespace(record: &Record, strip: bool) -> Vec<String> {
    let own_namespace = record.namespace.as_deref().filter(|_| !strip).unwrap_or_default();
    let parts = own_namespace.split('/').map(|part| part.trim().replace('.', "_")).filter(|part| !part.is_empty());
    let mut parts: Vec<String> = parts.collect();
    if parts.is_empty() || record.origin.format != ID {
        parts.insert(0, NAMESPACE.into());
    }
    parts
}
