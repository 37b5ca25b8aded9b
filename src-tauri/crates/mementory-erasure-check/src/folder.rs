//! Checks which files are in the vault's folder.
use crate::{ErasureCheck, PlaceOutcome, ReceiptPlace, receipt::checked_place};
use std::path::Path;

/// Names of a vault's files and folders.
const VAULT_FILES: [&str; 8] =
    ["vault.json", "store.db", "store.db-wal", "store.db-shm", "index", "blobs", "lock", "erasures"];

/// Names of files that operating systems and sync clients put into folders. The check ignores them.
const SYSTEM_FILES: [&str; 14] = [
    ".DS_Store",
    ".localized",
    ".Spotlight-V100",
    ".Trashes",
    ".fseventsd",
    ".directory",
    ".dropbox",
    ".dropbox.attr",
    ".stfolder",
    ".stignore",
    ".nomedia",
    "desktop.ini",
    "Thumbs.db",
    "Icon\r",
];

/// Prefixes of the program's own files that a crash can leave incomplete: a changed header, and scratch space. Such
/// files are removed whenever a vault is opened. The last prefix is from versions before the program was renamed.
const PARTIAL_PREFIXES: [&str; 3] = [".vault.json.", ".mementory-partial-", ".keepsake-partial-"];

/// Removes incomplete files that a crash left in the vault's folder. The caller must hold the vault's lock and must not
/// have begun to write. The next deletion's receipt lists the files that could not be removed.
pub fn clear_partials(dir: &Path) {
    let Ok(list) = std::fs::read_dir(dir) else { return };
    for entry in list.filter_map(Result::ok) {
        let name = entry.file_name();
        if name.to_str().is_some_and(|n| PARTIAL_PREFIXES.iter().any(|p| n.starts_with(p))) {
            let path = entry.path();
            let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        }
    }
}

impl ErasureCheck<'_> {
    /// Fails if the folder contains copies of the vault's own files. The copy made before a schema upgrade, for
    /// example, still contains the erased data. Other files are only listed.
    pub(crate) fn check_folder(&self) -> ReceiptPlace {
        let mut unknown_files: Vec<(String, bool)> = std::fs::read_dir(self.dir)
            .map(|list| {
                list.filter_map(Result::ok)
                    .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
                    .filter(|(name, _)| !VAULT_FILES.contains(&name.as_str()) && !is_system_file(name))
                    .map(|(name, path)| {
                        let copy = is_copy(&name, &path, 4);
                        (name, copy)
                    })
                    .collect()
            })
            .unwrap_or_default();
        unknown_files.sort();
        let copies: Vec<&str> = unknown_files.iter().filter(|(_, copy)| *copy).map(|(name, _)| name.as_str()).collect();
        let other_names: Vec<&str> =
            unknown_files.iter().filter(|(_, copy)| !copy).map(|(name, _)| name.as_str()).collect();
        let mut detail = Vec::new();
        if !copies.is_empty() {
            detail.push(format!("copies of the vault's files: {}", copies.join(", ")));
        }
        if !other_names.is_empty() {
            detail.push(format!("other files in the vault folder, not looked into: {}", other_names.join(", ")));
        }
        let detail = if detail.is_empty() { "none".into() } else { detail.join("; ") };
        checked_place("temporary_files", copies.is_empty(), PlaceOutcome::NotPresent, detail)
    }
}

fn is_system_file(name: &str) -> bool {
    SYSTEM_FILES.contains(&name) || name.starts_with("._") || name.starts_with("~syncthing~") && !name.contains("store")
}

/// True if the name looks like a copy of the store, of an index file or of a blob, or like a scratch file of the
/// program. Also true for a folder that contains a file with such a name, up to `depth` levels deep.
fn is_copy(name: &str, path: &Path, depth: u32) -> bool {
    let lower = name.to_lowercase();
    let ending = lower.rsplit('.').next().unwrap_or_default();
    let is_store_file =
        lower.contains("store") && (lower.contains(".db") || ending == "db" || lower.contains("schema"));
    let is_index_file = lower.contains('.') && ["term", "idx", "pos", "store", "fast", "fieldnorm"].contains(&ending);
    let is_blob_file = lower.len() == 64 && lower.bytes().all(|b| b.is_ascii_hexdigit());
    if is_store_file || is_index_file || is_blob_file || PARTIAL_PREFIXES[1..].iter().any(|p| lower.starts_with(p)) {
        return true;
    }
    // Links are not followed, since they may lead anywhere, even in a circle.
    if depth == 0 || !path.symlink_metadata().is_ok_and(|m| m.is_dir()) {
        return false;
    }
    std::fs::read_dir(path).is_ok_and(|list| {
        list.filter_map(Result::ok).any(|e| is_copy(&e.file_name().to_string_lossy(), &e.path(), depth - 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_our_files_are_distinguished_from_other_files() {
        let missing_path = Path::new("/nonexistent");
        for name in ["store.schema-1.db", "store.db.bak", "store (conflicted copy).db", "Copy of store.db"] {
            assert!(is_copy(name, missing_path, 1), "{name}");
        }
        for name in ["notes.txt", ".vault.json.a1b2c3", "readme.md", "backup"] {
            assert!(!is_copy(name, missing_path, 1), "{name}");
        }
        assert!(is_system_file("._lock") && is_system_file(".DS_Store") && !is_system_file("store.db.bak"));
    }
}
