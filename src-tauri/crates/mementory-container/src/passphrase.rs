//! Encryption and decryption under a passphrase, as readers and writers may use it. The passphrase stays with the caller.
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

/// Bytes encrypted under a passphrase, with a key derived by Argon2id. A file stores all of this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The cipher.
    pub cipher: Cipher,
    /// Salt of Argon2id.
    pub salt: Vec<u8>,
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes.
    pub passes: u32,
    /// Lanes.
    pub lanes: u32,
    /// Nonce; its length depends on the cipher.
    pub nonce: Vec<u8>,
    /// Ciphertext, followed by the tag of 16 bytes.
    pub ciphertext: Vec<u8>,
}

/// A passphrase that a reader or writer may use.
pub trait Passphrase: std::fmt::Debug + Send + Sync {
    /// Encrypts with a new salt and nonce. `aad` is authenticated with it.
    fn seal(&self, cipher: Cipher, aad: &[u8], plain: &[u8]) -> Result<Sealed, FormatError>;
    /// Decrypts. Excessive parameters are refused before the key is derived.
    fn open(&self, aad: &[u8], sealed: &Sealed) -> Result<Vec<u8>, FormatError>;
    /// A stream that encrypts a whole file (age) and writes it to `out`.
    fn seal_file(&self, out: Box<dyn Write>) -> Result<Box<dyn SealedFile>, FormatError>;
    /// Scratch space for the content of such a file, if the caller of [`crate::Catalog`] has none.
    fn spool(&self) -> Option<&dyn Spool> {
        None
    }
    /// The content of a file that is encrypted as a whole (age).
    fn open_file<'a>(&self, from: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>, FormatError>;
}

/// A file that is encrypted while it is written.
pub trait SealedFile: Write {
    /// Writes the end of the file. Without this call the file is incomplete.
    fn finish(self: Box<Self>) -> std::io::Result<()>;
}

/// Start of an age file: binary, or ASCII armour.
const AGE: [&[u8]; 2] = [b"age-encryption.org/v1\n", b"-----BEGIN AGE ENCRYPTED FILE-----"];

/// True for the start of an age file.
pub fn is_age_head(head: &[u8]) -> bool {
    AGE.iter().any(|magic| head.starts_with(magic))
}

/// Bytes that [`is_age_head`] needs.
pub const AGE_HEAD: usize = 35;
