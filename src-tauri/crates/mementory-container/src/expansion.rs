//! Limits the uncompressed size of archives, because the vault would store everything that a ZIP bomb unpacks to. The
//! user may allow more.
use super::{member::Member, zip::Entry};
use crate::FormatError;
use mementory_model::{EXPANSION, Limits};
use std::collections::HashMap;

/// Declared uncompressed bytes of the archives that were found under each given path.
#[derive(Default)]
pub(super) struct Expansion {
    by_root: HashMap<usize, DeclaredBytes>,
}

/// Declared bytes under one path.
#[derive(Default)]
struct DeclaredBytes {
    /// Size of the outermost archives.
    archives: u64,
    /// Uncompressed bytes of all entries.
    all: u64,
    /// Uncompressed bytes of the entries that expand more than any real file does.
    strongly_expanding: u64,
}

impl DeclaredBytes {
    fn max_bytes(&self, limits: &Limits) -> u64 {
        limits.expanded_bytes.max(self.archives.saturating_mul(EXPANSION))
    }
}

impl Expansion {
    /// Adds the size of an archive. The size of an archive inside another archive is already included in the outer
    /// size.
    pub(super) fn count_archive(&mut self, member: &Member, size: u64) {
        if member.depth == 0 {
            self.by_root.entry(member.root).or_default().archives += size;
        }
    }

    /// Returns the number of bytes that an archive without a directory may still expand to.
    pub(super) fn bytes_left(&mut self, member: &Member, limits: &Limits) -> u64 {
        let declared = self.by_root.entry(member.root).or_default();
        declared.max_bytes(limits).saturating_sub(declared.all).min(limits.total_bytes)
    }

    /// Adds the declared sizes of an archive's entries. Declared sizes are reliable, because the reader of an entry
    /// never returns more bytes than declared.
    ///
    /// # Errors
    /// `Limit` with `expanded_bytes`.
    pub(super) fn count_entries(
        &mut self,
        member: &Member,
        entries: &[Entry],
        limits: &Limits,
    ) -> Result<(), FormatError> {
        self.count(member, entries.iter().map(|entry| (entry.packed, entry.size)), limits)
    }

    /// Counts the bytes of a compressed file that was unpacked.
    ///
    /// # Errors
    /// `Limit` with `expanded_bytes`.
    pub(super) fn count_unpacked(
        &mut self,
        member: &Member,
        packed: u64,
        size: u64,
        limits: &Limits,
    ) -> Result<(), FormatError> {
        self.count(member, [(packed, size)].into_iter(), limits)
    }

    /// Adds up `sizes`, which are pairs of packed and unpacked bytes, and checks the limits.
    fn count(
        &mut self,
        member: &Member,
        sizes: impl Iterator<Item = (u64, u64)>,
        limits: &Limits,
    ) -> Result<(), FormatError> {
        let declared = self.by_root.entry(member.root).or_default();
        for (packed, size) in sizes {
            declared.all = declared.all.saturating_add(size);
            if size > packed.saturating_mul(EXPANSION) {
                declared.strongly_expanding = declared.strongly_expanding.saturating_add(size);
            }
        }
        let figure = match declared {
            DeclaredBytes { all, .. } if *all > declared.max_bytes(limits) => declared.all,
            DeclaredBytes { strongly_expanding, .. } if *strongly_expanding > limits.expanded_bytes => {
                declared.strongly_expanding
            }
            _ => return Ok(()),
        };
        Err(FormatError::Limit { limit: "expanded_bytes", place: member.place.clone(), figure })
    }
}
