//! Public keys as did:key writes them: multibase `z`, Base58 as Bitcoin has it, a multicodec and the key.

/// Multicodec of an Ed25519 public key.
const ED25519: [u8; 2] = [0xed, 0x01];
/// Which multicodecs are read, and how long their keys are: Ed25519, P-256 (0x1200), P-384 (0x1201), points compressed.
const CODECS: [([u8; 2], usize); 3] = [(ED25519, 32), ([0x80, 0x24], 33), ([0x81, 0x24], 49)];
/// Anything much longer is no key: 51 bytes are 70 digits.
const LONGEST: usize = 128;

/// `z6Mk…` of 32 bytes.
pub fn multikey(key: &[u8]) -> String {
    let bytes: Vec<u8> = ED25519.iter().chain(key).copied().collect();
    format!("z{}", bs58::encode(bytes).into_string())
}

/// The key of `did:key:z…` or `z…`; a fragment behind it repeats it. Its length says what it is: 32 bytes Ed25519, 33 a
/// compressed point of P-256, 49 one of P-384.
pub fn did_key(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("did:key:").unwrap_or(text).split('#').next()?.strip_prefix('z')?;
    let bytes = base58(digits)?;
    let (codec, key) = bytes.split_at_checked(2)?;
    CODECS.iter().any(|(known, len)| known == codec && *len == key.len()).then(|| key.to_vec())
}

/// Bytes of Base58 digits. None for other characters, for none and for very many.
pub fn base58(digits: &str) -> Option<Vec<u8>> {
    if digits.is_empty() || digits.len() > LONGEST {
        return None;
    }
    bs58::decode(digits).into_vec().ok()
}
