//! The columns of `records` whose values are derived from a record.
use crate::{StoreResult, rows::Flags};
use mementory_model::{Kind, Record};
use rusqlite::{Connection, params};
use std::collections::HashSet;

/// Maximum length of the stored preview, in characters.
pub const MAX_PREVIEW_CHARS: usize = 500;

/// True if two messages have the same parent, or more than one has no parent.
pub fn is_branched(records: &[Record]) -> bool {
    let mut parents = HashSet::new();
    let mut roots = 0;
    records.iter().filter_map(|r| r.message.as_ref()).any(|m| match &m.parent {
        Some(parent) => !parents.insert(parent),
        None => {
            roots += 1;
            roots > 1
        }
    })
}

/// True if the source marks the memory as not exportable (PAM 1.0 §21.1: `exportable` is false). The format forbids
/// values that are not booleans, such as `"false"` or 0. A memory with such a value is not exported either, because
/// exporting it against the person's wish cannot be undone.
fn is_not_exportable(record: &Record) -> bool {
    let access = record.fields.get("access").filter(|_| record.kind == Kind::Memory && record.origin.format == "pam");
    let exportable = access.and_then(|a| a.get("exportable"));
    exportable.is_some_and(|value| !matches!(value, serde_json::Value::Bool(true) | serde_json::Value::Null))
}

/// The values of a record that determine where it appears in lists. A newer export may change them even if the content
/// is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPosition {
    /// Time that the record is sorted by, in microseconds, if the source states one.
    pub time: Option<i64>,
    /// Position of the record in its conversation.
    pub position: i64,
    /// Bits of [`ListPosition::FLAGS`].
    pub flags: i64,
}

impl ListPosition {
    /// The flags that come from the source. The other flags describe changes made in this vault.
    pub const FLAGS: i64 = Flags::HIDDEN | Flags::ACTIVE | Flags::BRANCHED | Flags::NOT_EXPORTABLE | Flags::SAID_BY;

    /// The list position of a record, with the bits of `extra_flags` added to its flags.
    pub fn from_record(record: &Record, extra_flags: i64) -> Self {
        let message = record.message.as_ref();
        let mut flags = extra_flags | Flags::said_by(record.said_by());
        if message.is_some_and(|m| m.hidden) {
            flags |= Flags::HIDDEN;
        }
        if message.is_some_and(|m| m.active) {
            flags |= Flags::ACTIVE;
        }
        if is_not_exportable(record) {
            flags |= Flags::NOT_EXPORTABLE;
        }
        let time = if record.kind == Kind::Conversation {
            record.times.updated.or(record.times.created)
        } else {
            record.times.created.or(record.times.updated)
        };
        Self {
            time: time.map(mementory_model::Timestamp::as_micros),
            position: message.map_or(0, |m| i64::from(m.position)),
            flags,
        }
    }
}

/// The columns of `records` whose values are derived from a record.
#[derive(Debug)]
#[allow(missing_docs, reason = "columns of `records`, see schema.sql")]
pub struct RecordColumns {
    pub sort: i64,
    pub position: i64,
    pub flags: i64,
    pub title: Option<String>,
    pub preview: Option<String>,
}

impl RecordColumns {
    /// The columns of a record. A record without a time is sorted by `now`.
    pub fn from_record(record: &Record, extra_flags: i64, now: i64) -> Self {
        let ListPosition { time, position, flags } = ListPosition::from_record(record, extra_flags);
        // A message gets no preview, because it is shown in its conversation. A second copy of its words would only
        // make the database larger.
        let has_preview = record.kind != Kind::Message;
        Self {
            sort: time.unwrap_or(now),
            position,
            flags,
            title: has_preview.then(|| record.title.clone()).flatten(),
            preview: has_preview.then(|| record.text.chars().take(MAX_PREVIEW_CHARS).collect()),
        }
    }
}

/// Updates the columns and tags that are derived from a record's body.
///
/// # Errors
/// Errors of the database.
pub fn write_columns(tx: &Connection, row: i64, record: &Record) -> StoreResult<()> {
    let columns = RecordColumns::from_record(record, 0, 0);
    tx.prepare_cached(
        "UPDATE records SET type = ?2, status = ?3, title = ?4, preview = ?5, flags = flags & ~?6 | ?7 WHERE row = ?1",
    )?
    .execute(params![
        row,
        record.record_type,
        record.status,
        columns.title,
        columns.preview,
        Flags::SAID_BY,
        Flags::said_by(record.said_by())
    ])?;
    tx.prepare_cached("DELETE FROM tags WHERE row = ?1")?.execute([row])?;
    write_tags(tx, row, &record.tags)
}

/// Adds tags to a row.
///
/// # Errors
/// Errors of the database.
pub fn write_tags(tx: &Connection, row: i64, tags: &[String]) -> StoreResult<()> {
    for tag in tags {
        tx.prepare_cached("INSERT OR IGNORE INTO tags (row, tag) VALUES (?1, ?2)")?.execute(params![row, tag])?;
    }
    Ok(())
}
