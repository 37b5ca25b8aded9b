//! A short digest of a text.
use sha2::{Digest, Sha256};

/// First half of the SHA-256 of a text, as a number.
pub(crate) fn digest(text: &str) -> u128 {
    let mut first = [0; 16];
    first.copy_from_slice(&Sha256::digest(text)[..16]);
    u128::from_be_bytes(first)
}
