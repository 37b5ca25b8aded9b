//! Computes the SHA-256 of bytes while they are read for another purpose, so that they are read and unpacked once.
use sha2::{Digest, Sha256};
use std::io::Read;

/// A reader that hashes the bytes that are read through it.
pub(super) struct HashingReader<'r> {
    inner: &'r mut dyn Read,
    /// Computes the digest. None if no digest is needed.
    hasher: Option<Sha256>,
    is_at_end: bool,
}

impl<'r> HashingReader<'r> {
    /// Reads through `inner`. Computes the digest only if `is_needed` is true.
    pub(super) fn new(inner: &'r mut dyn Read, is_needed: bool) -> Self {
        Self { inner, hasher: is_needed.then(Sha256::new), is_at_end: false }
    }

    /// The digest in hex. None if no digest was needed, or if the bytes were not read to their end.
    pub(super) fn digest(self) -> Option<String> {
        self.hasher.filter(|_| self.is_at_end).map(|hasher| hex::encode(hasher.finalize()))
    }
}

impl Read for HashingReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buf)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&buf[..n]);
        }
        self.is_at_end |= n == 0 && !buf.is_empty();
        Ok(n)
    }
}
