//! Repairs the write-ahead log after a commit that failed.
//!
//! SQLite writes a transaction with its commit mark to the log, and then syncs the log. If the sync fails, the commit
//! fails, and this process continues from the state before the transaction. But the transaction's frames stay in the
//! file until they are overwritten or the database is closed. If the process is killed before that, every intact frame
//! is recovered the next time the database is opened, so a change that was reported as failed would be present. To
//! prevent this, the file is truncated after the last successful commit.
use rusqlite::Connection;
use std::{
    fs::{File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// Size of a database page in bytes.
pub(crate) const PAGE_BYTES: u64 = 8192;
/// Size of the log's header in bytes.
const HEADER_BYTES: u64 = 32;
const FRAME_HEADER_BYTES: u64 = 24;

/// Path of the log of a database.
pub(crate) fn path(database: &Path) -> PathBuf {
    database.with_extension("db-wal")
}

/// Removes everything after the last committed frame from the file, and syncs the file. `connection` must be the only
/// writer, and must not be in a transaction.
///
/// # Errors
/// I/O errors. Frames after the last committed one may then be recovered after a crash.
pub(crate) fn remove_uncommitted(connection: &Connection, path: &Path) -> io::Result<()> {
    let file = match OpenOptions::new().write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let end = match committed_frames(connection)? {
        0 => 0,
        frames => HEADER_BYTES + frames * (FRAME_HEADER_BYTES + PAGE_BYTES),
    };
    if file.metadata()?.len() > end {
        // If the file cannot be truncated, the next frame's header is overwritten instead, because recovery also stops
        // at a frame with an invalid header.
        file.set_len(end).or_else(|_| overwrite_header(&file, end))?;
    }
    file.sync_all()
}

/// Number of frames up to the last commit, taken from the shared memory of the log.
fn committed_frames(connection: &Connection) -> io::Result<u64> {
    // This kind of checkpoint changes nothing and only returns the number of frames.
    let frames: i64 =
        connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1)).map_err(io::Error::other)?;
    u64::try_from(frames).map_err(io::Error::other)
}

fn overwrite_header(mut file: &File, position: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(position))?;
    file.write_all(&[0; HEADER_BYTES as usize])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{DATABASE_FILE, Store};

    fn add_tag(store: &Store, tag: &str) {
        let sql = "INSERT INTO meta (key, value) VALUES (?1, '')";
        store.write(|tx| Ok(tx.execute(sql, [tag])?)).unwrap();
    }

    fn count(store: &Store) -> i64 {
        store.read(|c| Ok(c.query_row("SELECT count(*) FROM meta WHERE key LIKE 't-%'", [], |r| r.get(0))?)).unwrap()
    }

    #[test]
    fn only_frames_after_the_last_commit_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let log = path(&folder.path().join(DATABASE_FILE));
        let store = Store::open(folder.path(), &[7; 32], true).unwrap();
        assert!(store.checkpoint().unwrap());
        add_tag(&store, "t-1");
        let committed = std::fs::read(&log).unwrap();
        remove_uncommitted(&store.writer(), &log).unwrap();
        assert_eq!(std::fs::read(&log).unwrap(), committed);

        // Appends a frame that does not belong to any commit.
        let log_with_extra_frames = [committed.as_slice(), &committed[HEADER_BYTES as usize..]].concat();
        std::fs::write(&log, log_with_extra_frames).unwrap();
        remove_uncommitted(&store.writer(), &log).unwrap();
        assert_eq!(std::fs::read(&log).unwrap(), committed);
        add_tag(&store, "t-2");
        assert_eq!(count(&store), 2);

        assert!(store.checkpoint().unwrap());
        std::fs::write(&log, &committed).unwrap();
        remove_uncommitted(&store.writer(), &log).unwrap();
        assert_eq!(std::fs::metadata(&log).unwrap().len(), 0);
        add_tag(&store, "t-3");
        drop(store);
        assert_eq!(count(&Store::open(folder.path(), &[7; 32], false).unwrap()), 3);
    }
}
