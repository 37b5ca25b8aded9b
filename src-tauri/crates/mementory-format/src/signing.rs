//! Keys for signing, and signatures found in files.
use crate::FormatError;

/// Signs on behalf of a writer, which never sees the private key.
pub trait Signer: std::fmt::Debug + Send + Sync {
    /// `ed25519` or `ml-dsa-65`.
    fn algorithm(&self) -> &'static str;
    /// The public key in raw bytes: 32 for Ed25519, 1952 for ML-DSA-65.
    fn public_key(&self) -> Vec<u8>;
    /// Signs these bytes as they are.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, FormatError>;
}

/// Verifies signatures for writers, which have no access to cryptography.
pub trait Verifier: std::fmt::Debug + Send + Sync {
    /// True if the signature in `signed` is valid for the key and the bytes in `signed`.
    fn is_valid(&self, signed: &Signed) -> bool;
}

/// A signature and the bytes that were signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// Id of the signed tombstone. None if the signature is for the whole file.
    pub tombstone: Option<String>,
    /// Place of the signature in the file.
    pub place: String,
    /// Algorithm of the key and signature in `token`: `ed25519`, `ml-dsa-65`, or the name that the file uses. For
    /// `es256` and `es384`, `token` contains a SEC1 point and a signature in the form `r || s` (JOSE). For `rs256`,
    /// `rs384` and `rs512`, it contains a DER `SubjectPublicKeyInfo` and a PKCS#1 v1.5 signature.
    pub algorithm: String,
    /// Public key and signature in raw bytes. None if the file does not encode them as the format requires.
    pub token: Option<(Vec<u8>, Vec<u8>)>,
    /// The exact bytes that were signed.
    pub message: Vec<u8>,
}
