//! Scratch space and passphrase for opening a catalog.
use super::{passphrase::Passphrase, spool::Spool};

/// The caller's scratch space and passphrase.
#[derive(Clone, Copy)]
pub(super) struct Resources<'a> {
    /// Scratch space.
    pub spool: Option<&'a dyn Spool>,
    /// Decrypts encrypted files.
    pub passphrase: Option<&'a dyn Passphrase>,
}

/// Largest content in bytes that is unpacked into memory because there is no spool. Applies to a compressed archive
/// inside an archive, and to an encrypted, gzip or zstd file.
pub(super) const MAX_IN_MEMORY_BYTES: u64 = 64 << 20;
