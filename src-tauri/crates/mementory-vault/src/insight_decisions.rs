//! Decisions of the person, stored in `meta` under the ids of records. A record that was removed by undoing an import
//! gets the same id when it is imported again, so its decision applies again. A decision is removed when its record is
//! erased.
use crate::{VaultResult, meta};
use mementory_insight::AboutKind;
use rusqlite::Connection;
use std::collections::HashMap;

pub(crate) fn store_kind(tx: &Connection, id: &[u8; 16], kind: AboutKind) -> VaultResult<()> {
    meta::write(tx, &format!("about/{}", hex::encode(id)), kind.as_str())
}

/// Returns the subjects that the person decided for memories, by record id.
pub(crate) fn decided_kinds(c: &Connection) -> VaultResult<HashMap<[u8; 16], AboutKind>> {
    let mut statement =
        c.prepare_cached("SELECT substr(key, 7), value FROM meta WHERE key >= 'about/' AND key < 'about0'")?;
    let rows = statement.query_map([], |r| Ok((r.get::<_, String>(0)?, r.get::<_, String>(1)?)))?;
    let mut out = HashMap::new();
    for row in rows {
        let (id, kind) = row?;
        if let (Some(id), Some(kind)) = (mementory_store::ids::parse_id(&id), AboutKind::parse(&kind)) {
            out.insert(id, kind);
        }
    }
    Ok(out)
}

/// Removes the subject that the person decided for a memory.
pub(crate) fn forget_kind(tx: &Connection, id: &[u8; 16]) -> VaultResult<()> {
    tx.prepare_cached("DELETE FROM meta WHERE key = 'about/' || ?1")?.execute([hex::encode(id)])?;
    Ok(())
}

/// Removes the decisions about a record.
pub(crate) fn forget(tx: &Connection, id: &[u8; 16]) -> VaultResult<()> {
    forget_kind(tx, id)?;
    let id = hex::encode(id);
    tx.prepare_cached("DELETE FROM meta WHERE key >= 'both_true/' AND key < 'both_true0' AND instr(key, ?1) > 0")?
        .execute([&id])?;
    Ok(())
}

fn pair_key(a: &[u8; 16], b: &[u8; 16]) -> String {
    format!("both_true/{}/{}", hex::encode(a.min(b)), hex::encode(a.max(b)))
}

pub(crate) fn store_both_true(tx: &Connection, a: &[u8; 16], b: &[u8; 16], both: bool) -> VaultResult<()> {
    if both {
        return meta::write(tx, &pair_key(a, b), 1);
    }
    tx.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([pair_key(a, b)])?;
    Ok(())
}

pub(crate) fn are_both_true(c: &Connection, a: &[u8; 16], b: &[u8; 16]) -> VaultResult<bool> {
    Ok(meta::read::<i64>(c, &pair_key(a, b))?.is_some())
}
