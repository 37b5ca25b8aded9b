//! Files, folders and archives (ZIP, tar) as one list of members that can be read in place. A compressed archive inside
//! an archive and the content of a gzip, zstd or encrypted file cannot be read in place, so they are written to a
//! [`Spool`].
//! The spool of the vault encrypts its files, so that no plaintext is written to disk.
//!
//! Issue codes: `unsafe_name`, `duplicate_name`, `link`, `not_a_regular_file`, `encrypted`, `unsupported_compression`,
//! `truncated_archive`, `unreadable_archive`, `empty_archive`, `archive_depth`, `damaged_entry`, `passphrase_needed`,
//! `limit`, `unreadable`. Codes of faults: `container_header_differs`, `container_directory_differs`,
//! `container_hidden_entry`, `container_overlap`, `container_shared_data`, `container_similar_names`,
//! `container_empty_name_part`, `container_reserved_name`, `container_file_and_folder`, `container_folder_with_data`,
//! `container_unsafe_folder`, `container_split_archive`, `damaged_entry`, `truncated_archive`. The place of an issue
//! starts with the place of the archive that it concerns.
mod archive;
mod archive_file;
mod catalog;
mod compressed;
mod compressed_name;
mod derived;
mod duplicates;
mod encrypted;
mod expand;
mod expansion;
mod faults;
mod folder;
mod heads;
mod integrity;
mod key_pair;
mod member;
mod nested;
mod open;
mod passphrase;
mod private_file;
mod resources;
#[cfg(test)]
mod size_tests;
mod source;
mod spool;
#[cfg(test)]
mod structure_tests;
mod tar;
#[cfg(test)]
mod tests;
mod unpack;
mod zip;

pub use archive_file::ArchiveFile;
pub use catalog::Catalog;
pub use faults::{Fault, FaultKind, folded_name, is_reserved_name};
pub use key_pair::{KeyDerivation, KeyPair, SealedContent, WrappedKey};
pub use member::Member;
pub use mementory_model::FormatError;
use mementory_model::{Issue, is_damage};
pub use nested::plain_name;
pub use passphrase::{AGE_HEAD, Cipher, Passphrase, Sealed, SealedFile, is_age_head};
pub use private_file::create_private_file;
pub use spool::{Spool, SpoolFile};

/// True if a name from an input may be used as the relative path of a file that we write.
pub fn is_safe_path(name: &str) -> bool {
    matches!(zip::safe_name(name), Ok(std::borrow::Cow::Borrowed(_))) && !name.chars().any(char::is_control)
}

/// True for the issue of an archive entry that is encrypted or compressed by a method that we do not support.
pub fn is_unreadable_entry(issue: &Issue) -> bool {
    matches!(issue.code.as_str(), "encrypted" | "unsupported_compression")
}

/// SHA-256 of a file, in hex.
///
/// # Errors
/// I/O.
pub fn file_sha256(path: &std::path::Path) -> Result<String, FormatError> {
    let place = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut file = std::fs::File::open(path).map_err(|e| FormatError::io(&place, e))?;
    sha256(&mut file, &place)
}

/// SHA-256 of all bytes of a reader, in hex.
pub fn sha256(bytes: &mut dyn std::io::Read, place: &str) -> Result<String, FormatError> {
    use sha2::Digest;
    let mut hasher = sha2::Sha256::new();
    let mut buf = vec![0; 256 << 10];
    loop {
        let read_len = bytes.read(&mut buf).map_err(|e| FormatError::io(place, e))?;
        if read_len == 0 {
            return Ok(hex::encode(hasher.finalize()));
        }
        hasher.update(&buf[..read_len]);
    }
}
