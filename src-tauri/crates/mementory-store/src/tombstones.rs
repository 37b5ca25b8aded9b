//! Tombstones. They are signed and contain no record content. They block the ids of records and, by keyed fingerprints,
//! also the same words under another id.
use crate::{
    StoreResult, export_ids,
    ids::{parse_id, record_id},
};
use mementory_crypto::{VaultKeys, keyed_digest, verify};
use mementory_model::{Derived, RecordKey, Timestamp, Tombstone, TombstoneOp};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::{HashMap, HashSet};

/// A stored tombstone.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "columns of `tombstones`, see schema.sql")]
pub struct TombstoneRow {
    pub id: String,
    pub op: TombstoneOp,
    pub kind: String,
    /// The id of the target: in the vault's own tombstones, the record's id in this vault; in imported ones, the id
    /// that the format states.
    pub target: String,
    pub scope: String,
    pub origin_id: Option<String>,
    pub source: Option<String>,
    pub at: Timestamp,
    pub actor: String,
    pub reason: String,
    pub derived: Derived,
    pub signature: String,
    pub own: bool,
    pub receipt: Option<String>,
    /// True if the signature was verified when the tombstone was read.
    pub signature_valid: bool,
    pub verbatim: Option<String>,
}

impl TombstoneRow {
    /// The bytes that the vault signs: every field about the deletion, each preceded by its length. The signature is
    /// left out, and so is the receipt's id, because a later check may replace the receipt.
    fn signed_bytes(&self) -> Vec<u8> {
        let optional = |text: &Option<String>| text.as_ref().map_or_else(|| "-".into(), |text| format!("+{text}"));
        let (origin_id, source) = (optional(&self.origin_id), optional(&self.source));
        self.bytes_to_sign(b"mementory tombstone v2", &[&origin_id, &source])
    }

    /// The bytes that earlier program versions signed. They lack the source's name and the record's id in the source.
    fn former_signed_bytes(&self) -> Vec<u8> {
        self.bytes_to_sign(b"keepsake tombstone v1", &[])
    }

    fn bytes_to_sign(&self, label: &[u8], extra_fields: &[&String]) -> Vec<u8> {
        let derived = serde_json::to_string(&self.derived).unwrap_or_default();
        let op = if self.op == TombstoneOp::Delete { "delete" } else { "redact" };
        let position = self.at.as_micros().to_string();
        let mut out = label.to_vec();
        let parts =
            [&self.id, op, &self.kind, &self.target, &self.scope, &position, &self.actor, &self.reason, &derived];
        for part in parts.into_iter().chain(extra_fields.iter().map(|part| part.as_str())) {
            out.extend_from_slice(&(part.len() as u64).to_le_bytes());
            out.extend_from_slice(part.as_bytes());
        }
        out
    }

    /// True if the vault signed this tombstone, in the current layout or the earlier one.
    fn is_signed_by(&self, public: &[u8; 32]) -> bool {
        let signature = hex::decode(&self.signature).ok().and_then(|s| <[u8; 64]>::try_from(s).ok());
        signature.is_some_and(|signature| {
            [self.signed_bytes(), self.former_signed_bytes()].iter().any(|bytes| verify(public, bytes, &signature))
        })
    }
}

/// Signs a tombstone of this vault and stores it. From then on, the ids in `blocked` and the texts with these
/// `fingerprints` are blocked.
pub fn store_own(
    tx: &Connection,
    keys: &VaultKeys,
    mut row: TombstoneRow,
    record: &[u8; 16],
    blocked: &[[u8; 16]],
    fingerprints: &[[u8; 16]],
) -> StoreResult<TombstoneRow> {
    row.signature = hex::encode(keys.signing().sign(&row.signed_bytes()));
    row.signature_valid = true;
    insert(tx, &row, Some(record))?;
    for id in blocked {
        // If an imported tombstone already blocks this id, its entry is replaced, because the import may be undone, but
        // this deletion may not.
        tx.prepare_cached("INSERT OR REPLACE INTO blocked (record, tombstone) VALUES (?1, ?2)")?
            .execute(params![id, row.id])?;
    }
    for fingerprint in fingerprints {
        tx.prepare_cached("INSERT OR IGNORE INTO fingerprints (fingerprint, tombstone) VALUES (?1, ?2)")?
            .execute(params![fingerprint, row.id])?;
    }
    Ok(row)
}

/// Marks these records as redacted. A later import must not restore the redacted words, which the source may still
/// have.
pub fn store_redacted(tx: &Connection, ids: &[[u8; 16]], tombstone: &str) -> StoreResult<()> {
    for id in ids {
        tx.prepare_cached("INSERT OR IGNORE INTO redacted (record, tombstone) VALUES (?1, ?2)")?
            .execute(params![id, tombstone])?;
    }
    Ok(())
}

fn insert(tx: &Connection, row: &TombstoneRow, record: Option<&[u8; 16]>) -> StoreResult<()> {
    tx.prepare_cached(
        "INSERT OR IGNORE INTO tombstones (id, op, kind, target, scope, record, origin_id, source, at, actor, reason, derived, signature, own, receipt, verbatim) \
         VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)",
    )?
    .execute(params![
        row.id, row.op as i64, row.kind, row.target, row.scope, record, row.origin_id, row.source, row.at.as_micros(),
        row.actor, row.reason, serde_json::to_string(&row.derived).unwrap_or_default(), row.signature, row.own, row.receipt, row.verbatim
    ])?;
    Ok(())
}

/// Returns the vault ids that an imported tombstone may refer to: those of its target, and of everything derived from
/// the target. If the target is named by an export id (`ep_<export id>`, as in Mementory's `.mem` exports), the result
/// includes that id, and the id of the record that has this export id from another vault. If the tombstone states the
/// target's key, the result includes the id of the record that this vault read from the same source.
///
/// # Errors
/// Errors of the database.
pub fn target_record_ids(
    connection: &Connection,
    keys: &VaultKeys,
    tombstone: &Tombstone,
) -> StoreResult<Vec<[u8; 16]>> {
    target_ids(connection, keys, (&tombstone.target_kind, &tombstone.target_id), &tombstone.scope, &tombstone.derived)
}

fn target_ids(
    connection: &Connection,
    keys: &VaultKeys,
    target: (&str, &str),
    scope: &str,
    d: &Derived,
) -> StoreResult<Vec<[u8; 16]>> {
    let derived = [
        ("fact", &d.fact_ids),
        ("edge", &d.edge_ids),
        ("entity", &d.entity_ids),
        ("chunk", &d.chunk_ids),
        ("sentence", &d.sentence_ids),
    ];
    let derived_ids = derived.iter().flat_map(|(kind, ids)| ids.iter().map(move |id| (*kind, id.as_str())));
    let mut out = Vec::new();
    for (kind, id) in std::iter::once(target).chain(derived_ids) {
        if let Some(export_id) = id.split_once('_').and_then(|(_, rest)| parse_id(rest)).or_else(|| parse_id(id)) {
            out.push(export_id);
            out.extend(export_ids::record_with(connection, &export_id)?);
        }
        out.push(record_id(keys, &RecordKey::new(scope.to_owned(), format!("{kind}/{id}"))));
        out.push(record_id(keys, &RecordKey::new(scope.to_owned(), id.to_owned())));
    }
    out.extend(d.source_key.as_ref().map(|key| record_id(keys, key)));
    Ok(out)
}

/// Stores an imported tombstone under its [`foreign_id`], so that exports contain it. It blocks records until every
/// import that contains it is undone. Does nothing and returns false if `foreign_id` returns None.
pub fn store_foreign(tx: &Connection, tombstone: &Tombstone, ids: &[[u8; 16]], batch: i64) -> StoreResult<bool> {
    let Some(id) = foreign_id(tx, tombstone)? else {
        return Ok(false);
    };
    let row = TombstoneRow {
        id,
        op: tombstone.op,
        kind: tombstone.target_kind.clone(),
        target: tombstone.target_id.clone(),
        scope: tombstone.scope.clone(),
        origin_id: Some(tombstone.target_id.clone()),
        source: Some(tombstone.scope.clone()),
        at: tombstone.at,
        actor: tombstone.actor.clone(),
        reason: tombstone.reason.clone(),
        derived: tombstone.derived.clone(),
        signature: tombstone.signature.clone().unwrap_or_default(),
        own: false,
        receipt: None,
        signature_valid: false,
        verbatim: tombstone.verbatim.clone(),
    };
    insert(tx, &row, ids.first())?;
    tx.prepare_cached("INSERT OR IGNORE INTO tombstone_batches (batch, tombstone) VALUES (?1, ?2)")?
        .execute(params![batch, row.id])?;
    let table = match tombstone.op {
        TombstoneOp::Delete => "blocked",
        TombstoneOp::Redact => "redacted",
    };
    block_ids(tx, table, &row.id, ids)?;
    Ok(true)
}

/// Returns the id under which an imported tombstone is stored. Other programs choose these ids, so two deletions may
/// have the same id, and neither may be lost: if another deletion in the same scope already has the id, `#` and a
/// digest of the deletion are appended. None if the id is that of one of the vault's own tombstones, or of a tombstone
/// in another scope.
pub fn foreign_id(connection: &Connection, tombstone: &Tombstone) -> StoreResult<Option<String>> {
    let existing = connection
        .prepare_cached(&format!("SELECT {TOMBSTONE_COLUMNS} FROM tombstones WHERE id = ?1"))?
        .query_row([&tombstone.id], read_tombstone)
        .optional()?;
    let Some(existing) = existing else {
        return Ok(Some(tombstone.id.clone()));
    };
    if existing.own || existing.scope != tombstone.scope {
        return Ok(None);
    }
    let Tombstone { id, op, target_kind, target_id, derived, .. } = tombstone;
    if (&existing.op, &existing.kind, &existing.target, &existing.derived) == (op, target_kind, target_id, derived) {
        return Ok(Some(id.clone()));
    }
    let derived = serde_json::to_string(derived).unwrap_or_default();
    let deletion = [&[*op as u8][..], target_kind.as_bytes(), target_id.as_bytes(), derived.as_bytes()];
    let digest = keyed_digest(&[0; 32], &deletion);
    Ok(Some(format!("{id}#{}", hex::encode(&digest[..8]))))
}

fn block_ids<'i>(
    tx: &Connection,
    table: &str,
    tombstone: &str,
    ids: impl IntoIterator<Item = &'i [u8; 16]>,
) -> StoreResult<()> {
    let sql = format!("INSERT OR IGNORE INTO {table} (record, tombstone) VALUES (?1, ?2)");
    for id in ids {
        tx.prepare_cached(&sql)?.execute(params![id, tombstone])?;
    }
    Ok(())
}

/// Removes the tombstones that only the import `batch` contains, and unblocks the ids that they blocked. An id stays
/// blocked if a tombstone of another import names it too.
pub fn withdraw(tx: &Connection, keys: &VaultKeys, batch: i64) -> StoreResult<()> {
    let withdrawn: Vec<String> = {
        let mut statement = tx.prepare(
            "SELECT tombstone FROM tombstone_batches b WHERE batch = ?1 \
             AND NOT EXISTS (SELECT 1 FROM tombstone_batches WHERE tombstone = b.tombstone AND batch <> ?1)",
        )?;
        let rows = statement.query_map([batch], |r| r.get(0))?;
        rows.collect::<Result<_, _>>()?
    };
    tx.execute("DELETE FROM tombstone_batches WHERE batch = ?1", [batch])?;
    if withdrawn.is_empty() {
        return Ok(());
    }
    // Deletions block records in the table `blocked`, redactions in the table `redacted`.
    let (mut blocked, mut redacted) = (HashSet::new(), HashSet::new());
    for id in &withdrawn {
        for (table, unblocked_ids) in [("blocked", &mut blocked), ("redacted", &mut redacted)] {
            let sql = format!("DELETE FROM {table} WHERE tombstone = ?1 RETURNING record");
            let mut statement = tx.prepare_cached(&sql)?;
            for record in statement.query_map([id], |r| r.get::<_, [u8; 16]>(0))? {
                unblocked_ids.insert(record?);
            }
        }
        tx.prepare_cached("DELETE FROM tombstones WHERE id = ?1 AND own = 0")?.execute([id])?;
    }
    let mut statement = tx.prepare(&format!("SELECT {TOMBSTONE_COLUMNS} FROM tombstones WHERE own = 0"))?;
    let remaining = statement.query_map([], read_tombstone)?.collect::<Result<Vec<_>, _>>()?;
    for row in remaining {
        let (table, unblocked_ids) = match row.op {
            TombstoneOp::Delete => ("blocked", &blocked),
            TombstoneOp::Redact => ("redacted", &redacted),
        };
        let ids = target_ids(tx, keys, (&row.kind, &row.target), &row.scope, &row.derived)?;
        block_ids(tx, table, &row.id, ids.iter().filter(|id| unblocked_ids.contains(*id)))?;
    }
    Ok(())
}

/// Removes every block that an imported tombstone put on `row`. Called after a person restored the row from the Trash.
pub fn unblock(tx: &Connection, row: i64) -> StoreResult<()> {
    for table in ["blocked", "redacted"] {
        let sql = format!(
            "DELETE FROM {table} WHERE record IN (SELECT id FROM records WHERE row = ?1 \
             UNION SELECT x.id FROM export_ids x JOIN records r ON r.id = x.record WHERE r.row = ?1) \
             AND tombstone IN (SELECT id FROM tombstones WHERE own = 0)"
        );
        tx.prepare_cached(&sql)?.execute([row])?;
    }
    Ok(())
}

/// Columns that [`read_tombstone`] needs, in this order.
const TOMBSTONE_COLUMNS: &str =
    "id, op, kind, target, scope, origin_id, source, at, actor, reason, derived, signature, own, receipt, verbatim";

fn read_tombstone(row: &Row<'_>) -> rusqlite::Result<TombstoneRow> {
    let derived: String = row.get(10)?;
    Ok(TombstoneRow {
        id: row.get(0)?,
        op: if row.get::<_, i64>(1)? == 0 { TombstoneOp::Delete } else { TombstoneOp::Redact },
        kind: row.get(2)?,
        target: row.get(3)?,
        scope: row.get(4)?,
        origin_id: row.get(5)?,
        source: row.get(6)?,
        at: Timestamp::from_micros(row.get(7)?).unwrap_or_else(Timestamp::now),
        actor: row.get(8)?,
        reason: row.get(9)?,
        derived: serde_json::from_str(&derived).unwrap_or_default(),
        signature: row.get(11)?,
        own: row.get(12)?,
        receipt: row.get(13)?,
        signature_valid: false,
        verbatim: row.get(14)?,
    })
}

/// The target of one of the vault's own tombstones.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "columns of `tombstones`, see schema.sql")]
pub struct OwnTarget {
    pub tombstone: String,
    pub receipt: Option<String>,
    pub record: [u8; 16],
    pub kind: String,
    pub redacted: bool,
    pub at: i64,
    /// The fingerprints of the texts that the tombstone blocks.
    pub fingerprints: Vec<[u8; 16]>,
}

/// The targets of the vault's own tombstones.
///
/// # Errors
/// Errors of the database.
pub fn own_targets(connection: &Connection) -> StoreResult<Vec<OwnTarget>> {
    let mut by_tombstone: HashMap<String, Vec<[u8; 16]>> = HashMap::new();
    let mut statement = connection.prepare("SELECT tombstone, fingerprint FROM fingerprints")?;
    for pair in statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))? {
        let (tombstone, fingerprint) = pair?;
        by_tombstone.entry(tombstone).or_default().push(fingerprint);
    }
    let sql = "SELECT id, receipt, record, kind, op, at FROM tombstones WHERE own = 1 AND record IS NOT NULL";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |r| {
        let tombstone: String = r.get(0)?;
        Ok(OwnTarget {
            receipt: r.get(1)?,
            record: r.get(2)?,
            kind: r.get(3)?,
            redacted: r.get::<_, i64>(4)? != 0,
            at: r.get(5)?,
            fingerprints: by_tombstone.remove(&tombstone).unwrap_or_default(),
            tombstone,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Ids of the vault's own tombstones.
///
/// # Errors
/// Errors of the database.
pub fn own_ids(connection: &Connection) -> StoreResult<HashSet<String>> {
    let mut statement = connection.prepare("SELECT id FROM tombstones WHERE own = 1")?;
    let rows = statement.query_map([], |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// All tombstones, newest first. The signatures of the vault's own tombstones are checked.
///
/// # Errors
/// Errors of the database.
pub fn all(connection: &Connection, keys: &VaultKeys) -> StoreResult<Vec<TombstoneRow>> {
    let public = keys.signing().public();
    let mut statement =
        connection.prepare(&format!("SELECT {TOMBSTONE_COLUMNS} FROM tombstones ORDER BY at DESC, id"))?;
    let mut rows = statement.query_map([], read_tombstone)?.collect::<Result<Vec<_>, _>>()?;
    for row in rows.iter_mut().filter(|r| r.own) {
        row.signature_valid = row.is_signed_by(&public);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use mementory_crypto::SigningKey;

    fn signed_row(bytes: impl Fn(&TombstoneRow) -> Vec<u8>) -> (TombstoneRow, [u8; 32]) {
        let key = SigningKey::from_seed(&[7; 32]);
        let mut row = TombstoneRow {
            id: "tomb_1".into(),
            op: TombstoneOp::Delete,
            kind: "memory".into(),
            target: "00".into(),
            scope: "keepsake".into(),
            origin_id: Some("m1".into()),
            source: Some("chatgpt".into()),
            at: Timestamp::from_micros(1).unwrap(),
            actor: "owner".into(),
            reason: "asked".into(),
            derived: Derived::default(),
            signature: String::new(),
            own: true,
            receipt: Some("r".into()),
            signature_valid: false,
            verbatim: None,
        };
        row.signature = hex::encode(key.sign(&bytes(&row)));
        (row, key.public())
    }

    #[test]
    fn the_signature_covers_every_meaningful_field() {
        let (row, public) = signed_row(TombstoneRow::signed_bytes);
        assert!(row.is_signed_by(&public));
        let changes: [fn(&mut TombstoneRow); 13] = [
            |row| row.id.push('x'),
            |row| row.op = TombstoneOp::Redact,
            |row| row.kind = "message".into(),
            |row| row.target.push('0'),
            |row| row.scope = "pam".into(),
            |row| row.origin_id = Some("m2".into()),
            |row| row.origin_id = None,
            |row| row.source = Some("claude".into()),
            |row| row.at = Timestamp::from_micros(2).unwrap(),
            |row| row.actor.clear(),
            |row| row.reason = "policy".into(),
            |row| row.derived.fact_ids.push("f".into()),
            |row| row.derived.source_key = Some(RecordKey::new("chatgpt", "m1")),
        ];
        for (n, change) in changes.iter().enumerate() {
            let mut changed = row.clone();
            change(&mut changed);
            assert!(!changed.is_signed_by(&public), "change {n}");
        }
    }

    #[test]
    fn a_tombstone_signed_by_an_earlier_version_still_verifies() {
        let (row, public) = signed_row(TombstoneRow::former_signed_bytes);
        assert!(row.is_signed_by(&public));
        assert!(!TombstoneRow { reason: "policy".into(), ..row }.is_signed_by(&public));
    }
}
