//! The search index: tantivy over encrypted files. It is disposable; the store is the truth.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `directory`, `cache` | files in encrypted chunks, opened at random |
//! | `schema`, `tokenize`, `merge` | what is indexed, how text is cut, how large segments get |
//! | `query`, `search`, `rank`, `matching`, `passing` | from what a person typed to ranked rows |
//! | `snippet` | the part of a text that shows why it was found |
//! | `near` | what may have been meant where nothing was found |
//! | `erase`, `verify` | rewriting what held an erased row; looking for what is left, independently |
mod cache;
mod directory;
mod erase;
mod error;
mod matching;
mod merge;
mod near;
mod passing;
mod query;
mod rank;
mod schema;
mod search;
mod snippet;
mod tokenize;
mod verify;
mod warm;

pub use directory::EncryptedDirectory;
pub use error::{IndexError, IndexResult};
pub use schema::IndexDoc;
pub use search::{Ask, FacetField, IndexFilter, SearchOutcome};
pub use snippet::snippet;
pub use tokenize::tokens;
pub use verify::{Finding, Residue, residue};

use directory::META;
use merge::{MAX_SEGMENT_DOCS, SmallSegments};
use passing::Passing;
use schema::Fields;
use std::{
    path::Path,
    sync::{
        Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};
use tantivy::{
    Index, IndexReader, IndexWriter, ReloadPolicy, Term,
    indexer::{IndexWriterOptions, UserOperation},
};

/// Memory for documents not yet written, of all indexing threads together.
const HEAP: usize = 64 << 20;

/// An open index. Searching and changing go on side by side; changes are one at a time.
pub struct SearchIndex {
    index: Index,
    directory: EncryptedDirectory,
    fields: Fields,
    reader: IndexReader,
    writer: Mutex<Writing>,
    threads: usize,
    seq: AtomicU64,
    /// Held for reading by whoever holds segments open, for writing while files of dropped segments are removed.
    in_use: RwLock<()>,
    passing: Passing,
}

#[derive(Default)]
struct Writing {
    writer: Option<IndexWriter>,
    /// Documents added since a segment was last closed by count.
    open: u32,
    /// Documents that are to be handed to the indexing thread together: waking it for each takes longer than most take.
    waiting: Vec<UserOperation>,
    /// Bytes of their texts, and of all since a segment was last closed.
    weight: usize,
    since: usize,
}

/// So many documents are handed over at once, or so many bytes of text.
const LOT: usize = 64;
const LOT_BYTES: usize = 256 << 10;

/// Bytes of text after which segments are closed, which waits for the indexing thread: its queue is bounded in lots.
const MAX_SEGMENT_BYTES: usize = 128 << 20;

impl Writing {
    /// What was not committed is none of the index.
    fn forget(&mut self) {
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
    /// is to be created anew and filled from the store. Files that belong to nothing (after a crash) are removed.
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
            passing: Passing::new(),
        })
    }

    /// Indexing threads, 1 unless told otherwise. To be set before the first change.
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
        let mut writing = self.writing();
        let full = writing.open >= MAX_SEGMENT_DOCS * self.threads as u32 || writing.since >= MAX_SEGMENT_BYTES;
        if full {
            self.close_held(&mut writing)?;
        }
        let bytes = doc.bytes();
        writing.waiting.push(UserOperation::Add(self.fields.document(doc)));
        writing.weight += bytes;
        writing.since += bytes;
        writing.open += 1;
        if writing.waiting.len() >= LOT || writing.weight >= LOT_BYTES {
            self.handed_over(&mut writing)?;
        }
        Ok(())
    }

    /// Deletes what was added under a row number before, at the next [`commit`](Self::commit). Its words stay in the
    /// files until they are rewritten: see [`erase`](Self::erase).
    pub fn delete_row(&self, row: u64) -> IndexResult<()> {
        let mut writing = self.writing();
        let term = Term::from_field_u64(self.fields.row, row);
        self.handed_over(&mut writing)?.delete_term(term);
        Ok(())
    }

    /// Writes out what was added, which publishes nothing: a [`commit`](Self::commit) or a
    /// [`rollback`](Self::rollback) follows, and the former has that much less to do.
    pub fn close_segments(&self) -> IndexResult<()> {
        let mut writing = self.writing();
        if writing.open == 0 { Ok(()) } else { self.close_held(&mut writing) }
    }

    fn close_held(&self, writing: &mut Writing) -> IndexResult<()> {
        // A prepared commit that is dropped closes the segments at hand and is no commit.
        drop(self.handed_over(writing)?.prepare_commit()?);
        (writing.open, writing.since) = (0, 0);
        Ok(())
    }

    /// Makes all changes durable and visible at once, as of change `seq` of the store.
    pub fn commit(&self, seq: u64) -> IndexResult<()> {
        let mut writing = self.writing();
        self.commit_held(&mut writing, seq)
    }

    fn commit_held(&self, writing: &mut Writing, seq: u64) -> IndexResult<()> {
        let writer = self.handed_over(writing)?;
        let mut prepared = writer.prepare_commit()?;
        prepared.set_payload(&seq.to_string());
        prepared.commit()?;
        (writing.open, writing.since) = (0, 0);
        self.seq.store(seq, Ordering::Release);
        self.reader.reload()?;
        self.passing.forget();
        Ok(())
    }

    /// Forgets every change since the last commit.
    pub fn rollback(&self) -> IndexResult<()> {
        let mut writing = self.writing();
        writing.forget();
        // A writer that fails at this is of no use any more: tantivy would panic. The next change makes another.
        if let Some(mut writer) = writing.writer.take() {
            writer.rollback()?;
            writer.garbage_collect_files().wait()?;
            writing.writer = Some(writer);
        }
        Ok(())
    }

    /// Waits for merges under way and lets go of the writer's memory; the next change takes it again. What was not
    /// committed is forgotten.
    pub fn rest(&self) -> IndexResult<()> {
        self.rest_held(&mut self.writing())
    }

    fn rest_held(&self, writing: &mut Writing) -> IndexResult<()> {
        writing.forget();
        if let Some(writer) = writing.writer.take() {
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

    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writer, once it has everything that waited for it.
    fn handed_over<'w>(&self, writing: &'w mut Writing) -> IndexResult<&'w mut IndexWriter> {
        let waiting = std::mem::take(&mut writing.waiting);
        writing.weight = 0;
        let writer = self.writer(writing)?;
        if !waiting.is_empty() {
            writer.run(waiting)?;
        }
        Ok(writer)
    }

    fn writer<'w>(&self, writing: &'w mut Writing) -> IndexResult<&'w mut IndexWriter> {
        let made = match writing.writer.take() {
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
        Ok(writing.writer.insert(made))
    }
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

#[cfg(test)]
mod tests;
