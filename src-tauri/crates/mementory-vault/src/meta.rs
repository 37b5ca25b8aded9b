//! Single values in the store's table `meta`, by key.
use crate::{VaultError, VaultResult};
use rusqlite::{Connection, OptionalExtension, ToSql, params, types::FromSql};
use serde::{Serialize, de::DeserializeOwned};

/// Returns the value of a key. None if the key is missing.
pub(crate) fn read<T: FromSql>(c: &Connection, key: &str) -> VaultResult<Option<T>> {
    Ok(c.prepare_cached("SELECT value FROM meta WHERE key = ?1")?.query_row([key], |r| r.get(0)).optional()?)
}

/// Sets the value of a key, replacing an earlier one.
pub(crate) fn write(tx: &Connection, key: &str, value: impl ToSql) -> VaultResult<()> {
    tx.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?.execute(params![key, value])?;
    Ok(())
}

/// Returns the value of a key that was stored as JSON. None if the key is missing.
///
/// # Errors
/// `Damaged` if the value cannot be read. It does not count as empty, because the next write would replace it.
pub(crate) fn read_json<T: DeserializeOwned>(c: &Connection, key: &str) -> VaultResult<Option<T>> {
    let Some(text) = read::<String>(c, key)? else { return Ok(None) };
    let value = serde_json::from_str(&text).map_err(|_| VaultError::Damaged(format!("{key} cannot be read")))?;
    Ok(Some(value))
}

/// Stores a value as JSON, replacing an earlier one.
pub(crate) fn write_json(tx: &Connection, key: &str, value: &impl Serialize) -> VaultResult<()> {
    let text = serde_json::to_string(value).map_err(|_| VaultError::Damaged(format!("{key} cannot be written")))?;
    write(tx, key, text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_value_that_cannot_be_read_does_not_count_as_missing() {
        let c = Connection::open_in_memory().unwrap();
        c.execute_batch("CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID").unwrap();
        assert_eq!(read_json::<Vec<u8>>(&c, "list").unwrap(), None);
        write_json(&c, "list", &[1, 2]).unwrap();
        assert_eq!(read_json::<Vec<u8>>(&c, "list").unwrap(), Some(vec![1, 2]));
        write(&c, "list", "[1,").unwrap();
        assert!(matches!(read_json::<Vec<u8>>(&c, "list"), Err(VaultError::Damaged(_))));
    }
}
