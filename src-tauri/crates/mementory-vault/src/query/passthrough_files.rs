//! Reads the texts of passthrough files.
use crate::{VaultError, VaultResult, query::files::Files};
use mementory_model::Kind;
use mementory_store::kind_code;
use rusqlite::params;
use std::io::Read;

impl Files<'_> {
    /// Returns all texts that a passthrough file with this name had in imports of this format. Leaves out files of more
    /// than `max_bytes` bytes and files that are not text.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn passthrough_texts(&self, format: &str, name: &str, max_bytes: u64) -> VaultResult<Vec<String>> {
        let blobs: Vec<[u8; 32]> = self.context.store.read(|c| {
            let mut statement = c.prepare(
                "SELECT DISTINCT b.blob FROM records r JOIN platforms p ON p.id = r.platform \
                 JOIN named_blobs b ON b.row = r.row \
                 WHERE r.kind = ?1 AND p.name = ?2 AND r.title = ?3 AND r.trashed IS NULL AND b.size <= ?4",
            )?;
            let max_bytes = i64::try_from(max_bytes).unwrap_or(i64::MAX);
            let rows = statement.query_map(params![kind_code(Kind::Foreign), format, name, max_bytes], |r| r.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        let mut out = Vec::with_capacity(blobs.len());
        for blob in blobs {
            let mut bytes = Vec::new();
            self.context.blobs.open(&blob)?.read_to_end(&mut bytes).map_err(|e| VaultError::io(name, e))?;
            out.extend(String::from_utf8(bytes));
        }
        Ok(out)
    }
}
