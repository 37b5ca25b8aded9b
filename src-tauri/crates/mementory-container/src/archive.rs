//! An open archive, and the readers of its entries.
use super::{source::Source, zip::Entry};
use crate::FormatError;
use mementory_model::is_damage;
use std::{
    io::{Error, Read},
    sync::atomic::{AtomicBool, Ordering},
};

/// An open archive.
pub(super) struct Archive {
    /// Place of the archive for display.
    pub(super) place: String,
    pub(super) source: Source,
    pub(super) entries: Vec<Entry>,
    /// For each entry, whether it was already read to its end and found undamaged. The check for damage skips these
    /// entries.
    pub(super) intact: Box<[AtomicBool]>,
    /// True for a tar archive, false for a ZIP file.
    pub(super) is_tar: bool,
    /// True if the end of the archive is missing. A ZIP file then has no directory.
    pub(super) is_truncated: bool,
    /// True if the archive contains conversation files. Archives inside it then count as files of the user, unless they
    /// are named like a part of an export.
    pub(super) has_conversations: bool,
    /// True for an archive of files of the user or of an agent, inside which no archives are opened.
    pub(super) contains_user_files: bool,
    /// True for an archive that contains only other archives. These are opened even if their names do not look like
    /// those of exports.
    pub(super) contains_only_archives: bool,
}

impl Archive {
    /// Passes a reader of one entry to `f`. Several entries can be read at the same time. If the header of the entry is
    /// damaged, every read fails, as after any other damage in the entry.
    pub(super) fn with_entry<T>(
        &self,
        index: usize,
        place: &str,
        f: impl FnOnce(&mut dyn Read) -> Result<T, FormatError>,
    ) -> Result<T, FormatError> {
        let entry = self
            .entries
            .get(index)
            .ok_or_else(|| FormatError::invalid("malformed", place, "no such entry in the archive"))?;
        match entry.read(&self.source) {
            Ok(mut reader) => {
                let result = f(&mut reader);
                if let Some(intact) = self.intact.get(index).filter(|_| reader.is_intact()) {
                    intact.store(true, Ordering::Relaxed);
                }
                result
            }
            Err(damage) if is_damage(&damage) => f(&mut DamagedEntry(damage)),
            Err(error) => Err(FormatError::io(place, error)),
        }
    }

    /// True if the entry was read to its end, and its bytes are undamaged.
    pub(super) fn is_intact(&self, index: usize) -> bool {
        self.intact.get(index).is_some_and(|intact| intact.load(Ordering::Relaxed))
    }
}

/// A reader that always fails with the error that prevented the entry from being opened.
struct DamagedEntry(Error);

impl Read for DamagedEntry {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(Error::new(self.0.kind(), self.0.to_string()))
    }
}
