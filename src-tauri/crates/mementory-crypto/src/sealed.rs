//! Data encrypted with a passphrase in files of other programs: AES-256-GCM or XChaCha20-Poly1305 with a key from
//! Argon2id. The file contains all parameters. The vault itself does not use this module.
use crate::{CryptoError, KdfParams, Secret, random_bytes};
use aes_gcm::{
    Aes256Gcm,
    aead::{AeadInOut, KeyInit},
};
use chacha20poly1305::XChaCha20Poly1305;
use zeroize::Zeroizing;

/// Length of a tag in bytes.
const TAG_LEN: usize = 16;
/// Limits for files from other programs: 448 MiB of memory, 16 lanes, and as much work (KiB times passes) as 64 passes
/// over 64 MiB.
const MAX_MEMORY_KIB: u32 = 448 << 10;
const MAX_KIB_TIMES_PASSES: u64 = 64 * 64 * 1024;
const MAX_LANES: u32 = 16;

/// A cipher for data that is encrypted under a passphrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassphraseCipher {
    /// AES-256-GCM with a nonce of 12 bytes.
    Aes256Gcm,
    /// XChaCha20-Poly1305 with a nonce of 24 bytes.
    XChaCha20Poly1305,
}

impl PassphraseCipher {
    fn seal(self, key: &Secret, aad: &[u8], bytes: &mut Vec<u8>) -> Result<Vec<u8>, CryptoError> {
        match self {
            Self::Aes256Gcm => seal::<Aes256Gcm, 12>(key.bytes(), aad, bytes),
            Self::XChaCha20Poly1305 => seal::<XChaCha20Poly1305, 24>(key.bytes(), aad, bytes),
        }
    }

    fn open(self, key: &Secret, nonce: &[u8], aad: &[u8], bytes: &mut Vec<u8>) -> Result<(), CryptoError> {
        match self {
            Self::Aes256Gcm => open::<Aes256Gcm>(key.bytes(), nonce, aad, bytes),
            Self::XChaCha20Poly1305 => open::<XChaCha20Poly1305>(key.bytes(), nonce, aad, bytes),
        }
    }
}

/// Encrypted data and everything that is needed to decrypt it, except the passphrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassphraseSealed {
    /// The cipher, which determines the length of the nonce.
    pub cipher: PassphraseCipher,
    /// The salt for Argon2id.
    pub salt: Vec<u8>,
    /// Memory of Argon2id in KiB.
    pub memory_kib: u32,
    /// Number of passes of Argon2id over its memory.
    pub passes: u32,
    /// Number of lanes of Argon2id, which can be computed in parallel.
    pub lanes: u32,
    /// The nonce, as long as the cipher requires.
    pub nonce: Vec<u8>,
    /// The ciphertext, followed by the tag of 16 bytes.
    pub ciphertext: Vec<u8>,
}

/// Encrypts with a new salt and nonce, at the lowest cost allowed for a vault's key slots. Decryption needs the same
/// `aad`.
pub fn seal_with_passphrase(
    passphrase: &[u8],
    cipher: PassphraseCipher,
    aad: &[u8],
    plaintext: &[u8],
) -> Result<PassphraseSealed, CryptoError> {
    let params = KdfParams::floor();
    let salt: [u8; 16] = random_bytes()?;
    let key = derive(passphrase, &salt, params)?;
    let mut ciphertext = Vec::with_capacity(plaintext.len() + TAG_LEN);
    ciphertext.extend_from_slice(plaintext);
    let nonce = cipher.seal(&key, aad, &mut ciphertext)?;
    let KdfParams { memory_kib, passes, lanes } = params;
    Ok(PassphraseSealed { cipher, salt: salt.to_vec(), memory_kib, passes, lanes, nonce, ciphertext })
}

/// Decrypts. Refuses parameters that cost too much before any work is done. A wrong passphrase and changed data
/// give the same error.
pub fn open_with_passphrase(
    passphrase: &[u8],
    aad: &[u8],
    sealed: &PassphraseSealed,
) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
    let params = KdfParams { memory_kib: sealed.memory_kib, passes: sealed.passes, lanes: sealed.lanes };
    let key = derive(passphrase, &sealed.salt, params)?;
    let mut plaintext = Zeroizing::new(sealed.ciphertext.clone());
    sealed.cipher.open(&key, &sealed.nonce, aad, &mut plaintext)?;
    Ok(plaintext)
}

/// Encrypts with AES-256-GCM: replaces the plaintext with ciphertext and tag, and returns the new nonce.
pub(crate) fn seal_gcm(key: &[u8; 32], aad: &[u8], bytes: &mut Vec<u8>) -> Result<Vec<u8>, CryptoError> {
    seal::<Aes256Gcm, 12>(key, aad, bytes)
}

/// Decrypts with AES-256-GCM in place.
pub(crate) fn open_gcm(key: &[u8; 32], nonce: &[u8], aad: &[u8], bytes: &mut Vec<u8>) -> Result<(), CryptoError> {
    open::<Aes256Gcm>(key, nonce, aad, bytes)
}

/// Replaces the plaintext with ciphertext and tag, and returns the new nonce.
fn seal<C: KeyInit + AeadInOut, const NONCE_LEN: usize>(
    key: &[u8; 32],
    aad: &[u8],
    bytes: &mut Vec<u8>,
) -> Result<Vec<u8>, CryptoError> {
    let nonce: [u8; NONCE_LEN] = random_bytes()?;
    let decrypt_error = |_| CryptoError::Decrypt;
    let cipher = C::new_from_slice(key).map_err(|_| CryptoError::Decrypt)?;
    let nonce_ref = nonce.as_slice().try_into().map_err(|_| CryptoError::Decrypt)?;
    cipher.encrypt_in_place(nonce_ref, aad, bytes).map_err(decrypt_error)?;
    Ok(nonce.to_vec())
}

fn open<C: KeyInit + AeadInOut>(
    key: &[u8; 32],
    nonce: &[u8],
    aad: &[u8],
    bytes: &mut Vec<u8>,
) -> Result<(), CryptoError> {
    let decrypt_error = |_| CryptoError::Decrypt;
    let cipher = C::new_from_slice(key).map_err(|_| CryptoError::Decrypt)?;
    let nonce = nonce.try_into().map_err(|_| CryptoError::Decrypt)?;
    cipher.decrypt_in_place(nonce, aad, bytes).map_err(decrypt_error)
}

/// Derives a 32-byte key with Argon2id 0x13. A vault's minimum cost does not apply, because other programs choose their
/// own cost.
pub(crate) fn derive(passphrase: &[u8], salt: &[u8], params: KdfParams) -> Result<Secret, CryptoError> {
    let work = u64::from(params.memory_kib) * u64::from(params.passes);
    if params.memory_kib > MAX_MEMORY_KIB
        || work > MAX_KIB_TIMES_PASSES
        || params.lanes > MAX_LANES
        || !(8..=64).contains(&salt.len())
    {
        return Err(CryptoError::KdfParameters);
    }
    params.derive_unchecked(passphrase, salt)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn data_opens_with_its_passphrase_and_context_only() {
        for (cipher, nonce) in [(PassphraseCipher::Aes256Gcm, 12), (PassphraseCipher::XChaCha20Poly1305, 24)] {
            let sealed = seal_with_passphrase(b"four words of it", cipher, b"place", b"what I remember").unwrap();
            let open = |words: &[u8], aad: &[u8], sealed: &_| open_with_passphrase(words, aad, sealed);
            let is_refused = |outcome: Result<_, _>| matches!(outcome, Err(CryptoError::Decrypt));
            assert_eq!((sealed.nonce.len(), sealed.ciphertext.len()), (nonce, 15 + 16));
            assert_eq!(open(b"four words of it", b"place", &sealed).unwrap().as_slice(), b"what I remember");
            assert!(is_refused(open(b"other words", b"place", &sealed)));
            assert!(is_refused(open(b"four words of it", b"elsewhere", &sealed)));
            for position in [0, 14, 15, 30] {
                let mut changed = sealed.clone();
                changed.ciphertext[position] ^= 1;
                assert!(is_refused(open(b"four words of it", b"place", &changed)));
            }
            let wrong_nonce = PassphraseSealed { nonce: vec![0; 3], ..sealed.clone() };
            assert!(is_refused(open(b"four words of it", b"place", &wrong_nonce)));
            let second_sealed =
                seal_with_passphrase(b"four words of it", cipher, b"place", b"what I remember").unwrap();
            assert!(second_sealed.salt != sealed.salt && second_sealed.nonce != sealed.nonce);
        }
    }

    #[test]
    fn data_encrypted_by_another_program_opens() {
        // python: argon2-cffi 25.1 hash_secret_raw(b"correct horse", 0..15, t=2, m=1024, p=2, 32, ID), cryptography 50
        // AESGCM(key).encrypt(bytes(range(12)), b'{"hello":"world"}', None)
        let sealed = PassphraseSealed {
            cipher: PassphraseCipher::Aes256Gcm,
            salt: (0..16).collect(),
            memory_kib: 1024,
            passes: 2,
            lanes: 2,
            nonce: (0..12).collect(),
            ciphertext: hex::decode("7b88193c47fac79f35b11048340df2a102813835bff4fb1713e1bffd2cfe733f0e").unwrap(),
        };
        assert_eq!(open_with_passphrase(b"correct horse", b"", &sealed).unwrap().as_slice(), br#"{"hello":"world"}"#);
    }

    #[test]
    fn excessive_costs_are_refused_before_any_work() {
        let sealed = PassphraseSealed {
            cipher: PassphraseCipher::Aes256Gcm,
            salt: vec![0; 16],
            memory_kib: u32::MAX,
            passes: 1,
            lanes: 1,
            nonce: vec![0; 12],
            ciphertext: vec![0; 32],
        };
        assert!(matches!(open_with_passphrase(b"x", b"", &sealed), Err(CryptoError::KdfParameters)));
        let many_passes = PassphraseSealed { memory_kib: 64 * 1024, passes: u32::MAX, ..sealed.clone() };
        assert!(matches!(open_with_passphrase(b"x", b"", &many_passes), Err(CryptoError::KdfParameters)));
        let no_salt = PassphraseSealed { memory_kib: 1024, salt: vec![], ..sealed };
        assert!(matches!(open_with_passphrase(b"x", b"", &no_salt), Err(CryptoError::KdfParameters)));
    }
}
