//! Export ids: the ids from which the writers of all formats derive the ids of elements. The export id of a record is
//! normally its vault id. For a record from a file that another vault wrote, it is the record's id in that vault. A
//! record therefore keeps its ids when it moves between vaults, and a tombstone of one vault identifies the record in
//! all of them.
use crate::{StoreResult, ids::parse_id};
use rusqlite::{Connection, OptionalExtension};

/// True if any record has an export id other than its vault id.
///
/// # Errors
/// Errors of the database.
pub fn any(connection: &Connection) -> StoreResult<bool> {
    Ok(connection.query_row("SELECT EXISTS (SELECT 1 FROM export_ids)", [], |r| r.get(0))?)
}

/// Stores the export id that a record has from the vault that wrote it. Does nothing if that is the record's vault id,
/// or the export id of another record.
///
/// # Errors
/// Errors of the database.
pub fn add(tx: &Connection, record: &[u8; 16], id: &[u8; 16]) -> StoreResult<()> {
    if record != id {
        tx.prepare_cached(
            "INSERT OR IGNORE INTO export_ids (record, id) \
             SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM records WHERE id = ?2)",
        )?
        .execute([record, id])?;
    }
    Ok(())
}

/// Removes the export id that equals the vault id of this new record, if a file assigned that id to another record.
pub fn release(tx: &Connection, id: &[u8; 16]) -> StoreResult<()> {
    tx.prepare_cached("DELETE FROM export_ids WHERE id = ?1")?.execute([id])?;
    Ok(())
}

/// Removes the export ids of records that an undo removed. An export id that a tombstone refers to stays.
pub fn remove_unused(tx: &Connection) -> StoreResult<()> {
    tx.execute(
        "DELETE FROM export_ids WHERE record NOT IN (SELECT id FROM records) \
         AND record NOT IN (SELECT record FROM tombstones WHERE own = 1 AND record IS NOT NULL)",
        [],
    )?;
    Ok(())
}

/// The export id of the record with this vault id. The record need not exist.
///
/// # Errors
/// Errors of the database.
pub fn export_id(connection: &Connection, record: [u8; 16]) -> StoreResult<[u8; 16]> {
    let mut statement = connection.prepare_cached("SELECT id FROM export_ids WHERE record = ?1")?;
    Ok(statement.query_row([record], |r| r.get(0)).optional()?.unwrap_or(record))
}

/// Vault id of the record that has this export id from another vault.
///
/// # Errors
/// Errors of the database.
pub fn record_with(connection: &Connection, id: &[u8; 16]) -> StoreResult<Option<[u8; 16]>> {
    let mut statement = connection.prepare_cached("SELECT record FROM export_ids WHERE id = ?1")?;
    Ok(statement.query_row([id], |r| r.get(0)).optional()?)
}

/// [`export_id`] in hexadecimal. A text that is not an id is returned unchanged.
///
/// # Errors
/// Errors of the database.
pub fn export_id_text(connection: &Connection, record: &str) -> StoreResult<String> {
    match parse_id(record) {
        Some(id) => Ok(hex::encode(export_id(connection, id)?)),
        None => Ok(record.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const OUR_ID: [u8; 16] = [1; 16];
    const THEIR_ID: [u8; 16] = [2; 16];
    const OTHER_ID: [u8; 16] = [3; 16];

    fn database() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE records (id BLOB); CREATE TABLE tombstones (record BLOB, own INTEGER);")
            .unwrap();
        connection.execute_batch(include_str!("schema_4.sql")).unwrap();
        connection
    }

    #[test]
    fn the_export_id_is_the_vault_id_unless_another_vault_gave_one() {
        let connection = database();
        assert_eq!(export_id(&connection, OUR_ID).unwrap(), OUR_ID);
        add(&connection, &OUR_ID, &THEIR_ID).unwrap();
        assert_eq!(export_id(&connection, OUR_ID).unwrap(), THEIR_ID);
        assert_eq!(record_with(&connection, &THEIR_ID).unwrap(), Some(OUR_ID));
        assert_eq!(export_id_text(&connection, "manifest.json").unwrap(), "manifest.json");
    }

    #[test]
    fn two_records_never_have_the_same_export_id() {
        let connection = database();
        connection.execute("INSERT INTO records VALUES (?1)", [OTHER_ID]).unwrap();
        add(&connection, &OUR_ID, &OTHER_ID).unwrap();
        assert_eq!(export_id(&connection, OUR_ID).unwrap(), OUR_ID, "the vault id of another record");
        add(&connection, &OUR_ID, &THEIR_ID).unwrap();
        add(&connection, &OTHER_ID, &THEIR_ID).unwrap();
        assert_eq!(export_id(&connection, OTHER_ID).unwrap(), OTHER_ID, "the export id of another record");
        release(&connection, &THEIR_ID).unwrap();
        assert_eq!(export_id(&connection, OUR_ID).unwrap(), OUR_ID, "a new record has this vault id");
    }

    #[test]
    fn only_a_record_that_the_vault_or_its_tombstone_names_keeps_its_export_id() {
        let connection = database();
        for (record, id) in [(OUR_ID, [4; 16]), (THEIR_ID, [5; 16]), (OTHER_ID, [6; 16])] {
            add(&connection, &record, &id).unwrap();
        }
        connection.execute("INSERT INTO records VALUES (?1)", [OUR_ID]).unwrap();
        connection.execute("INSERT INTO tombstones VALUES (?1, 1)", [THEIR_ID]).unwrap();
        remove_unused(&connection).unwrap();
        let has_export_id =
            [OUR_ID, THEIR_ID, OTHER_ID].map(|record| export_id(&connection, record).unwrap() != record);
        assert_eq!(has_export_id, [true, true, false]);
    }
}
