//! The bytes of an attachment, out of the vault.
use crate::{VaultError, VaultResult, query::files::Files};
use mementory_model::Timestamp;
use mementory_store::RowView;
use rusqlite::OptionalExtension;
use std::{
    io::{Read, Write},
    path::Path,
    sync::{atomic::AtomicBool, atomic::Ordering},
};

/// So many bytes are copied between two looks at whether it was cancelled.
const STRETCH: usize = 256 * 1024;

impl Files<'_> {
    /// Bytes of a file record, at most `limit` of them.
    ///
    /// # Errors
    /// `NotFound` when the vault has no bytes for it.
    pub fn file_bytes(&self, view: &RowView, limit: u64) -> VaultResult<Vec<u8>> {
        let mut out = Vec::new();
        self.file_reader(view)?.take(limit).read_to_end(&mut out).map_err(|_| damaged())?;
        Ok(out)
    }

    /// Writes a file record to `out`, readable by the person only, and says so in the log without a name. A file that is
    /// there is replaced, and only by the whole of this one: whoever chose the place was asked before.
    ///
    /// # Errors
    /// `NotFound` when the vault has no bytes for it, `Usage` for a place in the vault's own folder, `Cancelled`, I/O.
    /// Nothing is written then.
    pub fn save_file(
        &self,
        view: &RowView,
        out: &Path,
        now: Timestamp,
        cancel: &AtomicBool,
        progress: &dyn Fn(u64),
    ) -> VaultResult<u64> {
        let mut reader = self.file_reader(view)?;
        self.context.check_outside(out)?;
        let io = |error| VaultError::io(out.display().to_string(), error);
        let parent = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // tempfile creates with mode 0600. Beside the target, so that the rename stays on one file system.
        let mut partial = tempfile::Builder::new().prefix(".mementory-partial-").tempfile_in(parent).map_err(io)?;
        let mut stretch = vec![0; STRETCH];
        let mut done = 0;
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(VaultError::Cancelled);
            }
            let read = reader.read(&mut stretch).map_err(|_| damaged())?;
            if read == 0 {
                break;
            }
            partial.write_all(&stretch[..read]).map_err(io)?;
            done += read as u64;
            progress(done);
        }
        partial.as_file().sync_all().map_err(io)?;
        // What the log cannot tell does not leave.
        self.context.store.write(|tx| {
            mementory_store::audit::append(tx, &self.context.keys, now, "save_file", &view.id_text(), "")?;
            partial.persist(out).map_err(|error| io(error.error))?;
            Ok(())
        })?;
        Ok(done)
    }

    fn file_reader(&self, view: &RowView) -> VaultResult<impl Read + use<>> {
        let blob: Option<[u8; 32]> = self.context.store.read(|c| {
            Ok(c.prepare_cached("SELECT blob FROM files WHERE row = ?1")?
                .query_row([view.row], |r| r.get(0))
                .optional()?
                .flatten())
        })?;
        self.context.blobs.open(&blob.ok_or_else(|| VaultError::not_found(&view.id_text()))?)
    }
}

fn damaged() -> VaultError {
    VaultError::Damaged("an attachment does not pass its check".into())
}
