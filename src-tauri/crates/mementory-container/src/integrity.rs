//! Checks whether the archives of a catalog are complete and undamaged.
use super::{
    catalog::Catalog,
    faults::{Fault, FaultKind, entry_place, find_damage},
    zip::EntryKind,
};
use crate::FormatError;

impl Catalog {
    /// Faults of structure and names of all archives.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// True if the archive with this number is a tar archive, false if it is a ZIP file.
    pub fn is_tar(&self, archive: usize) -> bool {
        self.archives.get(archive).is_some_and(|archive| archive.is_tar)
    }

    /// Reads every readable entry of the wanted archives to its end, except those that [`Self::read`] already read to
    /// their end. Returns a fault for each entry that does not match its checksum or size, and for each archive without
    /// a directory, since entries may be missing from such an archive.
    ///
    /// # Errors
    /// I/O; `Cancelled`. A damaged entry is a fault.
    pub fn damaged_entries(&self, is_wanted: impl Fn(usize) -> bool) -> Result<Vec<Fault>, FormatError> {
        let mut out = Vec::new();
        for (number, archive) in self.archives.iter().enumerate().filter(|(number, _)| is_wanted(*number)) {
            if archive.is_truncated {
                let message = "the archive is cut off: it has no directory";
                let place = archive.place.clone();
                out.push(Fault::new(number, FaultKind::Damage, "truncated_archive", place, message));
            }
            let unread_entries = archive.entries.iter().enumerate().filter(|(index, _)| !archive.is_intact(*index));
            for (_, entry) in unread_entries {
                if let (EntryKind::Plain, Some(message)) = (entry.kind(), find_damage(archive, entry, &self.cancel)?) {
                    let place = entry_place(&archive.place, &entry.name);
                    out.push(Fault::new(number, FaultKind::Damage, "damaged_entry", place, &message));
                }
            }
        }
        Ok(out)
    }
}
