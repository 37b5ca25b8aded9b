//! Values in the settings table of `state.vscdb`.
use mementory_format::{FormatError, Member};
use mementory_formats_shared::sqlite::{Database, column_text, unreadable};
use rusqlite::OptionalExtension;

/// The value of a setting.
pub(super) fn value(member: &Member, database: &Database, key: &str) -> Result<Option<String>, FormatError> {
    let sql = "SELECT value FROM ItemTable WHERE key = ?1 LIMIT 1";
    let stored_value = database.connection.query_row(sql, [key], |row| Ok(column_text(row.get_ref(0)?))).optional();
    Ok(stored_value.map_err(|e| unreadable(member, &e))?.flatten())
}
