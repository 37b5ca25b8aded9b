//! Keys that writers sign with, and signatures that readers find.
use crate::FormatError;

/// A private key that a writer may sign with. The key stays with the caller.
pub trait Signer: std::fmt::Debug + Send + Sync {
    /// `ed25519` or `ml-dsa-65`.
    fn algorithm(&self) -> &'static str;
    /// The public key: 32 raw bytes (Ed25519), or 1952 (ML-DSA-65).
    fn public_key(&self) -> Vec<u8>;
    /// Signs exactly these bytes.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, FormatError>;
}

/// A signature, and what it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// Id of the tombstone that it stands in; None = it is over the whole file.
    pub tombstone: Option<String>,
    /// Where it stands.
    pub place: String,
    /// What kind of key and signature `token` holds: `ed25519`, `ml-dsa-65`, or what the file says. `es256` and `es384`:
    /// SEC1 point and `r || s` (JOSE). `rs256`, `rs384`, `rs512`: DER `SubjectPublicKeyInfo` and PKCS#1 v1.5.
    pub algorithm: String,
    /// Public key and signature, in bytes; None = not in the format's form.
    pub token: Option<(Vec<u8>, Vec<u8>)>,
    /// The exact bytes that were signed.
    pub message: Vec<u8>,
}
