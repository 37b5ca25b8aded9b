//! The primitives for a vault's own data: XChaCha20-Poly1305, HKDF-SHA256, HMAC-SHA256 and SHA-256, and an unambiguous
//! encoding of lists.
use crate::CryptoError;
use chacha20poly1305::{AeadInOut, KeyInit, Tag, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Length of an authentication tag in bytes.
pub(crate) const TAG_LEN: usize = 16;
/// Length of a nonce in bytes.
pub(crate) const NONCE_LEN: usize = 24;

/// An AEAD cipher with its key, which the cipher wipes on drop.
pub(crate) struct Cipher(XChaCha20Poly1305);

impl Cipher {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self(XChaCha20Poly1305::new(key.into()))
    }

    /// Encrypts `buf` in place and returns the tag.
    pub(crate) fn seal(
        &self,
        nonce: &[u8; NONCE_LEN],
        aad: &[u8],
        buf: &mut [u8],
    ) -> Result<[u8; TAG_LEN], CryptoError> {
        let tag =
            self.0.encrypt_inout_detached(&XNonce::from(*nonce), aad, buf.into()).map_err(|_| CryptoError::Decrypt)?;
        Ok(tag.into())
    }

    /// Decrypts `sealed` (ciphertext, then tag) in place and returns the length of the plaintext.
    pub(crate) fn open(&self, nonce: &[u8; NONCE_LEN], aad: &[u8], sealed: &mut [u8]) -> Result<usize, CryptoError> {
        let len = sealed.len().checked_sub(TAG_LEN).ok_or(CryptoError::Decrypt)?;
        let (text, tag) = sealed.split_at_mut(len);
        let tag: [u8; TAG_LEN] = (&*tag).try_into().map_err(|_| CryptoError::Decrypt)?;
        self.0
            .decrypt_inout_detached(&XNonce::from(*nonce), aad, text.into(), &Tag::from(tag))
            .map_err(|_| CryptoError::Decrypt)?;
        Ok(len)
    }
}

/// HKDF-SHA256 with a 32-byte output.
pub(crate) fn derive_key(ikm: &[u8; 32], salt: &[u8], info: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut out = Zeroizing::new([0; 32]);
    // `expand` fails only if the output has more than 255 blocks, and 32 bytes are one block.
    let expanded = Hkdf::<Sha256>::new(Some(salt), ikm).expand(info, out.as_mut());
    debug_assert!(expanded.is_ok());
    out
}

/// An HMAC-SHA256 computation with a key and no data yet.
pub(crate) fn hmac(key: &[u8; 32]) -> Hmac<Sha256> {
    // The key is zero-padded to the block length, as HMAC itself would do, because the constructor for a key of the
    // block length cannot fail.
    let mut block = Zeroizing::new([0; 64]);
    block[..32].copy_from_slice(key);
    <Hmac<Sha256> as hmac::KeyInit>::new((&*block).into())
}

/// HMAC-SHA256 of one message.
pub(crate) fn hmac_sha256(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let mut mac = hmac(key);
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// SHA-256 of a domain label and a message.
pub(crate) fn labelled_sha256(domain: &[u8], message: &[u8]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update((domain.len() as u64).to_le_bytes());
    hasher.update(domain);
    hasher.update(message);
    hasher.finalize().into()
}

/// Joins the parts, each preceded by its length as u64 LE, so that different lists produce different bytes.
pub(crate) fn encode_list(parts: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::with_capacity(parts.iter().map(|p| p.len() + 8).sum());
    for part in parts {
        out.extend_from_slice(&(part.len() as u64).to_le_bytes());
        out.extend_from_slice(part);
    }
    out
}
