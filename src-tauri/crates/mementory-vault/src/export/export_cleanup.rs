//! What an export put on the disk, so that it can be taken away again, and nothing else with it.
use crate::{VaultError, VaultResult};
use std::{
    collections::BTreeMap,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Files and folders as they were when the export was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The export, and what was put beside it.
    roots: Vec<PathBuf>,
    /// Size and time of every file; of a folder neither.
    entries: BTreeMap<PathBuf, Option<(u64, SystemTime)>>,
}

impl Written {
    /// What lies there now.
    pub(super) fn of(roots: Vec<PathBuf>) -> std::io::Result<Self> {
        let mut entries = BTreeMap::new();
        let mut pending = roots.clone();
        while let Some(path) = pending.pop() {
            // A link is what it is, not what it leads to.
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

    /// The export itself.
    pub fn path(&self) -> &Path {
        self.roots.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Removes it, if it still is what was written. What is gone already is no error.
    ///
    /// # Errors
    /// `ChangedSince` when something was changed or added since: then nothing is removed. I/O.
    pub fn remove(&self) -> VaultResult<()> {
        let place = self.path().display().to_string();
        let io = |e| VaultError::io(&place, e);
        let present = self.roots.iter().filter(|root| root.symlink_metadata().is_ok()).cloned();
        let now = Self::of(present.collect()).map_err(io)?;
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
    fn only_what_was_written_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (export, beside, other) =
            (folder.path().join("a.mem"), folder.path().join("beside"), folder.path().join("other"));
        std::fs::create_dir_all(export.join("inner")).unwrap();
        for file in [&export.join("inner/items"), &beside, &other] {
            std::fs::write(file, "x").unwrap();
        }
        let written = Written::of(vec![export.clone(), beside.clone()]).unwrap();
        let stranger = export.join("inner/notes.txt");
        std::fs::write(&stranger, "mine").unwrap();
        assert!(matches!(written.remove(), Err(VaultError::ChangedSince(_))), "something of the person's is in it");
        assert!(stranger.exists() && beside.exists(), "nothing was removed");
        std::fs::remove_file(&stranger).unwrap();
        written.remove().unwrap();
        assert!(!export.exists() && !beside.exists() && other.exists());
        written.remove().unwrap();
    }

    #[test]
    fn what_was_changed_since_stays() {
        let folder = tempfile::tempdir().unwrap();
        let export = folder.path().join("a.alf");
        std::fs::write(&export, "x").unwrap();
        let written = Written::of(vec![export.clone()]).unwrap();
        std::fs::write(&export, "other").unwrap();
        assert!(written.remove().is_err());
        assert!(export.exists());
        // As many bytes as it had, in a folder now.
        std::fs::remove_file(&export).unwrap();
        std::fs::create_dir(&export).unwrap();
        assert!(written.remove().is_err());
    }
}
