//! Removes words from passthrough files (side files of an import, `raw/`, unknown entries).
use crate::{
    VaultResult,
    context::Context,
    word_removal::{
        Removal,
        bytes::{Syntax, WordRemover, begins_like_json, is_binary},
    },
};
use mementory_model::Kind;
use mementory_store::{Flags, blobs::BlobInfo, kind_code};
use rusqlite::{Connection, params};
use std::{collections::HashSet, io::Read};

/// Size in bytes from which a file is rewritten block by block. Smaller files are rewritten in memory.
const MAX_WHOLE_BYTES: u64 = 64 << 20;
/// Largest number of bytes in a block. A block consists of whole lines, unless a line is longer.
const BLOCK_BYTES: usize = 16 << 20;

/// A passthrough file that contains the words: its row, its current blob, and the blob without the words.
pub(crate) struct FileWithWords {
    row: i64,
    old: [u8; 32],
    new: BlobInfo,
}

/// Removes erased words from passthrough files, which are stored as records of kind `foreign`.
#[derive(Clone, Copy)]
pub(crate) struct PassthroughFiles<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> PassthroughFiles<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl PassthroughFiles<'_> {
    /// Returns the passthrough files outside `rows` that contain words of `removal`. With `store_blobs`, stores the new
    /// bytes of these files as blobs. No record refers to the blobs until [`PassthroughFiles::rewrite_files`] is
    /// called. A file that cannot be read is skipped; the erasure check reports it.
    pub(crate) fn files_with_words(
        &self,
        removal: &Removal,
        rows: &HashSet<i64>,
        store_blobs: bool,
    ) -> VaultResult<Vec<FileWithWords>> {
        if removal.exact_pairs().is_empty() {
            return Ok(Vec::new());
        }
        let words = WordRemover::new(removal)?;
        let mut out = Vec::new();
        for (row, blob) in self.all_files()?.into_iter().filter(|(row, _)| !rows.contains(row)) {
            let new_blob = self.blob_without_words(&blob, &words, store_blobs)?;
            out.extend(new_blob.map(|new_blob| FileWithWords { row, old: blob, new: new_blob }));
        }
        Ok(out)
    }

    fn all_files(&self) -> VaultResult<Vec<(i64, [u8; 32])>> {
        self.context.store.read(|c| {
            let mut statement = c.prepare(
                "SELECT DISTINCT f.row, f.blob FROM named_blobs f JOIN records r ON r.row = f.row WHERE r.kind = ?1",
            )?;
            let files = statement.query_map([kind_code(Kind::Foreign)], |r| Ok((r.get(0)?, r.get(1)?)))?;
            Ok(files.collect::<Result<_, _>>()?)
        })
    }

    fn blob_without_words(
        &self,
        blob: &[u8; 32],
        words: &WordRemover<'_>,
        store_blobs: bool,
    ) -> VaultResult<Option<BlobInfo>> {
        let Ok(mut source) = self.context.blobs.open(blob) else { return Ok(None) };
        let mut bytes = Vec::new();
        if source.by_ref().take(MAX_WHOLE_BYTES).read_to_end(&mut bytes).is_err() {
            return Ok(None);
        }
        if (bytes.len() as u64) < MAX_WHOLE_BYTES {
            return words
                .without_words(&bytes)
                .map(|new| self.context.blobs.put(&mut new.as_slice(), store_blobs))
                .transpose();
        }
        let mut cleaned = CleaningReader::new(bytes.as_slice().chain(source), words);
        if std::io::copy(&mut cleaned, &mut std::io::sink()).is_err() || !cleaned.changed {
            return Ok(None);
        }
        self.context.blobs.put(&mut CleaningReader::new(self.context.blobs.open(blob)?, words), store_blobs).map(Some)
    }

    /// Replaces the old bytes of the files with the new bytes and marks the files as redacted. Returns the blobs that
    /// no record refers to any more, and the number of changed files.
    pub(crate) fn rewrite_files(&self, tx: &Connection, files: &[FileWithWords]) -> VaultResult<(Vec<[u8; 32]>, u32)> {
        let mut old = Vec::new();
        for file in files {
            // `files` has a separate element for the earlier bytes of a file, to which an undo would return.
            for table in ["files", "file_versions"] {
                tx.execute(
                    &format!("UPDATE {table} SET blob = ?2, size = ?3 WHERE row = ?1 AND blob = ?4"),
                    params![file.row, file.new.digest, file.new.size as i64, file.old],
                )?;
            }
            tx.execute("UPDATE records SET flags = flags | ?2 WHERE row = ?1", params![file.row, Flags::REDACTED])?;
        }
        for file in files {
            if !tx.prepare_cached("SELECT 1 FROM named_blobs WHERE blob = ?1")?.exists([file.old])? {
                old.push(file.old);
            }
        }
        Ok((old, files.len() as u32))
    }

    /// Returns the result of the transaction that wrote `files`. If the transaction failed, removes the new blobs
    /// first.
    pub(crate) fn after_write<T>(&self, files: &[FileWithWords], written: VaultResult<T>) -> VaultResult<T> {
        if written.is_err() && !files.is_empty() {
            // An error here is ignored, because the error of the transaction matters more. Blobs that remain are
            // removed when the vault is opened.
            let _ = self.context.sweep_blobs();
        }
        written
    }
}

/// Reads large files and removes the words while reading.
struct CleaningReader<'w, 'r, R: Read> {
    source: R,
    words: &'w WordRemover<'r>,
    /// Whether the file is JSON. None until its first bytes are read.
    is_json: Option<bool>,
    /// Bytes that were read and not yet processed.
    pending: Vec<u8>,
    out: Vec<u8>,
    /// Number of bytes of `out` that the caller has received.
    out_position: usize,
    changed: bool,
}

impl<'w, 'r, R: Read> CleaningReader<'w, 'r, R> {
    fn new(source: R, words: &'w WordRemover<'r>) -> Self {
        Self { source, words, is_json: None, pending: Vec::new(), out: Vec::new(), out_position: 0, changed: false }
    }

    /// Fills `out` with the next block. Returns false at the end of the file.
    fn fill_out(&mut self) -> std::io::Result<bool> {
        self.out.clear();
        self.out_position = 0;
        // Words that begin in the block may end after it.
        let overlap = self.words.longest_form_bytes();
        let max_bytes = BLOCK_BYTES.saturating_add(overlap) as u64;
        let is_end = (self.source.by_ref().take(max_bytes).read_to_end(&mut self.pending)? as u64) < max_bytes;
        if self.pending.is_empty() {
            return Ok(false);
        }
        let end = if is_end { self.pending.len() } else { self.block_end(overlap) };
        // Each block is searched for a NUL separately, since the whole file is never in memory.
        let is_binary = is_binary(&self.pending);
        let is_json = *self.is_json.get_or_insert_with(|| begins_like_json(&self.pending));
        let mut block = Vec::with_capacity(end);
        let (consumed, replaced) =
            self.words.replace_upto(&self.pending, end, Syntax { is_binary, is_json }, &mut block);
        self.pending.drain(..consumed);
        let cleaned = self.words.without_words_in_part(&block, is_json);
        self.changed |= replaced || cleaned.is_some();
        self.out = cleaned.unwrap_or(block);
        Ok(true)
    }

    /// Returns the end of the last line that ends at least `overlap` bytes before the end of the pending bytes.
    fn block_end(&self, overlap: usize) -> usize {
        let latest_end = self.pending.len().saturating_sub(overlap);
        let line_break = self.pending.get(..latest_end).and_then(|bytes| memchr::memrchr(b'\n', bytes));
        line_break.map_or(latest_end, |at| at + 1)
    }
}

impl<R: Read> Read for CleaningReader<'_, '_, R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.out_position == self.out.len() {
            if !self.fill_out()? {
                return Ok(0);
            }
        }
        let n = into.len().min(self.out.len() - self.out_position);
        into[..n].copy_from_slice(&self.out[self.out_position..self.out_position + n]);
        self.out_position += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn cleaned(source: &[u8], words: &WordRemover<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        CleaningReader::new(source, words).read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn words_of_several_lines_are_removed_across_blocks() {
        let removal = Removal::exact(vec![("the zanzibar quokka\nsleeps \"here\"".into(), "[X]".into())]);
        let words = WordRemover::new(&removal).unwrap();
        let plain = b"the zanzibar quokka\nsleeps \"here\"\n";
        let escaped = br#"the zanzibar quokka\nsleeps \"here\""#;
        for before in [BLOCK_BYTES - 24, BLOCK_BYTES - 20, BLOCK_BYTES - 10, BLOCK_BYTES, BLOCK_BYTES + 100] {
            let mut source = b"line\n".repeat(before / 5);
            source.resize(before, b'\n');
            source.extend_from_slice(plain);
            source.extend_from_slice(escaped);
            source.extend_from_slice(b" end");
            let out = cleaned(&source, &words);
            assert_eq!(out.get(before..), Some(&b"[X]\n[X] end"[..]), "after {before} bytes");
        }
    }

    #[test]
    fn words_are_removed_across_the_chunks_of_a_long_line() {
        let removal = Removal::exact(vec![("the zanzibar quokka".into(), "[X]".into())]);
        let words = WordRemover::new(&removal).unwrap();
        // The words cross the border between two blocks.
        let mut source = vec![b'x'; BLOCK_BYTES - 7];
        source.extend_from_slice(b"the zanzibar quokka");
        source.resize(2 * BLOCK_BYTES + 100, b'y');
        source.extend_from_slice(b"the zanzibar quokka\nshort the zanzibar quokka");
        let out = cleaned(&source, &words);
        assert!(memchr::memmem::find(&out, b"quokka").is_none(), "removed at every edge");
        assert_eq!(memchr::memmem::find_iter(&out, b"[X]").count(), 3, "three times");
        assert_eq!(out.len(), source.len() - 3 * ("the zanzibar quokka".len() - 3), "nothing else was lost");
        assert_eq!(cleaned(&source[..1000], &words), &source[..1000], "bytes without the words stay as they are");
    }
}
