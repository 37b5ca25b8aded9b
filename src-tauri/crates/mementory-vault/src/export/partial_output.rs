//! The file or folder that is being written, under a temporary name next to its final place.
use crate::{VaultError, VaultResult};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A temporary folder for an output that is being written. When it is dropped, it is removed with everything that was
/// not renamed to its final name.
pub(super) struct PartialOutput {
    /// Temporary folder, next to the final place, so that the rename stays on one file system.
    pub folder: TempDir,
    /// Path to write to: the final name inside the temporary folder.
    pub path: PathBuf,
    /// Folder that contains the output under its final name.
    pub parent: PathBuf,
}

impl PartialOutput {
    pub fn for_output(out: &Path) -> VaultResult<Self> {
        let parent = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = tempfile::Builder::new()
            .prefix(".mementory-partial-")
            .tempdir_in(parent)
            .map_err(|e| VaultError::io(out.display().to_string(), e))?;
        let name = out.file_name().ok_or_else(|| VaultError::Usage("The export needs a file name.".into()))?;
        let path = folder.path().join(name);
        Ok(Self { folder, path, parent: parent.to_path_buf() })
    }
}

/// Returns the files that a writer put next to its file, such as the conversations of a memory store.
pub(super) fn companion_files(temp_folder: &Path, partial: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(temp_folder)? {
        let path = entry?.path();
        if path != partial {
            out.push(path);
        }
    }
    out.sort();
    Ok(out)
}

/// Lets only the owner read the file or folder.
#[cfg(unix)]
fn restrict_to_owner(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = if path.is_dir() { 0o700 } else { 0o600 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn restrict_to_owner(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Syncs a file or folder to disk, lets only the owner read it, and returns its size in bytes.
pub(super) fn sync_tree(path: &Path) -> std::io::Result<u64> {
    restrict_to_owner(path)?;
    if path.is_file() {
        let file = std::fs::File::open(path)?;
        file.sync_all()?;
        return Ok(file.metadata()?.len());
    }
    let mut sum = 0;
    let mut pending = vec![path.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(&dir)? {
            let path = entry?.path();
            if path.is_dir() {
                pending.push(path);
            } else {
                restrict_to_owner(&path)?;
                let file = std::fs::File::open(&path)?;
                file.sync_all()?;
                sum += file.metadata()?.len();
            }
        }
        std::fs::File::open(&dir)?.sync_all()?;
    }
    Ok(sum)
}

/// Syncs a folder, so that a new name in it survives a power failure. Returns false if the sync fails.
#[cfg(unix)]
pub(super) fn fsync_folder(folder: &Path) -> bool {
    std::fs::File::open(folder).and_then(|folder| folder.sync_all()).is_ok()
}

/// Does nothing: Windows cannot sync a folder, but its file systems journal the rename.
#[cfg(not(unix))]
pub(super) fn fsync_folder(_folder: &Path) -> bool {
    true
}

pub(super) fn rename_companions(beside: &[PathBuf], target: &dyn Fn(&Path) -> PathBuf) -> std::io::Result<()> {
    beside.iter().try_for_each(|companion| std::fs::rename(companion, target(companion)))
}

/// Undoes a failed rename: moves the companions that already have their final names into the temporary folder, which is
/// removed later. No file had the final names before, so no file has to be restored.
pub(super) fn move_companions_back(beside: &[PathBuf], target: &dyn Fn(&Path) -> PathBuf) {
    for companion in beside.iter().filter(|companion| !companion.exists()) {
        let _ = std::fs::rename(target(companion), companion);
    }
}

/// Renames the finished export to its final name. A replaced export is first moved into `temp_folder`, which is removed
/// later.
pub(super) fn rename_to_final_name(partial: &Path, out: &Path, temp_folder: &Path) -> std::io::Result<()> {
    if out.exists() {
        let former_export = temp_folder.join("replaced");
        std::fs::rename(out, &former_export)?;
        if let Err(error) = std::fs::rename(partial, out) {
            std::fs::rename(&former_export, out)?;
            return Err(error);
        }
        return Ok(());
    }
    std::fs::rename(partial, out)
}
