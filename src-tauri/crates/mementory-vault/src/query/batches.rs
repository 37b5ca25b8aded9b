//! Reads the batches, one for each import.
use crate::{
    VaultError, VaultResult,
    context::Context,
    import_report::{KindCounts, stored_total},
};
use mementory_store::RowView;
use rusqlite::OptionalExtension;

/// One import, with the counts of its report.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names say it")]
pub struct BatchRow {
    pub uid: String,
    pub at: i64,
    pub format: Option<String>,
    pub names: Vec<String>,
    pub added: u32,
    pub updated: u32,
    /// Counts over all kinds, from the stored report.
    pub total: KindCounts,
    pub undone: bool,
    pub edited_since: u32,
}

/// Reads the batches, one for each import.
#[derive(Clone, Copy)]
pub struct Batches<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Batches<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Batches<'_> {
    /// Returns all batches, newest first.
    pub fn batches(&self) -> VaultResult<Vec<BatchRow>> {
        self.context.store.read(|c| {
            let mut statement = c.prepare(
                "SELECT uid, at, format, names, added, updated, undone_at IS NOT NULL, report, \
                 (SELECT count(*) FROM records r WHERE r.batch = b.id AND r.version_batch IS NULL) FROM batches b ORDER BY id DESC",
            )?;
            let rows = statement.query_map([], |r| {
                let (names, report): (String, String) = (r.get(3)?, r.get(7)?);
                Ok(BatchRow {
                    uid: r.get(0)?, at: r.get(1)?, format: r.get(2)?, names: serde_json::from_str(&names).unwrap_or_default(),
                    added: r.get(4)?, updated: r.get(5)?, undone: r.get(6)?, total: stored_total(&report), edited_since: r.get(8)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// True if there is a batch with this id, undone or not.
    pub fn has_batch(&self, uid: &str) -> VaultResult<bool> {
        self.context.store.read(|c| Ok(c.prepare_cached("SELECT 1 FROM batches WHERE uid = ?1")?.exists([uid])?))
    }

    /// Returns the stored report of a batch, as JSON.
    ///
    /// # Errors
    /// `NotFound` for an unknown batch.
    pub fn batch_report(&self, uid: &str) -> VaultResult<String> {
        self.context.store.read(|c| {
            let found = c.query_row("SELECT report FROM batches WHERE uid = ?1", [uid], |r| r.get(0)).optional()?;
            found.ok_or_else(|| VaultError::not_found(uid))
        })
    }

    /// Returns the id of the batch that added a record.
    pub fn batch_of(&self, view: &RowView) -> VaultResult<Option<String>> {
        let Some(batch) = view.batch else { return Ok(None) };
        self.context.store.read(|c| {
            Ok(c.prepare_cached("SELECT uid FROM batches WHERE id = ?1")?
                .query_row([batch], |r| r.get(0))
                .optional()?)
        })
    }
}
