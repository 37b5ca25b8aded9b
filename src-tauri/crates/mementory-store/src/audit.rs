//! The audit log. It is append-only: each entry's hash covers the entry before it, and the vault signs each hash. An
//! entry records actor, operation, target id and time, and never contains record content.
use crate::StoreResult;
use mementory_crypto::{VaultKeys, keyed_digest, verify};
use mementory_model::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

/// One entry of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "columns of `audit`, see schema.sql")]
pub struct AuditRow {
    pub seq: i64,
    pub at: i64,
    pub actor: String,
    pub op: String,
    pub target: String,
    pub detail: String,
}

/// Chain data of one audit entry: its number, time, hash and signature.
#[derive(Debug)]
#[allow(missing_docs, reason = "columns of `audit`, see schema.sql")]
pub struct ChainLink {
    pub seq: i64,
    pub at: i64,
    pub hash: Vec<u8>,
    pub signature: Vec<u8>,
}

/// Actor of changes made by the person.
const OWNER: &str = "owner";

/// Actor of calls by a connected client. The target of such an entry is the id of the client's grant.
pub const CLIENT: &str = "client";

fn entry_hash(keys: &VaultKeys, previous_hash: &[u8], row: &AuditRow) -> [u8; 32] {
    keyed_digest(
        keys.audit(),
        &[
            previous_hash,
            &row.seq.to_le_bytes(),
            &row.at.to_le_bytes(),
            row.actor.as_bytes(),
            row.op.as_bytes(),
            row.target.as_bytes(),
            row.detail.as_bytes(),
        ],
    )
}

/// Appends an entry, in the same transaction as the change that the entry records.
pub fn append(
    tx: &Connection,
    keys: &VaultKeys,
    now: Timestamp,
    op: &str,
    target: &str,
    detail: &str,
) -> StoreResult<()> {
    append_by(tx, keys, now, OWNER, op, target, detail)
}

/// Like [`append`], for an actor other than the owner.
pub fn append_by(
    tx: &Connection,
    keys: &VaultKeys,
    now: Timestamp,
    actor: &str,
    op: &str,
    target: &str,
    detail: &str,
) -> StoreResult<()> {
    let last_entry: Option<(i64, Vec<u8>)> = tx
        .query_row("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1", [], |r| Ok((r.get(0)?, r.get(1)?)))
        .optional()?;
    let (seq, previous_hash) = last_entry.map_or((1, Vec::new()), |(seq, hash)| (seq + 1, hash));
    let row = AuditRow {
        seq,
        at: now.as_micros(),
        actor: actor.into(),
        op: op.into(),
        target: target.into(),
        detail: detail.into(),
    };
    let hash = entry_hash(keys, &previous_hash, &row);
    let signature = keys.signing().sign(&hash);
    tx.prepare_cached(
        "INSERT INTO audit (seq, at, actor, op, target, detail, hash, signature) VALUES (?1,?2,?3,?4,?5,?6,?7,?8)",
    )?
    .execute(params![row.seq, row.at, row.actor, row.op, row.target, row.detail, hash, signature])?;
    Ok(())
}

/// All entries, oldest first.
///
/// # Errors
/// Errors of the database.
pub fn entries(connection: &Connection) -> StoreResult<Vec<AuditRow>> {
    let mut statement = connection.prepare("SELECT seq, at, actor, op, target, detail FROM audit ORDER BY seq")?;
    let rows = statement.query_map([], read_entry)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn read_entry(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
    Ok(AuditRow {
        seq: row.get(0)?,
        at: row.get(1)?,
        actor: row.get(2)?,
        op: row.get(3)?,
        target: row.get(4)?,
        detail: row.get(5)?,
    })
}

/// Chain data of all entries, oldest first.
///
/// # Errors
/// Errors of the database.
pub fn chain(connection: &Connection) -> StoreResult<Vec<ChainLink>> {
    let mut statement = connection.prepare("SELECT seq, at, hash, signature FROM audit ORDER BY seq")?;
    let read = |r: &Row<'_>| -> rusqlite::Result<ChainLink> {
        Ok(ChainLink { seq: r.get(0)?, at: r.get(1)?, hash: r.get(2)?, signature: r.get(3)? })
    };
    let rows = statement.query_map([], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Checks the whole chain: numbers without gaps, every hash and every signature. Entries cut off at the end of the log
/// go unnoticed, because nothing outside the store records the log's length.
///
/// # Errors
/// Errors of the database.
pub fn verify_chain(connection: &Connection, keys: &VaultKeys) -> StoreResult<bool> {
    let public = keys.signing().public();
    let mut statement =
        connection.prepare("SELECT seq, at, actor, op, target, detail, hash, signature FROM audit ORDER BY seq")?;
    let mut rows = statement.query([])?;
    let (mut previous_hash, mut expected_seq) = (Vec::new(), 1i64);
    while let Some(r) = rows.next()? {
        let entry = read_entry(r)?;
        let hash: Vec<u8> = r.get(6)?;
        let signature: Vec<u8> = r.get(7)?;
        let is_valid = entry.seq == expected_seq
            && entry_hash(keys, &previous_hash, &entry)[..] == hash[..]
            && <[u8; 64]>::try_from(signature.as_slice()).is_ok_and(|s| verify(&public, &hash, &s));
        if !is_valid {
            return Ok(false);
        }
        previous_hash = hash;
        expected_seq += 1;
    }
    Ok(true)
}
