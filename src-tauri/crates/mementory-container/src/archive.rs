//! An open archive, and how its entries are read.
use super::{source::Source, zip::Entry};
use crate::FormatError;
use std::io::Read;

/// An open archive.
pub(super) struct Archive {
    /// Place of the archive for display.
    pub(super) place: String,
    pub(super) source: Source,
    pub(super) entries: Vec<Entry>,
    /// True if the archive has no directory, because its end is missing.
    pub(super) truncated: bool,
    /// True if the archive contains conversation files. Archives inside it then count as files of the user, unless they
    /// are named like a part of an export.
    pub(super) has_conversations: bool,
    /// True for an archive of files of the user or of an agent, inside which no archives are opened.
    pub(super) contains_user_files: bool,
}

impl Archive {
    /// Reads one entry. Several entries can be read at the same time.
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
        let mut reader = entry.read(&self.source).map_err(|e| FormatError::io(place, e))?;
        f(&mut reader)
    }
}
