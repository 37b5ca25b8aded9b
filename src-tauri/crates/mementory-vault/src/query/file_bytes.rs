//! Reads the bytes of an attachment, and saves them to a file.
use crate::{VaultError, VaultResult, applied::Applied, failed_step::FailedStep, query::files::Files};
use mementory_model::Timestamp;
use mementory_store::RowView;
use rusqlite::OptionalExtension;
use std::{
    io::{Read, Write},
    path::Path,
    sync::{atomic::AtomicBool, atomic::Ordering},
};

/// Number of bytes that are copied between two checks for cancellation.
const CHUNK_BYTES: usize = 256 * 1024;

impl Files<'_> {
    /// Fails if `out` is the vault's folder, is inside it, or contains it.
    ///
    /// # Errors
    /// `Usage`.
    pub fn check_outside(&self, out: &Path) -> VaultResult<()> {
        self.context.check_outside(out)
    }

    /// Returns the first bytes of a file record, at most `limit` of them.
    ///
    /// # Errors
    /// `NotFound` if the vault has no bytes for the record.
    pub fn file_bytes(&self, view: &RowView, limit: u64) -> VaultResult<Vec<u8>> {
        let mut out = Vec::new();
        self.file_reader(view)?.take(limit).read_to_end(&mut out).map_err(|_| damaged_error())?;
        Ok(out)
    }

    /// Writes the bytes of a file record to `out`, readable only by its owner. The log entry does not name the file. An
    /// existing file is replaced once the new one is complete, so the caller must ask the person first.
    ///
    /// # Errors
    /// `NotFound` if the vault has no bytes for the record, `Usage` for a place in the vault's own folder, `Cancelled`,
    /// I/O. After an error, nothing is written.
    pub fn save_file(
        &self,
        view: &RowView,
        out: &Path,
        now: Timestamp,
        cancel: &AtomicBool,
        progress: &dyn Fn(u64),
    ) -> VaultResult<Applied<u64>> {
        let mut reader = self.file_reader(view)?;
        self.check_outside(out)?;
        let io = |error| VaultError::io(out.display().to_string(), error);
        let parent = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The temporary file has mode 0600 and is in the target's folder, so that the rename stays on one file system.
        let mut partial = tempfile::Builder::new().prefix(".mementory-partial-").tempfile_in(parent).map_err(io)?;
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut done = 0;
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(VaultError::Cancelled);
            }
            let read = reader.read(&mut chunk).map_err(|_| damaged_error())?;
            if read == 0 {
                break;
            }
            partial.write_all(&chunk[..read]).map_err(io)?;
            done += read as u64;
            progress(done);
        }
        partial.as_file().sync_all().map_err(io)?;
        // The log entry is written first, so that no file is saved without an entry.
        let mut saved = false;
        let logged = self.context.store.write(|tx| {
            mementory_store::audit::append(tx, &self.context.keys, now, "save_file", &view.id_text(), "")?;
            partial.persist(out).map_err(|error| io(error.error))?;
            saved = true;
            Ok(())
        });
        // The commit may fail after the file was replaced. The replaced file cannot be restored, so the result says
        // that the new file was saved.
        if saved {
            return Ok(Applied::new(done).warn_if(logged.is_err(), FailedStep::AuditLog));
        }
        logged.map(|()| Applied::new(done))
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

fn damaged_error() -> VaultError {
    VaultError::Damaged("an attachment does not pass its check".into())
}
