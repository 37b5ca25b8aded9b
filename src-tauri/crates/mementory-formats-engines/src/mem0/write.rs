//! Writes memories and relations in the form that mem0's API returns: `{"results": [...], "relations": [...]}`.
use super::record::{memory, relation};
use super::{ID, MEM0_KEYS};
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport};
use mementory_formats_shared::export::{
    Ends, Export, MEMORY_KINDS, Names, metadata_of, nothing_to_write, relation_ends_in_fields, words,
};
use mementory_formats_shared::new_files::NewFile;
use mementory_formats_shared::object::Object;
use mementory_model::{Kind, Record, RecordKey, Timestamp, Verbatim};
use serde_json::{Value, json};
use std::path::Path;

/// The user id that is written if the source has no account.
const USER: &str = "user";
/// Members of a record that are written into the `metadata` of a memory.
const MEMBERS_IN_METADATA: [&str; 3] = ["title", "type", "source"];

/// Writes the new file `out`. Without `out`, only the report is produced.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let mut export = Export::new(ID, "1", source, options, true);
    let names = Names::read(source)?;
    let mut file = NewFile::create(out)?;
    file.add("{\"results\": [")?;
    for is_relation_pass in [false, true] {
        let mut separator = "\n";
        source.records(&mut |stored| {
            let ends = relation_ends(&names, &stored);
            if ends.is_some() != is_relation_pass {
                return Ok(());
            }
            if let Some(reason) = reason_to_withhold(&export, &stored, ends.is_some()) {
                export.withhold(reason);
                return Ok(());
            }
            let text = match ends {
                Some(ends) => relation_text(&mut export, &stored, &ends),
                None => memory_text(&mut export, &stored),
            };
            file.add(separator)?;
            separator = ",\n";
            file.add(&text)
        })?;
        file.add(if is_relation_pass { "\n]}\n" } else { "\n], \"relations\": [" })?;
    }
    file.finish()?;
    if export.report.by_kind.is_empty()
        && let Some(out) = out
    {
        std::fs::remove_file(out).map_err(|e| FormatError::io(out.display().to_string(), e))?;
        return Err(nothing_to_write(ID));
    }
    export.finish(source, options)
}

fn reason_to_withhold(export: &Export, stored: &StoredRecord, has_ends: bool) -> Option<&'static str> {
    let is_bare = !has_ends && stored.record.text.trim().is_empty();
    let needs_text = matches!(stored.record.kind, Kind::Entity | Kind::Relation) && is_bare;
    export.reason_to_withhold(stored, &MEMORY_KINDS).or_else(|| needs_text.then_some("no_text"))
}

/// Returns the two ends of a relation and its type. None for any other record, and for a relation without two ends,
/// which is written as a memory.
fn relation_ends(names: &Names, stored: &StoredRecord) -> Option<Ends> {
    let record = &stored.record;
    if record.kind != Kind::Relation {
        return None;
    }
    relation_ends_in_fields(record).or_else(|| names.ends(stored))
}

fn memory_text(export: &mut Export, stored: &StoredRecord) -> String {
    let own_json = export.own_text(stored).filter(|text| is_own_memory(text)).map(str::to_owned);
    let text = own_json.unwrap_or_else(|| element(export, stored).to_string());
    let mapped = Object::parse(&text).and_then(|object| memory(&object));
    report_written(export, stored, mapped, &text);
    text
}

/// True if detection recognises the original text of a memory as mem0's, and its members have the types that mem0's
/// package expects. Such a text is written unchanged.
fn is_own_memory(text: &str) -> bool {
    let Some(object) = Object::parse(text) else { return false };
    let is_text = |key: &str| object.raw_value(key).is_none_or(|raw| raw.get().starts_with('"'));
    object.text("id").is_some()
        && object.text("memory").is_some_and(|text| !text.trim().is_empty())
        && ["hash", "created_at", "updated_at"].into_iter().all(is_text)
        && MEM0_KEYS.iter().any(|key| object.has(key))
}

fn element(export: &Export, stored: &StoredRecord) -> Value {
    let record = &stored.record;
    let account = record.source.account.as_deref().filter(|_| !export.strip).unwrap_or(USER);
    let time = |time: Option<Timestamp>| time.map(Timestamp::to_rfc3339);
    let mut out = json!({
        "id": export.id(stored),
        "memory": words(record),
        "user_id": account,
        "categories": record.tags,
        "metadata": metadata_of(record, export.strip),
        "created_at": time(record.times.created),
        "updated_at": time(record.times.updated),
    });
    // mem0 stores only the date, without a time of day.
    if let Some(end) = record.times.valid_to {
        let (year, month, day) = end.date();
        out["expiration_date"] = format!("{year:04}-{month:02}-{day:02}").into();
    }
    out
}

fn relation_text(export: &mut Export, stored: &StoredRecord, ends: &Ends) -> String {
    let is_relation_json = |text: &&str| Object::parse(text).is_some_and(|object| relation(&object).is_some());
    let own_json = export.own_text(stored).filter(is_relation_json).map(str::to_owned);
    let composed = || json!({"source": ends.from, "relationship": ends.relation, "target": ends.to}).to_string();
    let text = own_json.unwrap_or_else(composed);
    let mapped = Object::parse(&text).and_then(|object| relation(&object));
    report_written(export, stored, mapped, &text);
    text
}

fn report_written(export: &mut Export, stored: &StoredRecord, mapped: Option<Record>, text: &str) {
    let mut mapped = mapped.unwrap_or_else(|| Record::new(Kind::Memory, RecordKey::new(ID, ""), ""));
    mapped.source.platform = ID.into();
    mapped.verbatim = Some(Verbatim::json(text));
    export.count_written_with(stored, &mapped, &MEMBERS_IN_METADATA);
}
