//! What a reader or writer may have opened and sealed under a passphrase. The passphrase stays with the caller.
use crate::{FormatError, Spool};
use std::io::{Read, Write};

/// What seals bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    /// AES-256-GCM; nonce of 12 bytes (MIF §6.2).
    Aes256Gcm,
    /// XChaCha20-Poly1305; nonce of 24 bytes (ALF §3.4.1).
    XChaCha20Poly1305,
}

/// Bytes under a passphrase, with a key by Argon2id. All but the passphrase is written down in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// What sealed them.
    pub cipher: Cipher,
    /// Salt of Argon2id.
    pub salt: Vec<u8>,
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes.
    pub passes: u32,
    /// Lanes.
    pub lanes: u32,
    /// As long as the cipher's nonce is.
    pub nonce: Vec<u8>,
    /// Ciphertext with the 16 bytes of the tag at its end.
    pub ciphertext: Vec<u8>,
}

/// A passphrase that a reader or writer may use.
pub trait Passphrase: std::fmt::Debug + Send + Sync {
    /// Seals under a new salt and nonce. `aad` is bound to it.
    fn seal(&self, cipher: Cipher, aad: &[u8], plain: &[u8]) -> Result<Sealed, FormatError>;
    /// Opens; absurd parameters are refused before any work is done.
    fn open(&self, aad: &[u8], sealed: &Sealed) -> Result<Vec<u8>, FormatError>;
    /// A stream that encrypts all of a file (age) on its way to `out`.
    fn seal_file(&self, out: Box<dyn Write>) -> Result<Box<dyn SealedFile>, FormatError>;
    /// Scratch space for what is inside such a file, where the caller of [`crate::Catalog`] has none.
    fn spool(&self) -> Option<&dyn Spool> {
        None
    }
    /// What is inside a file that is encrypted as a whole (age).
    fn open_file<'a>(&self, from: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>, FormatError>;
}

/// A file that is encrypted while it is written.
pub trait SealedFile: Write {
    /// Writes what is left; without it the file is cut off.
    fn finish(self: Box<Self>) -> std::io::Result<()>;
}

/// How an age file starts: binary, or in ASCII armour.
const AGE: [&[u8]; 2] = [b"age-encryption.org/v1\n", b"-----BEGIN AGE ENCRYPTED FILE-----"];

/// Is this the start of an age file?
pub fn is_age_head(head: &[u8]) -> bool {
    AGE.iter().any(|magic| head.starts_with(magic))
}

/// Bytes that [`is_age_head`] wants.
pub const AGE_HEAD: usize = 35;
