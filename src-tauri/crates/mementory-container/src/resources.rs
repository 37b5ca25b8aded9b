//! Resources for opening a catalog.
use super::{passphrase::Passphrase, spool::Spool};

/// Scratch space and passphrase of the caller.
#[derive(Clone, Copy)]
pub(super) struct Resources<'a> {
    /// Scratch space.
    pub spool: Option<&'a dyn Spool>,
    /// Decrypts encrypted files.
    pub passphrase: Option<&'a dyn Passphrase>,
}

/// Size limit in bytes of a compressed archive inside an archive, or of the content of an encrypted, gzip or zstd file, that
/// is read into memory because there is no spool.
pub(super) const MAX_IN_MEMORY_BYTES: u64 = 64 << 20;
