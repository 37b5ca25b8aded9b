//! Opens several paths as one catalog.
use super::{
    catalog::Catalog, expand, folder, heads::Heads, passphrase::Passphrase, resources::Resources, spool::Spool,
};
use crate::FormatError;
use mementory_model::Limits;
use std::path::{Path, PathBuf};

impl Catalog {
    /// Opens regular files, folders, ZIP and tar archives, and gzip and zstd files. Does not follow links in folders.
    /// Archives inside archives are opened too, except files of the user.
    pub fn open(paths: &[PathBuf], limits: &Limits, spool: Option<&dyn Spool>) -> Result<Self, FormatError> {
        Self::open_with(paths, limits, spool, None)
    }

    /// Opens the paths like [`Catalog::open`], and replaces each file that is encrypted as a whole (age) with its
    /// content. The content is written to the spool, or stays in memory up to a limit if there is no spool.
    ///
    /// # Errors
    /// As [`Catalog::open`]; `passphrase_wrong`, `damaged`, `kdf_parameters`, `not_for_passphrase` for an
    /// encrypted file. Without a passphrase, such a file is not an error but the issue `passphrase_needed`.
    pub fn open_with(
        paths: &[PathBuf],
        limits: &Limits,
        spool: Option<&dyn Spool>,
        passphrase: Option<&dyn Passphrase>,
    ) -> Result<Self, FormatError> {
        let mut catalog = Self::empty(limits);
        for path in paths {
            let root = catalog.roots.len();
            let name = root_name(path);
            catalog.roots.push(name.clone());
            folder::add_path(&mut catalog, root, path, &name, limits)?;
        }
        expand::expand(&mut catalog, limits, Resources { spool, passphrase })?;
        catalog.heads = Some(Heads::default());
        Ok(catalog)
    }

    /// The files that [`Catalog::open`] finds at a path before it opens archives: the file itself, or the files in the
    /// folder in any order. Each file has its size in bytes.
    ///
    /// # Errors
    /// I/O; `Refused` for a link or a device; `Limit` for more files than `Limits::entries`.
    pub fn files_at(path: &Path, limits: &Limits) -> Result<Vec<(PathBuf, u64)>, FormatError> {
        let mut catalog = Self::empty(limits);
        folder::add_path(&mut catalog, 0, path, &root_name(path), limits)?;
        let file = |member| Some((catalog.path_of(member)?.to_path_buf(), member.size));
        Ok(catalog.members.iter().filter_map(file).collect())
    }
}

/// Name of an opened path for display.
fn root_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
