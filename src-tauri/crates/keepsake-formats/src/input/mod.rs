//! Files, folders and archives as one list of members that can be read in place. No plaintext temp file is made:
//! an archive inside an archive that cannot be read in place goes through a [`Spool`].
mod catalog;
mod folder;
mod zipped;

pub use catalog::{Catalog, Member, Spool, SpoolFile};

/// SHA-256 of a file, in hex.
///
/// # Errors
/// I/O.
pub fn file_sha256(path: &std::path::Path) -> Result<String, crate::FormatError> {
    use sha2::Digest;
    let place = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut file = std::fs::File::open(path).map_err(|e| crate::FormatError::io(&place, e))?;
    let mut hasher = sha2::Sha256::new();
    let mut buf = vec![0; 256 << 10];
    loop {
        let n = std::io::Read::read(&mut file, &mut buf).map_err(|e| crate::FormatError::io(&place, e))?;
        if n == 0 {
            return Ok(hex::encode(hasher.finalize()));
        }
        hasher.update(&buf[..n]);
    }
}
