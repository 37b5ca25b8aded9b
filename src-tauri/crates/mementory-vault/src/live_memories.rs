//! Visits the memories outside the Trash, in the order in which they are packed.
use crate::{VaultResult, cancel, context::Context};
use mementory_model::{Kind, Record};
use mementory_store::kind_code;
use rusqlite::Connection;
use std::sync::atomic::AtomicBool;

/// Calls `visit` for each memory, with its row and its record. The record has no `verbatim`.
///
/// # Errors
/// `Cancelled`; errors of the store.
pub(crate) fn for_each(
    context: &Context,
    c: &Connection,
    cancel: &AtomicBool,
    mut visit: impl FnMut(i64, Record),
) -> VaultResult<()> {
    let mut statement = c.prepare_cached(
        "SELECT row, pack, slot FROM records WHERE kind = ?1 AND trashed IS NULL ORDER BY pack, slot",
    )?;
    let places = statement
        .query_map([kind_code(Kind::Memory)], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?
        .collect::<Result<Vec<(i64, i64, u32)>, _>>()?;
    for (row, pack, slot) in places {
        cancel::check(cancel)?;
        visit(row, context.store.packs.content(c, pack, slot)?);
    }
    cancel::check(cancel)
}
