//! Passthrough parts: side files, `raw/`, unknown entries. Their bytes are rewritten without the words.
use crate::{
    VaultResult,
    context::Context,
    word_removal::{Removal, bytes::Words},
};
use mementory_model::Kind;
use mementory_store::{Flags, blobs::BlobInfo, kind_code};
use rusqlite::{Connection, params};
use std::{
    collections::HashSet,
    io::{BufRead, BufReader, Read},
};

/// Largest file that is rewritten in memory; larger ones are rewritten line by line.
const WHOLE: u64 = 64 << 20;
/// Longest line that is kept in memory; a longer one is split into overlapping chunks of this size.
const LINE: u64 = 8 << 20;

/// A part that holds the words: its row, its present blob, and the blob without them.
pub(crate) struct Part {
    row: i64,
    old: [u8; 32],
    new: BlobInfo,
}

/// Side files of imports, which are no records: their bytes are rewritten without the erased words.
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
    /// Parts outside `rows` that hold words of `removal`. With `keep` their new bytes are stored, under a name that
    /// nothing uses until [`Vault::rewrite_parts`]. A part that cannot be read is left to the check, which names it.
    pub(crate) fn parts_holding(&self, removal: &Removal, rows: &HashSet<i64>, keep: bool) -> VaultResult<Vec<Part>> {
        if removal.exact_pairs().is_empty() {
            return Ok(Vec::new());
        }
        let words = Words::of(removal)?;
        let mut out = Vec::new();
        for (row, blob) in self.parts()?.into_iter().filter(|(row, _)| !rows.contains(row)) {
            out.extend(self.part_without(&blob, &words, keep)?.map(|new| Part { row, old: blob, new }));
        }
        Ok(out)
    }

    fn parts(&self) -> VaultResult<Vec<(i64, [u8; 32])>> {
        self.context.store.read(|c| {
            let mut statement = c.prepare(
                "SELECT DISTINCT f.row, f.blob FROM named_blobs f JOIN records r ON r.row = f.row WHERE r.kind = ?1",
            )?;
            let found = statement.query_map([kind_code(Kind::Foreign)], |r| Ok((r.get(0)?, r.get(1)?)))?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn part_without(&self, blob: &[u8; 32], words: &Words<'_>, keep: bool) -> VaultResult<Option<BlobInfo>> {
        let Ok(mut source) = self.context.blobs.open(blob) else { return Ok(None) };
        let mut bytes = Vec::new();
        if source.by_ref().take(WHOLE).read_to_end(&mut bytes).is_err() {
            return Ok(None);
        }
        if (bytes.len() as u64) < WHOLE {
            return words.without(&bytes).map(|new| self.context.blobs.put(&mut new.as_slice(), keep)).transpose();
        }
        let mut cleaned = Cleaned::new(bytes.as_slice().chain(source), words);
        if std::io::copy(&mut cleaned, &mut std::io::sink()).is_err() || !cleaned.changed {
            return Ok(None);
        }
        self.context.blobs.put(&mut Cleaned::new(self.context.blobs.open(blob)?, words), keep).map(Some)
    }

    /// Puts the new bytes in the place of the old; returns blobs that nothing names any more, and how many parts changed.
    pub(crate) fn rewrite_parts(&self, tx: &Connection, parts: &[Part]) -> VaultResult<(Vec<[u8; 32]>, u32)> {
        let mut old = Vec::new();
        for part in parts {
            // A part's former bytes, which an undo would bring back, are parts of their own here.
            for table in ["files", "file_versions"] {
                tx.execute(
                    &format!("UPDATE {table} SET blob = ?2, size = ?3 WHERE row = ?1 AND blob = ?4"),
                    params![part.row, part.new.digest, part.new.size as i64, part.old],
                )?;
            }
            tx.execute("UPDATE records SET flags = flags | ?2 WHERE row = ?1", params![part.row, Flags::REDACTED])?;
        }
        for part in parts {
            if !tx.prepare_cached("SELECT 1 FROM named_blobs WHERE blob = ?1")?.exists([part.old])? {
                old.push(part.old);
            }
        }
        Ok((old, parts.len() as u32))
    }

    /// The deletion did not happen: the new bytes belong to nothing.
    pub(crate) fn drop_parts(&self, parts: &[Part]) -> VaultResult<()> {
        if parts.is_empty() { Ok(()) } else { self.context.sweep_blobs().map(drop) }
    }
}

/// Large bytes without the words, as they are read.
struct Cleaned<'w, R: Read> {
    source: BufReader<R>,
    words: &'w Words<'w>,
    /// The rest of a line that is too long to be taken whole.
    held: Vec<u8>,
    out: Vec<u8>,
    at: usize,
    changed: bool,
}

impl<'w, R: Read> Cleaned<'w, R> {
    fn new(source: R, words: &'w Words<'w>) -> Self {
        let source = BufReader::with_capacity(1 << 20, source);
        Self { source, words, held: Vec::new(), out: Vec::new(), at: 0, changed: false }
    }

    /// Makes the next piece of output; false at the end.
    fn next(&mut self) -> std::io::Result<bool> {
        self.out.clear();
        self.at = 0;
        let fresh = self.held.is_empty();
        let read = (&mut self.source).take(LINE).read_until(b'\n', &mut self.held)?;
        if self.held.is_empty() {
            return Ok(false);
        }
        let whole = (read as u64) < LINE || self.held.ends_with(b"\n");
        if fresh && whole {
            match self.words.without(&self.held) {
                Some(new) => {
                    self.out = new;
                    self.changed = true;
                    self.held.clear();
                }
                None => std::mem::swap(&mut self.out, &mut self.held),
            }
            return Ok(true);
        }
        let keep = if whole { 0 } else { self.words.longest() };
        let until = self.held.len().saturating_sub(keep);
        let (taken, changed) = self.words.replace_upto(&self.held, until, &mut self.out);
        self.changed |= changed;
        self.held.drain(..taken);
        Ok(true)
    }
}

impl<R: Read> Read for Cleaned<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.at == self.out.len() {
            if !self.next()? {
                return Ok(0);
            }
        }
        let n = into.len().min(self.out.len() - self.at);
        into[..n].copy_from_slice(&self.out[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn cleaned(source: &[u8], words: &Words<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        Cleaned::new(source, words).read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn long_lines_are_taken_in_pieces_that_overlap() {
        let removal = Removal::exact(vec![("the zanzibar quokka".into(), "[X]".into())]);
        let words = Words::of(&removal).unwrap();
        // The words cross the border between two chunks.
        let mut source = vec![b'x'; LINE as usize - 7];
        source.extend_from_slice(b"the zanzibar quokka");
        source.resize(2 * LINE as usize + 100, b'y');
        source.extend_from_slice(b"the zanzibar quokka\nshort the zanzibar quokka");
        let out = cleaned(&source, &words);
        assert!(memchr::memmem::find(&out, b"quokka").is_none(), "gone at every edge");
        assert_eq!(memchr::memmem::find_iter(&out, b"[X]").count(), 3, "three times");
        assert_eq!(out.len(), source.len() - 3 * ("the zanzibar quokka".len() - 3), "nothing else was lost");
        assert_eq!(cleaned(&source[..1000], &words), &source[..1000], "what does not hold them is left alone");
    }
}
