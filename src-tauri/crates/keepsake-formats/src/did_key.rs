//! Ed25519 public keys as did:key writes them: multibase `z`, Base58 as Bitcoin has it, multicodec 0xed.

/// Multicodec of an Ed25519 public key.
const ED25519: [u8; 2] = [0xed, 0x01];
/// Anything much longer is no key: 34 bytes are 48 digits.
const LONGEST: usize = 128;

/// `z6Mk…` of 32 bytes.
pub(crate) fn multikey(key: &[u8]) -> String {
    let bytes: Vec<u8> = ED25519.iter().chain(key).copied().collect();
    format!("z{}", bs58::encode(bytes).into_string())
}

/// 32 bytes of `did:key:z6Mk…` or `z6Mk…`; a fragment behind it repeats it.
pub fn did_key(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("did:key:").unwrap_or(text).split('#').next()?.strip_prefix('z')?;
    base58(digits)?.strip_prefix(&ED25519).filter(|key| key.len() == 32).map(<[u8]>::to_vec)
}

/// Bytes of Base58 digits. None for other characters, for none and for very many.
pub(crate) fn base58(digits: &str) -> Option<Vec<u8>> {
    if digits.is_empty() || digits.len() > LONGEST {
        return None;
    }
    bs58::decode(digits).into_vec().ok()
}
