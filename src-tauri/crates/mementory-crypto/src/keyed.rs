//! Keyed hashing: ids, names and fingerprints that reveal nothing about the content.
use crate::hazmat;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// HMAC-SHA256 over the parts, each preceded by its length, truncated to 16 bytes.
pub fn keyed_id(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 16] {
    let full_digest = keyed_digest(key, parts);
    let mut out = [0; 16];
    out.copy_from_slice(&full_digest[..16]);
    out
}

/// HMAC-SHA256 over the parts, each preceded by its length, so that `["ab", "c"]` and `["a", "bc"]` differ.
pub fn keyed_digest(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = hazmat::hmac(key);
    for part in parts {
        mac.update(&(part.len() as u64).to_le_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// Incremental HMAC-SHA256. Lengths are not included, so a caller that hashes several parts must add their lengths. A
/// clone continues from the current state.
#[derive(Clone)]
pub struct KeyedHasher(Hmac<Sha256>);

impl KeyedHasher {
    /// Returns a hasher with this key that has no data yet.
    pub fn new(key: &[u8; 32]) -> Self {
        Self(hazmat::hmac(key))
    }

    /// Adds data. The digest is the same however the data is split into calls.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all data.
    pub fn finish(self) -> [u8; 32] {
        self.0.finalize().into_bytes().into()
    }
}

impl std::fmt::Debug for KeyedHasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyedHasher")
    }
}

/// True if two digests are equal, compared in constant time.
pub fn digests_equal(one: &[u8; 32], other: &[u8; 32]) -> bool {
    subtle::ConstantTimeEq::ct_eq(one.as_slice(), other.as_slice()).into()
}
