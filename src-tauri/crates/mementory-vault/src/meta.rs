//! Single values in the store's table `meta`, by key.
use crate::VaultResult;
use rusqlite::{Connection, OptionalExtension, ToSql, params, types::FromSql};

/// Returns the value of a key. None if the key is missing.
pub(crate) fn read<T: FromSql>(c: &Connection, key: &str) -> VaultResult<Option<T>> {
    Ok(c.prepare_cached("SELECT value FROM meta WHERE key = ?1")?.query_row([key], |r| r.get(0)).optional()?)
}

/// Sets the value of a key, replacing an earlier one.
pub(crate) fn write(tx: &Connection, key: &str, value: impl ToSql) -> VaultResult<()> {
    tx.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?.execute(params![key, value])?;
    Ok(())
}
