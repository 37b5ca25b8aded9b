//! What opening a catalog may use.
use super::{passphrase::Passphrase, spool::Spool};

/// Scratch space and passphrase of the caller.
#[derive(Clone, Copy)]
pub(super) struct Resources<'a> {
    /// Scratch space.
    pub spool: Option<&'a dyn Spool>,
    /// Opens encrypted files.
    pub passphrase: Option<&'a dyn Passphrase>,
}

/// Without a spool, a compressed archive inside an archive and the content of an encrypted file stay in memory, up to this
/// many bytes.
pub(super) const MAX_IN_MEMORY_BYTES: u64 = 64 << 20;
