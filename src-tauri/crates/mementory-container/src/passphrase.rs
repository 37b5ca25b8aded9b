//! Encryption and decryption for readers and writers that never see the passphrase itself.
use super::key_pair::{KeyDerivation, KeyPair};
use super::spool::Spool;
use crate::FormatError;
use std::io::{Read, Write};

/// An authenticated cipher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    /// AES-256-GCM; nonce of 12 bytes.
    Aes256Gcm,
    /// XChaCha20-Poly1305; nonce of 24 bytes.
    XChaCha20Poly1305,
}

/// Bytes encrypted under a passphrase, with a key derived by Argon2id. A file stores all these fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The cipher, which determines the length of the nonce.
    pub cipher: Cipher,
    /// Salt of Argon2id.
    pub salt: Vec<u8>,
    /// Memory of Argon2id in KiB.
    pub memory_kib: u32,
    /// Number of passes of Argon2id.
    pub passes: u32,
    /// Number of lanes of Argon2id.
    pub lanes: u32,
    /// Nonce; its length depends on the cipher.
    pub nonce: Vec<u8>,
    /// Ciphertext, followed by the tag of 16 bytes.
    pub ciphertext: Vec<u8>,
}

/// Largest accepted costs of Argon2id: 448 MiB, 16 lanes, and the work of 64 passes over 64 MiB.
const MAX_MEMORY_KIB: u64 = 448 << 10;
const MAX_LANES: u64 = 16;
const MAX_KIB_PASSES: u64 = 64 * 64 * 1024;

impl Sealed {
    /// True if these costs of Argon2id (KiB, passes, lanes) are accepted. Readers refuse other costs before they ask
    /// for a passphrase, so that the user does not type a passphrase for a file that cannot be opened.
    pub fn is_affordable(memory_kib: u64, passes: u64, lanes: u64) -> bool {
        (1..=MAX_LANES).contains(&lanes)
            && (8 * lanes..=MAX_MEMORY_KIB).contains(&memory_kib)
            && passes >= 1
            && memory_kib.saturating_mul(passes) <= MAX_KIB_PASSES
    }
}

/// A passphrase that a reader or writer may use.
pub trait Passphrase: std::fmt::Debug + Send + Sync {
    /// Encrypts with a new salt and nonce. `aad` (additional data) is authenticated but not encrypted.
    fn seal(&self, cipher: Cipher, aad: &[u8], plain: &[u8]) -> Result<Sealed, FormatError>;
    /// Decrypts. Excessive costs of Argon2id are refused before the key is derived.
    fn open(&self, aad: &[u8], sealed: &Sealed) -> Result<Vec<u8>, FormatError>;
    /// The key pairs of the passphrase, for files that are encrypted to their owner's key. Excessive costs of Argon2id are
    /// refused before anything is derived.
    fn key_pair(&self, derivation: &KeyDerivation<'_>) -> Result<Box<dyn KeyPair>, FormatError> {
        let _ = derivation;
        Err(FormatError::invalid("not_supported", "encryption", "this passphrase gives no key pairs"))
    }
    /// 16 random bytes, for the salt of [`Passphrase::key_pair`] and for ids that must reveal nothing.
    fn random_id(&self) -> Result<[u8; 16], FormatError> {
        Err(FormatError::invalid("not_supported", "encryption", "this passphrase gives no random bytes"))
    }
    /// A stream that encrypts a whole file (age) and writes it to `out`.
    fn seal_file(&self, out: Box<dyn Write>) -> Result<Box<dyn SealedFile>, FormatError>;
    /// Scratch space for the content of an encrypted file, used if [`crate::Catalog::open_with`] is given no spool.
    fn spool(&self) -> Option<&dyn Spool> {
        None
    }
    /// A stream that decrypts a file that is encrypted as a whole (age).
    fn open_file<'a>(&self, from: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>, FormatError>;
}

/// A file that is encrypted while it is written.
pub trait SealedFile: Write {
    /// Writes the end of the file. Without this call the file is incomplete.
    fn finish(self: Box<Self>) -> std::io::Result<()>;
}

/// First bytes of an age file, in binary form and in ASCII armour.
const AGE_SIGNATURES: [&[u8]; 2] = [b"age-encryption.org/v1\n", b"-----BEGIN AGE ENCRYPTED FILE-----"];

/// True for the start of an age file.
pub fn is_age_head(head: &[u8]) -> bool {
    AGE_SIGNATURES.iter().any(|magic| head.starts_with(magic))
}

/// Number of bytes from the start of a file that [`is_age_head`] needs.
pub const AGE_HEAD: usize = 35;
