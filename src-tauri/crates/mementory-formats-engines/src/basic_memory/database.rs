//! Reads the database of Basic Memory, which is an index of its notes: their observations and relations and, in newer
//! versions, their texts. The records get the same keys as those that are read from the notes themselves.
use super::read::{Names, fact, items_of, relation_record};
use super::{DATABASE, FORMAT_ID};
use mementory_format::{Detected, FormatError, Member, Role};
use mementory_formats_shared::any_time::text_time;
use mementory_formats_shared::markdown::outline;
use mementory_formats_shared::note::Note;
use mementory_formats_shared::note_reader::record_of;
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{Database, unreadable};
use mementory_formats_shared::sqlite_rows::{
    self, Row, Schema, each_row, report_other_tables, row_text, tables, text_or_number_in,
};
use mementory_model::{DroppedAs, Issue, Kind, Origin, Record, RecordKey, Verbatim};
use std::collections::{HashMap, HashSet};

const NOTES: &str = "entity";
const TEXTS: &str = "note_content";
const OBSERVATIONS: &str = "observation";
const RELATIONS: &str = "relation";
/// Types of relations that represent a link in the text of a note.
const LINK_TYPES: [&str; 2] = ["links_to", "links to"];

/// True if a database has the tables of Basic Memory.
pub(super) fn is_database(schema: &Schema) -> bool {
    schema.has_table(NOTES, &["title", "permalink", "file_path"])
        && schema.has_table(OBSERVATIONS, &["entity_id", "content", "category"])
        && schema.has_table(RELATIONS, &["from_id", "to_name", "relation_type"])
}

/// True if a claim is for a database and not for notes.
pub(super) fn is_claimed(detected: &Detected) -> bool {
    detected.claim.parts.iter().any(|part| part.role == Role::Manifest)
}

/// The notes of a database, and what was sent so far.
struct Notes {
    /// Records of the notes, by the id of their row.
    records: HashMap<String, Record>,
    names: Names,
    /// Row ids of the notes whose text is in the database.
    with_text: HashSet<String>,
    /// Keys of the records that were sent.
    sent: HashSet<RecordKey>,
}

/// Sends the notes, observations and relations of a database. The database is neither locked nor changed.
pub(super) fn read(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let table_names = tables(&database).map_err(|error| unreadable(member, &error))?;
    let mut notes = notes_of(files, member, &database)?;
    if table_names.iter().any(|name| name == TEXTS) {
        send_texts(files, member, &database, &mut notes)?;
    }
    let without_text = notes.records.len().saturating_sub(notes.with_text.len());
    if without_text > 0 {
        let message = format!("the texts of {without_text} notes are not in the database; import their folder too");
        files.sink.note(Issue::new("texts_missing", &member.place, message));
    }
    each_row(files, member, &database, OBSERVATIONS, |files, row, number| {
        send_row(files, &mut notes, &row, ("entity_id", OBSERVATIONS, number), |note, item, _| {
            super::lines::observation(item).map(|found| fact(note, &found, item))
        })
    })?;
    let mut link_count = 0;
    each_row(files, member, &database, RELATIONS, |files, row, number| {
        if text_or_number_in(&row, "relation_type").is_some_and(|kind| LINK_TYPES.contains(&kind.as_str())) {
            link_count += 1;
            return Ok(());
        }
        send_row(files, &mut notes, &row, ("from_id", RELATIONS, number), |note, item, names| {
            super::lines::relation(item).map(|found| relation_record(note, &found, names))
        })
    })?;
    if link_count > 0 {
        let reason = format!("not_imported: {link_count} links in the texts of notes, which the texts contain");
        files.report_dropped(format!("{}#{RELATIONS}", member.place), DroppedAs::Skipped, &reason, None);
    }
    report_other_tables(files, member, &database, &table_names, |table| match table {
        NOTES | TEXTS | OBSERVATIONS | RELATIONS => None,
        _ => Some("it has settings of the program or an index"),
    });
    Ok(())
}

/// Reads the notes without their texts. Rows of other files, such as pictures, are skipped.
fn notes_of(files: &mut FileReader<'_>, member: &Member, database: &Database) -> Result<Notes, FormatError> {
    let mut notes =
        Notes { records: HashMap::new(), names: Names::default(), with_text: HashSet::new(), sent: HashSet::new() };
    let mut seen = HashSet::new();
    each_row(files, member, database, NOTES, |files, row, number| {
        let (Some(id), Some(path)) = (text_or_number_in(&row, "id"), text_or_number_in(&row, "file_path")) else {
            return Ok(());
        };
        if text_or_number_in(&row, "content_type").is_some_and(|kind| kind != "text/markdown") {
            return Ok(());
        }
        let permalink = text_or_number_in(&row, "permalink");
        let mut key = RecordKey::new(FORMAT_ID, permalink.clone().unwrap_or_else(|| path.clone()));
        // A database may contain several projects, whose notes may have the same permalink or path.
        if !seen.insert(key.value.clone()) {
            let message = "another note has the same permalink; both are imported";
            files.sink.note(Issue::new("duplicate_id", format!("{}#{NOTES}/row {number}", member.place), message));
            key.value = format!("{}~{}", key.value, content_id(&format!("{id}\n{path}")));
            seen.insert(key.value.clone());
        }
        let mut record = Record::new(Kind::Resource, key, "");
        record.title = text_or_number_in(&row, "title");
        record.record_type = text_or_number_in(&row, "note_type").or_else(|| text_or_number_in(&row, "entity_type"));
        record.times.created = text_or_number_in(&row, "created_at").as_deref().and_then(text_time);
        record.times.updated = text_or_number_in(&row, "updated_at").as_deref().and_then(text_time);
        record.source.platform = FORMAT_ID.into();
        record.origin_id = permalink.or_else(|| Some(path.clone()));
        record.origin = Origin {
            format: FORMAT_ID.into(),
            version: Some(DATABASE.into()),
            container: member.place.clone(),
            pointer: format!("{NOTES}/row {number}"),
        };
        notes.names.add(&record, &path);
        notes.records.insert(id, record);
        Ok(())
    })?;
    Ok(notes)
}

/// Sends the notes whose texts are in the database, with the observations and relations in their texts.
fn send_texts(
    files: &mut FileReader<'_>,
    member: &Member,
    database: &Database,
    notes: &mut Notes,
) -> Result<(), FormatError> {
    each_row(files, member, database, TEXTS, |files, row, number| {
        let id = text_or_number_in(&row, "entity_id").filter(|id| notes.records.contains_key(id));
        let (Some(id), Some(source)) = (id, text_or_number_in(&row, "markdown_content")) else { return Ok(()) };
        let Some(indexed_note) = notes.records.get(&id) else { return Ok(()) };
        let note = Note::parse(&source);
        let found = outline(note.body);
        let mut record =
            record_of(&note, &found, indexed_note.key.clone(), indexed_note.title.as_deref().unwrap_or_default());
        record.title = note.text("title").or_else(|| indexed_note.title.clone());
        record.times.created = record.times.created.or(indexed_note.times.created);
        record.times.updated = record.times.updated.or(indexed_note.times.updated);
        record.source.platform = indexed_note.source.platform.clone();
        record.origin_id = indexed_note.origin_id.clone();
        record.origin = Origin { pointer: format!("{TEXTS}/row {number}"), ..indexed_note.origin.clone() };
        record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: source.clone() });
        let (items, _) = items_of(&note, &found, &record, &notes.names);
        notes.with_text.insert(id);
        if !notes.sent.insert(record.key.clone()) {
            return Ok(());
        }
        files.sink.unit(record.into())?;
        for item in items {
            notes.sent.insert(item.key.clone());
            files.sink.unit(item.into())?;
        }
        Ok(())
    })
}

/// Sends the record of an observation or relation. `read` makes the record from the line of a note that the row
/// represents.
fn send_row(
    files: &mut FileReader<'_>,
    notes: &mut Notes,
    row: &Row,
    (id_column, table, number): (&str, &str, usize),
    read: impl Fn(&Record, &str, &Names) -> Option<Record>,
) -> Result<(), FormatError> {
    let id = text_or_number_in(row, id_column).filter(|id| !notes.with_text.contains(id));
    let Some(note) = id.and_then(|id| notes.records.get(&id)) else { return Ok(()) };
    let line = line_of(row).unwrap_or_default();
    let Some(mut record) = read(note, &line, &notes.names) else {
        let place = format!("{}#{table}/row {number}", note.origin.container);
        let reason = "no_content: this row has no text";
        files.report_dropped(place, DroppedAs::Failed, reason, None);
        return Ok(());
    };
    if !notes.sent.insert(record.key.clone()) {
        return Ok(());
    }
    record.origin.pointer = format!("{table}/row {number}");
    record.verbatim = Some(Verbatim::json(row_text(row.clone(), |_| false)));
    files.sink.unit(record.into())
}

/// Returns the line of a note that a row represents. None if the row is incomplete.
fn line_of(row: &Row) -> Option<String> {
    let line = match (text_or_number_in(row, "content"), text_or_number_in(row, "to_name")) {
        (Some(content), _) => {
            format!("[{}] {content}", text_or_number_in(row, "category").unwrap_or_else(|| "note".into()))
        }
        (None, target) => format!("{} [[{}]]", text_or_number_in(row, "relation_type")?, target?),
    };
    Some(match text_or_number_in(row, "context") {
        Some(context) => format!("{line} ({context})"),
        None => line,
    })
}
