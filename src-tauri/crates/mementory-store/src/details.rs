//! Details of a record: everything that its source says beyond the content that
//! [`content_digest`](crate::ids::content_digest) covers. A keyed digest of the details is stored next to the row, so
//! that an import can tell without reading the body that the details are unchanged. The digest reveals nothing without
//! the vault's key. It is removed with the row, and a redaction clears it.
use crate::StoreResult;
use mementory_crypto::{KeyedHasher, VaultKeys};
use mementory_model::{Embedding, EntityRef, Link, Record, RecordKey, Verbatim};
use rusqlite::{Connection, params};

/// The digest of details that were not computed. The value 0 takes no space in the database.
pub const NOT_COMPUTED: i64 = 0;

/// Digest of links, entities, vectors and original text, byte for byte. It is 64 bits of HMAC-SHA-256. Equal digests
/// mean equal details for practical purposes, since an import compares only one pair for each record. Different digests
/// do not prove different details, because the same JSON may be written in another way. Never [`NOT_COMPUTED`].
pub fn digest(keys: &VaultKeys, record: &Record) -> i64 {
    digest_with(keys.id_hasher(), record)
}

/// `hasher` has no data yet.
fn digest_with(hasher: &KeyedHasher, record: &Record) -> i64 {
    let mut hasher = hasher.clone();
    let mut add = |texts: &[&str]| {
        for text in texts {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
    };
    add(&["details"]);
    each_member(record, &mut add);
    if let Some(Verbatim { media_type, text }) = &record.verbatim {
        add(&["original", media_type, text]);
    }
    let full_digest = hasher.finish();
    let number = i64::from_le_bytes(std::array::from_fn(|i| full_digest[i]));
    if number == NOT_COMPUTED { 1 } else { number }
}

/// Calls `add` with the texts of each link, entity and vector of a record. The first text says whether the member is a
/// link, an entity or a vector. Different members have different texts.
pub fn each_member<'r>(record: &'r Record, mut add: impl FnMut(&[&'r str])) {
    for Link { relation, kind, target: RecordKey { scope, value } } in &record.links {
        add(&["link", relation, kind.as_str(), scope, value]);
    }
    for EntityRef { name, entity_type, role } in &record.entities {
        // An absent text differs from an empty one.
        let [entity_type, role] = [entity_type, role].map(|text| text.as_deref().unwrap_or("\u{0}"));
        add(&["entity", name, entity_type, role]);
    }
    for Embedding { model, json } in &record.embeddings {
        add(&["vector", model, json]);
    }
}

/// Clears the digests of all versions of a row whose words were redacted. Rows that an older program wrote stay as they
/// are, so that the time of their last change is still read from the body.
pub fn clear(tx: &Connection, row: i64) -> StoreResult<()> {
    for table in ["records", "versions"] {
        let sql = format!("UPDATE {table} SET details = ?2 WHERE row = ?1 AND details IS NOT NULL");
        tx.prepare_cached(&sql)?.execute([row, NOT_COMPUTED])?;
    }
    Ok(())
}

/// Stores the digest of the details and the time of the last change in a row that an older program wrote without them.
pub fn complete(tx: &Connection, row: i64, details: i64, updated: Option<i64>) -> StoreResult<()> {
    tx.prepare_cached("UPDATE records SET details = ?2, updated = ?3 WHERE row = ?1")?
        .execute(params![row, details, updated])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use mementory_model::Kind;

    fn digest_of(record: &Record) -> i64 {
        digest_with(&KeyedHasher::new(&[1; 32]), record)
    }

    fn memory() -> Record {
        let mut record = Record::new(Kind::Memory, RecordKey::new("test", "m"), "Likes tea.");
        record.links.push(Link { relation: "about".into(), kind: Kind::Entity, target: RecordKey::new("test", "tea") });
        record.entities.push(EntityRef { name: "Tea".into(), entity_type: None, role: Some("drink".into()) });
        record.embeddings.push(Embedding { model: "m".into(), json: "[1,2]".into() });
        record.verbatim = Some(Verbatim::json("{\"text\":\"Likes tea.\"}"));
        record
    }

    #[test]
    fn each_detail_has_its_part_in_the_digest() {
        let changes: [fn(&mut Record); 9] = [
            |r| r.links[0].relation.push('x'),
            |r| r.links[0].kind = Kind::Memory,
            |r| r.links[0].target.value.push('x'),
            |r| r.entities[0].entity_type = Some(String::new()),
            |r| r.entities[0].role = None,
            |r| r.embeddings[0].json.push(' '),
            |r| r.embeddings.clear(),
            |r| r.verbatim = Some(Verbatim::json("{}")),
            |r| r.verbatim = None,
        ];
        let before = digest_of(&memory());
        for (n, change) in changes.iter().enumerate() {
            let mut record = memory();
            change(&mut record);
            assert_ne!(digest_of(&record), before, "change {n}");
        }
        assert_eq!(digest_of(&memory()), before);
        assert_ne!(digest_with(&KeyedHasher::new(&[2; 32]), &memory()), before, "another vault has other digests");
    }

    #[test]
    fn values_covered_by_the_content_digest_are_not_details() {
        let mut record = memory();
        record.text.push_str(" And milk.");
        record.title = Some("Drinks".into());
        assert_eq!(digest_of(&record), digest_of(&memory()));
    }

    #[test]
    fn a_redaction_clears_digests_that_were_computed() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE records (row INTEGER PRIMARY KEY); INSERT INTO records VALUES (1), (2); \
             CREATE TABLE versions (row, version); INSERT INTO versions VALUES (1, 1), (1, 2); \
             CREATE TABLE moved (row);",
            )
            .unwrap();
        connection.execute_batch(include_str!("schema_5.sql")).unwrap();
        complete(&connection, 1, 7, Some(3)).unwrap();
        connection.execute("UPDATE versions SET details = 5 WHERE version = 2", []).unwrap();
        clear(&connection, 1).unwrap();
        clear(&connection, 2).unwrap();
        let numbers = |sql: &str| -> Vec<Option<i64>> {
            let mut statement = connection.prepare(sql).unwrap();
            statement.query_map([], |r| r.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
        };
        assert_eq!(numbers("SELECT details FROM records ORDER BY row"), [Some(0), None]);
        assert_eq!(numbers("SELECT details FROM versions ORDER BY version"), [None, Some(0)]);
        assert_eq!(numbers("SELECT updated FROM records ORDER BY row"), [Some(3), None], "the time stays");
    }
}
