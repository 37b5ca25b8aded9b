//! What can go wrong, as kinds that callers match on. No variant says why a decryption failed.

/// Cryptographic errors. None carries a key, a passphrase or content.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CryptoError {
    /// The header is whole, but no key slot opens with this secret.
    #[error("no key slot opens with this secret")]
    WrongSecret,
    /// The header does not pass its check; which check is named.
    #[error("the vault header is damaged: {0}")]
    HeaderDamaged(&'static str),
    /// The header is whole and of a version not known here.
    #[error("vault header version {0} is not known to this program")]
    HeaderVersion(u32),
    /// Key derivation parameters below the floor or above what may be spent on untrusted input.
    #[error("key derivation parameters out of range")]
    KdfParameters,
    /// Wrong key, changed, swapped, cut or extended bytes: which one is not told.
    #[error("the decryption operation failed")]
    Decrypt,
    /// Encrypted to a key; no passphrase opens it.
    #[error("encrypted to a key, not under a passphrase")]
    NotForPassphrase,
    /// The file system; a missing header is `NotFound`.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A file with a private key cannot be used.
    #[error("the key file cannot be used: {0}")]
    KeyFile(&'static str),
    /// The system gave no randomness.
    #[error("the system has no randomness to give")]
    Random,
}

impl From<CryptoError> for std::io::Error {
    /// For `Read` and `Write` implementations: everything but an I/O error becomes `InvalidData`.
    fn from(error: CryptoError) -> Self {
        match error {
            CryptoError::Io(e) => e,
            other => std::io::Error::new(std::io::ErrorKind::InvalidData, other),
        }
    }
}
