//! An open index: adding, deleting, committing.
use crate::{
    IndexDoc, IndexError, IndexResult,
    directory::{EncryptedDirectory, META},
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

/// Memory for documents not yet written, of all indexing threads together.
const HEAP: usize = 64 << 20;

/// An open index. Searching and changing go on side by side; changes are one at a time.
pub struct SearchIndex {
    index: Index,
    pub(crate) directory: EncryptedDirectory,
    pub(crate) fields: Fields,
    pub(crate) reader: IndexReader,
    writer: Mutex<Pending>,
    threads: usize,
    seq: AtomicU64,
    /// Locked for reading while segments are open, for writing while files of dropped segments are removed.
    pub(crate) in_use: RwLock<()>,
    pub(crate) filter_cache: FilterCache,
}

#[derive(Default)]
pub(crate) struct Pending {
    writer: Option<IndexWriter>,
    /// Documents added since a segment was last closed by count.
    open: u32,
    /// Documents to hand to the indexing thread together: waking it for each one costs more than indexing most of them.
    waiting: Vec<UserOperation>,
    /// Bytes of their texts, and of all since a segment was last closed.
    weight: usize,
    since: usize,
}

/// Documents, or bytes of text, that are handed over at once.
const BATCH: usize = 64;
const BATCH_BYTES: usize = 256 << 10;

/// Bytes of text after which segments are closed, which waits for the indexing thread: its queue is bounded in batches.
const MAX_SEGMENT_BYTES: usize = 128 << 20;

impl Pending {
    /// Drops what was not committed.
    fn discard(&mut self) {
        (self.open, self.weight, self.since) = (0, 0, 0);
        self.waiting.clear();
    }
}

impl SearchIndex {
    /// A new, empty index; whatever was in the folder before is removed. The folder is made when it is not there.
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
        Self::over(index, directory)
    }

    /// Opens an index. `Missing` when there is none, `Damaged` when it fails its check or was made another way; then it
    /// has to be created again and filled from the store. Files that belong to nothing (after a crash) are removed.
    pub fn open(dir: &Path, key: &[u8; 32]) -> IndexResult<Self> {
        if !dir.join(META).try_exists()? {
            return Err(IndexError::Missing);
        }
        let directory = EncryptedDirectory::open(dir, key)?;
        let index = Index::open(directory.clone())?;
        if index.schema() != Fields::schema().0 {
            return Err(IndexError::Damaged("it was made by another version".into()));
        }
        let known = index.load_metas()?.list_segment_files_and_meta();
        for name in directory.on_disk()? {
            if !known.contains(&name) {
                std::fs::remove_file(dir.join(name))?;
            }
        }
        Self::over(index, directory)
    }

    fn over(index: Index, directory: EncryptedDirectory) -> IndexResult<Self> {
        schema::register(&index);
        let seq = payload_seq(&index)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self {
            fields: Fields::schema().1,
            index,
            directory,
            reader,
            writer: Mutex::default(),
            threads: 1,
            seq: AtomicU64::new(seq),
            in_use: RwLock::new(()),
            filter_cache: FilterCache::new(),
        })
    }

    /// Number of indexing threads, 1 by default. Set it before the first change.
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads.clamp(1, 4);
        self
    }

    /// The last change of the store that is in here; 0 when none.
    pub fn seq(&self) -> u64 {
        self.seq.load(Ordering::Acquire)
    }

    /// Committed documents.
    pub fn documents(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    /// Adds a document; it is found after [`commit`](Self::commit).
    pub fn add(&self, doc: &IndexDoc<'_>) -> IndexResult<()> {
        let mut pending = self.pending();
        let full = pending.open >= MAX_SEGMENT_DOCS * self.threads as u32 || pending.since >= MAX_SEGMENT_BYTES;
        if full {
            self.close_locked(&mut pending)?;
        }
        let bytes = doc.bytes();
        pending.waiting.push(UserOperation::Add(self.fields.document(doc)));
        pending.weight += bytes;
        pending.since += bytes;
        pending.open += 1;
        if pending.waiting.len() >= BATCH || pending.weight >= BATCH_BYTES {
            self.hand_over(&mut pending)?;
        }
        Ok(())
    }

    /// Deletes what was added under a row number before, at the next [`commit`](Self::commit). Its words stay in the
    /// files until they are rewritten: see [`erase`](Self::erase).
    pub fn delete_row(&self, row: u64) -> IndexResult<()> {
        let mut pending = self.pending();
        let term = Term::from_field_u64(self.fields.row, row);
        self.hand_over(&mut pending)?.delete_term(term);
        Ok(())
    }

    /// Writes out what was added, which publishes nothing: a [`commit`](Self::commit) or a
    /// [`rollback`](Self::rollback) follows, and the former has that much less to do.
    pub fn close_segments(&self) -> IndexResult<()> {
        let mut pending = self.pending();
        if pending.open == 0 { Ok(()) } else { self.close_locked(&mut pending) }
    }

    fn close_locked(&self, pending: &mut Pending) -> IndexResult<()> {
        // A prepared commit that is dropped closes the segments at hand and is no commit.
        drop(self.hand_over(pending)?.prepare_commit()?);
        (pending.open, pending.since) = (0, 0);
        Ok(())
    }

    /// Makes all changes durable and visible at once, as of change `seq` of the store.
    pub fn commit(&self, seq: u64) -> IndexResult<()> {
        let mut pending = self.pending();
        self.commit_locked(&mut pending, seq)
    }

    fn commit_locked(&self, pending: &mut Pending, seq: u64) -> IndexResult<()> {
        let writer = self.hand_over(pending)?;
        let mut prepared = writer.prepare_commit()?;
        prepared.set_payload(&seq.to_string());
        prepared.commit()?;
        (pending.open, pending.since) = (0, 0);
        self.seq.store(seq, Ordering::Release);
        self.reader.reload()?;
        self.filter_cache.clear();
        Ok(())
    }

    /// Drops every change since the last commit.
    pub fn rollback(&self) -> IndexResult<()> {
        let mut pending = self.pending();
        pending.discard();
        // A writer that fails here cannot be used again (tantivy would panic). The next change creates another.
        if let Some(mut writer) = pending.writer.take() {
            writer.rollback()?;
            writer.garbage_collect_files().wait()?;
            pending.writer = Some(writer);
        }
        Ok(())
    }

    /// Waits for running merges and frees the writer's memory; the next change allocates it again. Uncommitted changes
    /// are dropped.
    pub fn release_writer(&self) -> IndexResult<()> {
        self.release_locked(&mut self.pending())
    }

    pub(crate) fn release_locked(&self, pending: &mut Pending) -> IndexResult<()> {
        pending.discard();
        if let Some(writer) = pending.writer.take() {
            writer.wait_merging_threads()?;
            self.reader.reload()?;
        }
        Ok(())
    }

    /// Decrypts every file to its end. `Damaged` names the first that fails.
    pub fn check(&self) -> IndexResult<()> {
        let _open = self.in_use.read().unwrap_or_else(PoisonError::into_inner);
        let names = self.index.load_metas()?.list_segment_files_and_meta();
        // tantivy lists files that a segment of this kind does not have; those were never written.
        for name in names.iter().filter(|n| self.directory.names(n)) {
            self.directory.scan(name, |_| ())?;
        }
        Ok(())
    }

    /// Runs `body` on a searcher and turns a panic into an error: tantivy panics on some malformed files. Ours fail their
    /// check first, but a panic in a search must not end the program.
    pub(crate) fn guarded<T>(&self, body: impl FnOnce(&Searcher) -> IndexResult<T>) -> IndexResult<T> {
        let _open = self.in_use.read().unwrap_or_else(PoisonError::into_inner);
        let searcher = self.reader.searcher();
        catch_unwind(AssertUnwindSafe(|| body(&searcher))).unwrap_or_else(|_| Err(unreadable()))
    }

    pub(crate) fn pending(&self) -> MutexGuard<'_, Pending> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writer, after it got all waiting documents.
    fn hand_over<'w>(&self, pending: &'w mut Pending) -> IndexResult<&'w mut IndexWriter> {
        let waiting = std::mem::take(&mut pending.waiting);
        pending.weight = 0;
        let writer = self.writer(pending)?;
        if !waiting.is_empty() {
            writer.run(waiting)?;
        }
        Ok(writer)
    }

    pub(crate) fn writer<'w>(&self, pending: &'w mut Pending) -> IndexResult<&'w mut IndexWriter> {
        let made = match pending.writer.take() {
            Some(writer) => writer,
            None => {
                let options = IndexWriterOptions::builder()
                    .num_worker_threads(self.threads)
                    .memory_budget_per_thread(HEAP / self.threads)
                    .num_merge_threads(1)
                    .build();
                let writer: IndexWriter = self.index.writer_with_options(options)?;
                writer.set_merge_policy(Box::new(SmallSegments));
                writer
            }
        };
        Ok(pending.writer.insert(made))
    }
}

pub(crate) fn unreadable() -> IndexError {
    IndexError::Damaged("a segment cannot be read".into())
}

impl std::fmt::Debug for SearchIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchIndex").field("seq", &self.seq()).finish_non_exhaustive()
    }
}

/// Files that a commit may name, by name.
trait NamedFiles {
    fn list_segment_files_and_meta(&self) -> std::collections::HashSet<String>;
}

impl NamedFiles for tantivy::IndexMeta {
    fn list_segment_files_and_meta(&self) -> std::collections::HashSet<String> {
        let files = self.list_segment_files().into_iter().map(|p| p.to_string_lossy().into_owned());
        files.chain([META.to_owned()]).collect()
    }
}

fn payload_seq(index: &Index) -> IndexResult<u64> {
    match index.load_metas()?.payload {
        None => Ok(0),
        Some(text) => text.parse().map_err(|_| IndexError::Damaged("commit payload".into())),
    }
}
