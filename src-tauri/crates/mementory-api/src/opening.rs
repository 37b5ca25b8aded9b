//! Opens files for functions that work without a vault.
use crate::{ApiError, ApiResult};
use mementory_formats::{Catalog, Passphrase, by_id};
use mementory_model::Limits;
use mementory_vault::Scratch;
use std::path::Path;

/// Fails with `usage` if the format is unknown.
pub(crate) fn check_format_known(format: Option<&str>) -> ApiResult<()> {
    match format.filter(|f| by_id(f).is_none()) {
        Some(unknown) => {
            Err(ApiError::usage(format!("{unknown} is not a format that Mementory knows. Nothing was changed.")))
        }
        None => Ok(()),
    }
}

/// Opens a file or folder. Decrypted content is stored in temporary files, which are encrypted with a key that exists
/// only in memory.
pub(crate) fn open(path: &Path, limits: &Limits, passphrase: Option<&dyn Passphrase>) -> ApiResult<Catalog> {
    let scratch = Scratch(std::env::temp_dir());
    let catalog = Catalog::open_with(&[path.to_path_buf()], limits, Some(&scratch), passphrase)?;
    catalog.refuse_unopened()?;
    Ok(catalog)
}
