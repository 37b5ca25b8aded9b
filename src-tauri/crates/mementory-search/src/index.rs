//! An open index: adds, deletes and commits documents.
use crate::{
    IndexDoc, IndexError, IndexResult,
    directory::{EncryptedDirectory, META_FILE},
    filter_cache::FilterCache,
    merge::{MAX_SEGMENT_DOCS, SmallSegments},
    schema::{self, Fields},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};
use tantivy::{
    Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, Term,
    indexer::{IndexWriterOptions, UserOperation},
};

/// Memory for documents that are not written yet, in bytes.
const WRITER_MEMORY_BYTES: usize = 64 << 20;

/// An open index. Searches can run while the index changes; changes run one at a time.
pub struct SearchIndex {
    index: Index,
    pub(crate) directory: EncryptedDirectory,
    pub(crate) fields: Fields,
    pub(crate) reader: IndexReader,
    writer: Mutex<PendingChanges>,
    seq: AtomicU64,
    /// Locked for reading while a search has segment files open, and for writing while files of dropped segments are
    /// removed.
    pub(crate) open_segments: RwLock<()>,
    pub(crate) filter_cache: FilterCache,
}

#[derive(Default)]
pub(crate) struct PendingChanges {
    writer: Option<IndexWriter>,
    /// Number of documents added since the last time that segments were closed.
    open_docs: u32,
    /// Documents that have not been passed to the indexing thread yet. They are passed on in batches, because waking
    /// the thread for each document would cost more than indexing most of them.
    waiting: Vec<UserOperation>,
    /// Bytes of text in `waiting`.
    waiting_bytes: usize,
    bytes_since_close: usize,
    /// True if the writer failed, so that changes since the last commit may be lost. Commits are then refused, because
    /// tantivy would commit only the remaining changes.
    has_lost_changes: bool,
}

/// A batch is passed to the indexing thread when it has this many documents, or `BATCH_BYTES` bytes of text.
const BATCH_DOCS: usize = 64;
const BATCH_BYTES: usize = 256 << 10;

/// Segments are closed after this many bytes of text. Closing waits for the indexing thread to empty its queue. Without
/// this limit, the queue would be limited by its number of batches only, and not by its memory.
const MAX_SEGMENT_BYTES: usize = 128 << 20;

impl PendingChanges {
    /// Drops the waiting documents, and resets the counters and the error.
    fn discard(&mut self) {
        (self.open_docs, self.waiting_bytes, self.bytes_since_close) = (0, 0, 0);
        self.waiting.clear();
        self.has_lost_changes = false;
    }
}

impl SearchIndex {
    /// Creates an empty index in the folder. Creates the folder if it is missing and removes any files in it.
    pub fn create(dir: &Path, key: &[u8; 32]) -> IndexResult<Self> {
        std::fs::create_dir_all(dir)?;
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                std::fs::remove_file(entry.path())?;
            }
        }
        let directory = EncryptedDirectory::open(dir, key)?;
        let index = Index::create(directory.clone(), Fields::schema().0, tantivy::IndexSettings::default())?;
        Self::from_parts(index, directory)
    }

    /// Opens an index. Fails with `Missing` if there is none, and with `Damaged` if it fails its check or has a
    /// different schema. In these cases, the caller creates it again from the store. Files that belong to no commit,
    /// such as those left by a crash, are removed.
    pub fn open(dir: &Path, key: &[u8; 32]) -> IndexResult<Self> {
        if !dir.join(META_FILE).try_exists()? {
            return Err(IndexError::Missing);
        }
        let directory = EncryptedDirectory::open(dir, key)?;
        let index = Index::open(directory.clone())?;
        if index.schema() != Fields::schema().0 {
            return Err(IndexError::Damaged("it was made by another version".into()));
        }
        let known_files = index.load_metas()?.list_segment_files_and_meta();
        for name in directory.file_names()? {
            if !known_files.contains(&name) {
                std::fs::remove_file(dir.join(name))?;
            }
        }
        Self::from_parts(index, directory)
    }

    fn from_parts(index: Index, directory: EncryptedDirectory) -> IndexResult<Self> {
        schema::register(&index);
        let seq = payload_seq(&index)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self {
            fields: Fields::schema().1,
            index,
            directory,
            reader,
            writer: Mutex::default(),
            seq: AtomicU64::new(seq),
            open_segments: RwLock::new(()),
            filter_cache: FilterCache::new(),
        })
    }

    /// Number of the last store change that the index contains. 0 if it contains none.
    pub fn seq(&self) -> u64 {
        self.seq.load(Ordering::Acquire)
    }

    /// Number of committed documents.
    pub fn documents(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    /// Adds a document. Searches find it after the next [`commit`](Self::commit).
    pub fn add(&self, doc: &IndexDoc<'_>) -> IndexResult<()> {
        let mut pending = self.pending();
        let is_full = pending.open_docs >= MAX_SEGMENT_DOCS || pending.bytes_since_close >= MAX_SEGMENT_BYTES;
        if is_full {
            self.close_locked(&mut pending)?;
        }
        let bytes = doc.bytes();
        pending.waiting.push(UserOperation::Add(self.fields.document(doc)));
        pending.waiting_bytes += bytes;
        pending.bytes_since_close += bytes;
        pending.open_docs += 1;
        if pending.waiting.len() >= BATCH_DOCS || pending.waiting_bytes >= BATCH_BYTES {
            self.with_writer(&mut pending, |_| Ok(()))?;
        }
        Ok(())
    }

    /// Deletes all documents of a row at the next [`commit`](Self::commit). Their words stay in the files until the
    /// segments are rewritten (see [`erase`](Self::erase)).
    pub fn delete_row(&self, row: u64) -> IndexResult<()> {
        let mut pending = self.pending();
        let term = Term::from_field_u64(self.fields.row, row);
        self.with_writer(&mut pending, |writer| {
            writer.delete_term(term);
            Ok(())
        })
    }

    /// Writes the added documents to segments without publishing them, so that the next [`commit`](Self::commit) has
    /// less to do. A [`rollback`](Self::rollback) removes these segments again.
    pub fn close_segments(&self) -> IndexResult<()> {
        let mut pending = self.pending();
        if pending.open_docs == 0 { Ok(()) } else { self.close_locked(&mut pending) }
    }

    fn close_locked(&self, pending: &mut PendingChanges) -> IndexResult<()> {
        // Preparing a commit closes the current segments. The prepared commit is dropped, so nothing is committed.
        self.with_writer(pending, |writer| {
            drop(writer.prepare_commit()?);
            Ok(())
        })?;
        (pending.open_docs, pending.bytes_since_close) = (0, 0);
        Ok(())
    }

    /// Makes all pending changes durable and visible at once. `seq` is the number of the store's last change among
    /// them.
    ///
    /// # Errors
    /// A failed write. Changes are then lost, so every commit fails until [`rollback`](Self::rollback).
    pub fn commit(&self, seq: u64) -> IndexResult<()> {
        let mut pending = self.pending();
        self.commit_locked(&mut pending, seq)
    }

    fn commit_locked(&self, pending: &mut PendingChanges, seq: u64) -> IndexResult<()> {
        self.with_writer(pending, |writer| {
            let mut prepared = writer.prepare_commit()?;
            prepared.set_payload(&seq.to_string());
            prepared.commit()?;
            Ok(())
        })?;
        (pending.open_docs, pending.bytes_since_close) = (0, 0);
        self.seq.store(seq, Ordering::Release);
        self.reader.reload()?;
        self.filter_cache.clear();
        Ok(())
    }

    /// Drops all changes since the last commit.
    pub fn rollback(&self) -> IndexResult<()> {
        let mut pending = self.pending();
        pending.discard();
        // If the rollback fails, the writer must not be used again, because tantivy would panic. The next change then
        // creates a new writer.
        if let Some(mut writer) = pending.writer.take() {
            writer.rollback()?;
            writer.garbage_collect_files().wait()?;
            pending.writer = Some(writer);
        }
        Ok(())
    }

    /// Waits for running merges and frees the writer's memory, which the next change allocates again. Uncommitted
    /// changes are dropped.
    pub fn release_writer(&self) -> IndexResult<()> {
        self.release_locked(&mut self.pending())
    }

    pub(crate) fn release_locked(&self, pending: &mut PendingChanges) -> IndexResult<()> {
        pending.discard();
        if let Some(writer) = pending.writer.take() {
            writer.wait_merging_threads()?;
            self.reader.reload()?;
        }
        Ok(())
    }

    /// Decrypts every file completely. `Damaged` names the first file that fails its check.
    pub fn check(&self) -> IndexResult<()> {
        self.check_until(&mut || false)
    }

    /// Like [`check`](Self::check), but stops as soon as `stop` returns true.
    pub fn check_until(&self, stop: &mut dyn FnMut() -> bool) -> IndexResult<()> {
        let _open = self.open_segments.read().unwrap_or_else(PoisonError::into_inner);
        let names = self.index.load_metas()?.list_segment_files_and_meta();
        // tantivy also lists files that segments with this schema do not have. They were never written, so they are
        // skipped.
        for name in names.iter().filter(|n| self.directory.is_known(n)) {
            if stop() {
                break;
            }
            self.directory.scan(name, |_| ())?;
        }
        Ok(())
    }

    /// Runs `body` with a searcher, and turns a panic into an error. tantivy panics on some malformed files. A damaged
    /// file usually fails its check before that, but a panic during a search must never end the program.
    pub(crate) fn with_searcher<T>(&self, body: impl FnOnce(&Searcher) -> IndexResult<T>) -> IndexResult<T> {
        let _open = self.open_segments.read().unwrap_or_else(PoisonError::into_inner);
        let searcher = self.reader.searcher();
        catch_unwind(AssertUnwindSafe(|| body(&searcher))).unwrap_or_else(|_| Err(unreadable_segment_error()))
    }

    pub(crate) fn pending(&self) -> MutexGuard<'_, PendingChanges> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes all waiting documents to the writer, and then calls `change` with the writer. After an error, changes may
    /// be lost, so every later call fails until the pending changes are discarded.
    fn with_writer(
        &self,
        pending: &mut PendingChanges,
        change: impl FnOnce(&mut IndexWriter) -> IndexResult<()>,
    ) -> IndexResult<()> {
        if pending.has_lost_changes {
            return Err(IndexError::Io(std::io::Error::other("an earlier change could not be written")));
        }
        let waiting = std::mem::take(&mut pending.waiting);
        pending.waiting_bytes = 0;
        let result = self.writer(pending).and_then(|writer| {
            if !waiting.is_empty() {
                writer.run(waiting)?;
            }
            change(writer)
        });
        pending.has_lost_changes = result.is_err();
        result
    }

    pub(crate) fn writer<'w>(&self, pending: &'w mut PendingChanges) -> IndexResult<&'w mut IndexWriter> {
        let writer = match pending.writer.take() {
            Some(writer) => writer,
            None => {
                let options = IndexWriterOptions::builder()
                    .num_worker_threads(1)
                    .memory_budget_per_thread(WRITER_MEMORY_BYTES)
                    .num_merge_threads(1)
                    .build();
                let writer: IndexWriter = self.index.writer_with_options(options)?;
                writer.set_merge_policy(Box::new(SmallSegments));
                writer
            }
        };
        Ok(pending.writer.insert(writer))
    }
}

pub(crate) fn unreadable_segment_error() -> IndexError {
    IndexError::Damaged("a segment cannot be read".into())
}

impl std::fmt::Debug for SearchIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchIndex").field("seq", &self.seq()).finish_non_exhaustive()
    }
}

/// Names of the files that a commit may use.
trait NamedFiles {
    fn list_segment_files_and_meta(&self) -> std::collections::HashSet<String>;
}

impl NamedFiles for tantivy::IndexMeta {
    fn list_segment_files_and_meta(&self) -> std::collections::HashSet<String> {
        let files = self.list_segment_files().into_iter().map(|p| p.to_string_lossy().into_owned());
        files.chain([META_FILE.to_owned()]).collect()
    }
}

fn payload_seq(index: &Index) -> IndexResult<u64> {
    match index.load_metas()?.payload {
        None => Ok(0),
        Some(text) => text.parse().map_err(|_| IndexError::Damaged("commit payload".into())),
    }
}
