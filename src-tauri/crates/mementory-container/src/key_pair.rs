//! Key pairs that are derived from a passphrase, for files that are encrypted to their owner's key. Readers and writers
//! never see the private halves.
use crate::FormatError;

/// Parameters for deriving key pairs from a passphrase. Argon2id derives a secret from the passphrase, and HKDF-SHA256
/// with a label derives the seed of each pair from the secret.
#[derive(Debug, Clone, Copy)]
pub struct KeyDerivation<'a> {
    /// Salt of Argon2id.
    pub salt: &'a [u8],
    /// Memory of Argon2id in KiB.
    pub memory_kib: u32,
    /// Number of passes of Argon2id.
    pub passes: u32,
    /// Number of lanes of Argon2id.
    pub lanes: u32,
    /// Label of the Ed25519 pair, for signatures.
    pub signing_label: &'a [u8],
    /// Label of the X25519 pair, for encryption.
    pub agreement_label: &'a [u8],
}

/// A 32-byte key that only the owner of an X25519 key can read. It is wrapped with AES key wrap (RFC 3394), under a key
/// derived by Diffie-Hellman from an ephemeral key pair and the owner's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrappedKey {
    /// Public half of the ephemeral pair.
    pub ephemeral: Vec<u8>,
    /// The wrapped key, 40 bytes.
    pub wrapped: Vec<u8>,
}

/// Content that is encrypted with AES-256-GCM under a key that encrypts nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedContent {
    /// The content's key, wrapped under the key in a [`WrappedKey`]; 40 bytes.
    pub wrapped_key: Vec<u8>,
    /// Nonce of 12 bytes.
    pub nonce: Vec<u8>,
    /// Ciphertext, followed by the tag of 16 bytes.
    pub ciphertext: Vec<u8>,
}

/// The key pairs derived from a passphrase. `label` is the HKDF label of the key that wraps a [`WrappedKey`].
pub trait KeyPair: std::fmt::Debug + Send + Sync {
    /// Public half of the Ed25519 pair.
    fn signing_key(&self) -> [u8; 32];
    /// Public half of the X25519 pair.
    fn agreement_key(&self) -> [u8; 32];
    /// A new random key that only the owner can read.
    fn new_key(&self, label: &[u8]) -> Result<WrappedKey, FormatError>;
    /// Encrypts content under a new random key, which is wrapped under `key`. `aad` is additional data that is
    /// authenticated together with the content.
    fn seal(&self, key: &WrappedKey, label: &[u8], aad: &[u8], plain: &[u8]) -> Result<SealedContent, FormatError>;
    /// Decrypts content. `aad` is the additional data that was authenticated together with the content.
    fn open(&self, key: &WrappedKey, label: &[u8], aad: &[u8], content: &SealedContent)
    -> Result<Vec<u8>, FormatError>;
    /// Signs with the Ed25519 pair.
    fn sign(&self, message: &[u8]) -> [u8; 64];
    /// True if `signature` is a signature of `message` by the Ed25519 key `public`.
    fn verify(&self, public: &[u8], message: &[u8], signature: &[u8]) -> bool;
}
