//! Finds the records changed since a given time, for incremental exports. A record counts as changed if its source
//! created or updated it at that time or later, or if the person edited, redacted or restored it in this vault at that
//! time or later. The time of its import does not count.
use crate::VaultResult;
use mementory_model::Timestamp;
use mementory_store::{Flags, Packs};
use rusqlite::{Connection, params_from_iter, types::Value};
use std::collections::{BTreeMap, BTreeSet};

/// Selects for each record: its row, owner, pack and slot; the later of its sort time and its last update; and the
/// times when it was last edited, redacted and restored from the Trash in this vault.
const CHANGED_ROWS_SQL: &str = "SELECT r.row, r.owner, r.pack, r.slot, max(r.sort, coalesce(r.updated, r.sort)), \
    CASE WHEN r.flags & {EDITED} THEN r.since END, \
    CASE WHEN r.flags & {REDACTED} THEN (SELECT max(t.at) FROM tombstones t WHERE t.record = r.id AND t.own = 1) END, \
    (SELECT max(a.at) FROM temp_restored a WHERE a.id = lower(hex(r.id))) \
    FROM records r WHERE ";

/// The rows that changed, and the conversations of changed messages.
#[derive(Debug, Default)]
pub(super) struct ChangedRows {
    rows: BTreeSet<i64>,
    /// When the rows changed in the vault. The other changed rows changed at their source, or are conversations of
    /// changed messages.
    pub in_vault: BTreeMap<i64, Timestamp>,
}

impl ChangedRows {
    /// Finds the changed rows among those that meet `condition`. If a message changed, its conversation is added, since
    /// it has to be written too.
    ///
    /// # Errors
    /// If the database cannot be read or a pack is damaged.
    pub(super) fn since(
        since: Timestamp,
        connection: &Connection,
        packs: &Packs,
        (condition, values): (&str, &[Value]),
    ) -> VaultResult<Self> {
        let mut out = Self::default();
        let (mut all, mut owners) = (BTreeSet::new(), BTreeSet::new());
        let restored = "WITH temp_restored(id, at) AS \
            (SELECT target, max(at) FROM audit WHERE op = 'restore' GROUP BY target) ";
        let columns = CHANGED_ROWS_SQL
            .replace("{EDITED}", &Flags::EDITED.to_string())
            .replace("{REDACTED}", &Flags::REDACTED.to_string());
        let mut statement = connection.prepare(&format!("{restored}{columns}{condition} ORDER BY r.pack, r.slot"))?;
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(r) = rows.next()? {
            let (row, owner): (i64, Option<i64>) = (r.get(0)?, r.get(1)?);
            all.insert(row);
            let changed_in_vault = [5, 6, 7].map(|column| r.get::<_, Option<i64>>(column));
            let changed_in_vault =
                changed_in_vault.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().max();
            let changed_in_vault = changed_in_vault.and_then(Timestamp::from_micros).filter(|at| *at >= since);
            let by_source = || -> VaultResult<bool> {
                if r.get::<_, i64>(4)? >= since.as_micros() {
                    return Ok(true);
                }
                // For most kinds, the sort time is the time of creation. Rows written by an older program do not
                // contain the time of the last update, so it is read from the record.
                Ok(packs.record(connection, r.get(2)?, r.get(3)?)?.times.updated.is_some_and(|at| at >= since))
            };
            if changed_in_vault.is_some() || by_source()? {
                out.rows.insert(row);
                out.in_vault.extend(changed_in_vault.map(|at| (row, at)));
                owners.extend(owner);
            }
        }
        out.rows.extend(owners.intersection(&all));
        Ok(out)
    }

    /// Returns an SQL condition on `records r` that only the changed rows meet, and the values of its placeholders.
    pub(super) fn condition(&self) -> (String, Vec<Value>) {
        let rows = serde_json::to_string(&self.rows).unwrap_or_else(|_| "[]".into());
        ("r.row IN (SELECT value FROM json_each(?1))".into(), vec![rows.into()])
    }
}
