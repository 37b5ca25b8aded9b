//! Errors as kinds that callers match on. No variant reveals why a decryption failed.

/// Cryptographic errors. None contains a key, a passphrase or content.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CryptoError {
    /// The header is intact, but no key slot opens with this secret.
    #[error("no key slot opens with this secret")]
    WrongSecret,
    /// The header is damaged; the text names the failed check.
    #[error("the vault header is damaged: {0}")]
    HeaderDamaged(&'static str),
    /// The header is intact, but its version is unknown to this program.
    #[error("vault header version {0} is not known to this program")]
    HeaderVersion(u32),
    /// The key derivation parameters are below the minimum, or above the limit for untrusted input.
    #[error("key derivation parameters out of range")]
    KdfParameters,
    /// The key is wrong, or bytes were changed, swapped, removed or added. The error does not reveal which.
    #[error("the decryption operation failed")]
    Decrypt,
    /// The file is encrypted to a key, not with a passphrase.
    #[error("encrypted to a key, not under a passphrase")]
    NotForPassphrase,
    /// The file system failed. A missing header is `NotFound`.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A file with a private key cannot be used.
    #[error("the key file cannot be used: {0}")]
    KeyFile(&'static str),
    /// The system provides no randomness.
    #[error("the system's random number generator failed")]
    Random,
}

impl From<CryptoError> for std::io::Error {
    /// Lets implementations of `Read` and `Write` return these errors. Any error other than an I/O error becomes
    /// `InvalidData`.
    fn from(error: CryptoError) -> Self {
        match error {
            CryptoError::Io(e) => e,
            other => std::io::Error::new(std::io::ErrorKind::InvalidData, other),
        }
    }
}
