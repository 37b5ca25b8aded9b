//! Public keys as in did:key: the multibase prefix `z`, then the multicodec and the key in Bitcoin's Base58.

/// Multicodec of an Ed25519 public key.
const ED25519_CODEC: [u8; 2] = [0xed, 0x01];
/// Accepted multicodecs, each with the length of its keys in bytes: Ed25519, P-256 (0x1200) and P-384 (0x1201). The
/// last two are compressed points.
const ACCEPTED_CODECS: [([u8; 2], usize); 3] = [(ED25519_CODEC, 32), ([0x80, 0x24], 33), ([0x81, 0x24], 49)];
/// Longest accepted number of Base58 digits. The longest valid key has 51 bytes, which are 70 digits.
const MAX_BASE58_DIGITS: usize = 128;

/// The 32-byte Ed25519 key as `z6Mk…`.
pub fn multikey(key: &[u8]) -> String {
    let bytes: Vec<u8> = ED25519_CODEC.iter().chain(key).copied().collect();
    format!("z{}", bs58::encode(bytes).into_string())
}

/// The key in `did:key:z…` or `z…`. A fragment after `#`, which repeats the key, is ignored. The length of the result
/// identifies the algorithm: 32 bytes for Ed25519, 33 for P-256 and 49 for P-384.
pub fn did_key(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("did:key:").unwrap_or(text).split('#').next()?.strip_prefix('z')?;
    let bytes = base58(digits)?;
    let (codec, key) = bytes.split_at_checked(2)?;
    ACCEPTED_CODECS.iter().any(|(known, len)| known == codec && *len == key.len()).then(|| key.to_vec())
}

/// The bytes of Base58 digits. None for an empty text, for other characters and for more than 128 digits.
pub fn base58(digits: &str) -> Option<Vec<u8>> {
    if digits.is_empty() || digits.len() > MAX_BASE58_DIGITS {
        return None;
    }
    bs58::decode(digits).into_vec().ok()
}
