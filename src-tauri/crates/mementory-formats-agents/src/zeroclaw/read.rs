//! Reads a home or a workspace into records and passthrough files.
use super::database::{self, DatabaseError, Row};
use super::settings::Settings;
use super::{ZEROCLAW, aieos, wire};
use crate::openclaw::read::Reader;
use crate::openclaw::{Root, claimed_files, redact};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Sink};
use mementory_json::Tree;
use mementory_model::{Dropped, DroppedAs, Kind, Limits, Verbatim};

/// Reads a home or a workspace.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let root = Root::of_claim(catalog, detected);
    let members = claimed_files(catalog, detected, &root);
    let config = members.iter().find(|m| m.file_name() == "config.toml");
    let config = match config {
        Some(member) => String::from_utf8_lossy(&catalog.bytes(member, context.limits.side_file_bytes)?).into_owned(),
        None => String::new(),
    };
    let settings = Settings::parse(&config);
    let document = settings.get("identity.aieos_path").unwrap_or("identity.json").trim_start_matches("./").to_owned();
    let mut reader = Reader::new(&ZEROCLAW, catalog, &root, context, sink)?;
    if let Some(member) = members.iter().find(|m| m.file_name() == "config.toml") {
        read_secret_names(&mut reader, member, &config)?;
        if let Some(inline) = settings.get("identity.aieos_inline").filter(|t| !t.is_empty()) {
            read_identity(&mut reader, member, None, inline)?;
        }
    }
    for member in &members {
        let path = root.path(member).unwrap_or_default();
        let inner = path.strip_prefix("workspace/").unwrap_or(path).to_owned();
        if database::is_database_name(member.file_name()) {
            read_memories(&mut reader, &members, member, &settings)?;
        } else if settings.get("identity.format") == Some("aieos") && (inner == document || path == document) {
            let bytes = catalog.bytes(member, context.limits.side_file_bytes)?;
            match String::from_utf8(bytes) {
                Ok(text) if read_identity(&mut reader, member, Some(path), &text)? => {}
                _ => reader.pass_through(member, path)?,
            }
        } else {
            reader.read_file(member)?;
        }
    }
    Ok(())
}

/// Reads an AIEOS document as a profile. Returns false if the document is not a JSON object.
fn read_identity(
    reader: &mut Reader<'_>,
    member: &Member,
    path: Option<&str>,
    text: &str,
) -> Result<bool, FormatError> {
    let Ok(doc @ Tree::Object(_)) = Tree::parse(text, reader.context.limits.json_depth) else { return Ok(false) };
    let (name, description) = aieos::name_and_description(&doc);
    let id = reader.id(path.unwrap_or("config.toml"), "aieos", 0);
    let mut record = reader.record(Kind::Profile, &id, &description, member, "aieos".into());
    record.title = name;
    record.record_type = Some("aieos".into());
    if let Some(path) = path {
        record.fields.insert("file".into(), path.into());
    }
    record.verbatim = Some(Verbatim::json(text));
    reader.sink.unit(record.into())?;
    Ok(true)
}

/// Creates a credential record for each secret in the settings. The record contains only the name of the setting. The
/// secret itself is only in the settings file.
fn read_secret_names(reader: &mut Reader<'_>, member: &Member, text: &str) -> Result<(), FormatError> {
    for (n, key) in redact::secret_keys(text).into_iter().enumerate() {
        let id = reader.id("config.toml", &key, n);
        let mut record = reader.record(Kind::Credential, &id, &key, member, format!("key {n}"));
        record.title = Some(key);
        record.record_type = Some("custom".into());
        record.fields.insert("secret_inside".into(), false.into());
        reader.sink.unit(record.into())?;
    }
    Ok(())
}

/// Bytes and rows of a database. The rows include the changes in its write-ahead log, the bytes do not.
pub(super) fn rows_of(
    catalog: &Catalog,
    members: &[&Member],
    member: &Member,
    limits: &Limits,
) -> Result<(Vec<u8>, Vec<Row>), FormatError> {
    let log = format!("{}-wal", member.name);
    let log = members.iter().find(|m| m.name == log && m.root == member.root && m.archive == member.archive);
    let database_bytes = catalog.bytes(member, limits.element_bytes)?;
    let log = log.map(|m| catalog.bytes(m, limits.element_bytes)).transpose()?;
    let unreadable = |e: DatabaseError| FormatError::invalid("database_unreadable", &member.place, e.to_string());
    let connection = database::open_image(database_bytes.clone(), log.as_deref(), true).map_err(unreadable)?;
    Ok((database_bytes, database::read_rows(&connection).map_err(unreadable)?))
}

fn read_memories(
    reader: &mut Reader<'_>,
    members: &[&Member],
    member: &Member,
    settings: &Settings,
) -> Result<(), FormatError> {
    let path = reader.root.path(member).unwrap_or_default().to_owned();
    match rows_of(reader.catalog, members, member, &reader.context.limits) {
        Ok((_, rows)) => {
            for (n, row) in rows.iter().enumerate() {
                read_memory(reader, member, &path, row, n, settings)?;
            }
        }
        Err(FormatError::Invalid { message, .. }) => {
            let reason = format!("database_unreadable: stored as a file only, {message}");
            let (outcome, kind) = (DroppedAs::Failed, Some(Kind::Memory));
            reader.sink.dropped(Dropped { place: member.place.clone(), outcome, reason, kind });
        }
        Err(e) => return Err(e),
    }
    reader.pass_through(member, &path)
}

fn read_memory(
    reader: &mut Reader<'_>,
    member: &Member,
    path: &str,
    row: &Row,
    n: usize,
    settings: &Settings,
) -> Result<(), FormatError> {
    let text = |key: &str| row.get(key).and_then(serde_json::Value::as_str).filter(|t| !t.is_empty());
    let place = format!("{}#row {n}", member.place);
    let (Some(content), Some(id)) = (text("content"), text("id").or_else(|| text("key"))) else {
        let reason = "no_content: this row has no content or no id".to_owned();
        let (outcome, kind) = (DroppedAs::Failed, Some(Kind::Memory));
        reader.sink.dropped(Dropped { place, outcome, reason, kind });
        return Ok(());
    };
    if let Some(record) = reader.take_slot(path, content) {
        return reader.sink.unit(record.into());
    }
    let mut record = reader.record(Kind::Memory, id, content, member, format!("row {n}"));
    record.fields.insert("file".into(), path.into());
    if !wire::fill_record(&mut record, row, settings) {
        reader.report_issue("bad_time", &place, "the time of this row cannot be read");
    }
    reader.sink.unit(record.into())
}
