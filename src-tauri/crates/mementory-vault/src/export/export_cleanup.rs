//! Remembers which files an export wrote, so that they can be removed again without removing anything else.
use crate::{VaultError, VaultResult};
use std::{
    collections::BTreeMap,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Files and folders of an export, as they were when it was finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFiles {
    /// Path of the export, then the paths of its companion files.
    roots: Vec<PathBuf>,
    /// Size in bytes and modification time of every file. None for a folder.
    entries: BTreeMap<PathBuf, Option<(u64, SystemTime)>>,
}

impl WrittenFiles {
    /// Reads the current state of these files and folders.
    pub(super) fn read_state(roots: Vec<PathBuf>) -> std::io::Result<Self> {
        let mut entries = BTreeMap::new();
        let mut pending = roots.clone();
        while let Some(path) = pending.pop() {
            // Links are not followed.
            let meta = path.symlink_metadata()?;
            if meta.is_dir() {
                for entry in std::fs::read_dir(&path)? {
                    pending.push(entry?.path());
                }
                entries.insert(path, None);
            } else {
                entries.insert(path, Some((meta.len(), meta.modified()?)));
            }
        }
        Ok(Self { roots, entries })
    }

    /// Describes an export whose files are in an unknown state. For such an export, [`remove`](Self::remove) fails
    /// unless the export is already gone.
    pub(super) fn unknown(out: &Path) -> Self {
        Self { roots: vec![out.to_path_buf()], entries: BTreeMap::new() }
    }

    /// Returns the path of the export.
    pub fn path(&self) -> &Path {
        self.roots.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Removes the export if nothing in it was changed or added since it was written. Files of the export that are
    /// already gone are not an error.
    ///
    /// # Errors
    /// `ChangedSince` if something was changed or added, in which case nothing is removed; I/O.
    pub fn remove(&self) -> VaultResult<()> {
        let place = self.path().display().to_string();
        let io = |e| VaultError::io(&place, e);
        let present = self.roots.iter().filter(|root| root.symlink_metadata().is_ok()).cloned();
        let now = Self::read_state(present.collect()).map_err(io)?;
        if now.entries.iter().any(|(path, entry)| self.entries.get(path) != Some(entry)) {
            return Err(VaultError::ChangedSince(place));
        }
        for root in &now.roots {
            let removed = if root.is_dir() { std::fs::remove_dir_all(root) } else { std::fs::remove_file(root) };
            removed.or_else(|e| if e.kind() == ErrorKind::NotFound { Ok(()) } else { Err(e) }).map_err(io)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_export_with_an_added_file_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (export, beside, other) =
            (folder.path().join("a.mem"), folder.path().join("beside"), folder.path().join("other"));
        std::fs::create_dir_all(export.join("inner")).unwrap();
        for file in [&export.join("inner/items"), &beside, &other] {
            std::fs::write(file, "x").unwrap();
        }
        let written = WrittenFiles::read_state(vec![export.clone(), beside.clone()]).unwrap();
        let added = export.join("inner/notes.txt");
        std::fs::write(&added, "mine").unwrap();
        assert!(matches!(written.remove(), Err(VaultError::ChangedSince(_))), "it contains a file of the person's");
        assert!(added.exists() && beside.exists(), "nothing was removed");
        std::fs::remove_file(&added).unwrap();
        written.remove().unwrap();
        assert!(!export.exists() && !beside.exists() && other.exists());
        written.remove().unwrap();
    }

    #[test]
    fn a_changed_export_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let export = folder.path().join("a.alf");
        std::fs::write(&export, "x").unwrap();
        let written = WrittenFiles::read_state(vec![export.clone()]).unwrap();
        std::fs::write(&export, "other").unwrap();
        assert!(written.remove().is_err());
        assert!(export.exists());
        // Replace the file with a folder of the same name.
        std::fs::remove_file(&export).unwrap();
        std::fs::create_dir(&export).unwrap();
        assert!(written.remove().is_err());
    }
}
