//! Keyed hashing: ids, names and fingerprints that reveal nothing about the content.
use crate::hazmat;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// HMAC-SHA256 over the parts, each preceded by its length, truncated to 16 bytes.
pub fn keyed_id(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 16] {
    KeyedHasher::new(key).id_of(parts)
}

/// HMAC-SHA256 over the parts, each preceded by its length, so that `["ab", "c"]` and `["a", "bc"]` differ.
pub fn keyed_digest(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    KeyedHasher::new(key).digest_of(parts)
}

/// Incremental HMAC-SHA256. Lengths are not included, so a caller that hashes several parts must add their lengths. A
/// clone continues from the current state, so a hasher without data that is kept saves preparing its key for each
/// digest. The state is wiped on drop.
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

    /// As [`keyed_id`], with the key of this hasher, which must have no data yet.
    pub fn id_of(&self, parts: &[&[u8]]) -> [u8; 16] {
        let full_digest = self.digest_of(parts);
        std::array::from_fn(|i| full_digest[i])
    }

    fn digest_of(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut hasher = self.clone();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finish()
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
