//! Reads the files that records refer to.
use crate::{VaultResult, context::Context};
use mementory_store::RowView;
use rusqlite::OptionalExtension;

/// Facts about the bytes of an attachment or passthrough file.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct FileFacts {
    pub size: Option<u64>,
    pub media_type: Option<String>,
    pub present: bool,
}

/// Reads the files that records refer to, and their bytes.
#[derive(Clone, Copy)]
pub struct Files<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Files<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Files<'_> {
    /// Returns the files that a record refers to.
    pub fn files(&self, row: i64) -> VaultResult<Vec<(RowView, FileFacts)>> {
        self.context.store.read(|c| {
            let mut statement = c.prepare_cached("SELECT file FROM file_refs WHERE row = ?1 ORDER BY file")?;
            let files = statement.query_map([row], |r| r.get::<_, i64>(0))?.collect::<Result<Vec<_>, _>>()?;
            let mut out = Vec::with_capacity(files.len());
            for file in files {
                if let Some(view) = RowView::by_row(c, file)? {
                    out.push((view, file_facts(c, file)?));
                }
            }
            Ok(out)
        })
    }

    /// Returns the size and media type of the file of a record, and whether the vault has its bytes.
    pub fn file_facts(&self, row: i64) -> VaultResult<FileFacts> {
        self.context.store.read(|c| file_facts(c, row))
    }

    /// Returns the first record that refers to this file.
    pub fn file_owner(&self, row: i64) -> VaultResult<Option<RowView>> {
        self.context.store.read(|c| {
            let found: Option<i64> = c
                .prepare_cached("SELECT row FROM file_refs WHERE file = ?1 ORDER BY row LIMIT 1")?
                .query_row([row], |r| r.get(0))
                .optional()?;
            found.map(|row| RowView::by_row(c, row)).transpose().map(Option::flatten)
        })
    }
}

fn file_facts(c: &rusqlite::Connection, row: i64) -> VaultResult<FileFacts> {
    let found = c
        .prepare_cached("SELECT size, media_type, blob IS NOT NULL FROM files WHERE row = ?1")?
        .query_row([row], |r| {
            Ok(FileFacts {
                size: r.get::<_, Option<i64>>(0)?.and_then(|s| u64::try_from(s).ok()),
                media_type: r.get(1)?,
                present: r.get(2)?,
            })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}
