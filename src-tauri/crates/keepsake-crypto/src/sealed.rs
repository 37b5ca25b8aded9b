//! Bytes under a passphrase as other programs' files have them: AES-256-GCM with a key by Argon2id, everything but the
//! passphrase written down beside. The vault itself never uses this.
use crate::{CryptoError, KdfParams, Secret, random_bytes};
use aes_gcm::{AeadInOut, Aes256Gcm, KeyInit, Nonce, Tag};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use zeroize::{Zeroize, Zeroizing};

/// Bytes of a tag and of a nonce.
const TAG_LEN: usize = 16;
const NONCE_LEN: usize = 12;
/// What may be spent on a file from elsewhere: 1 GiB, and 64 passes over 64 MiB or as much work.
const MOST_MEMORY_KIB: u32 = 1 << 20;
const MOST_WORK: u64 = 64 * 64 * 1024;
const MOST_LANES: u32 = 16;

/// Sealed bytes and what opens them, the passphrase apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassphraseSealed {
    /// Salt of Argon2id.
    pub salt: Vec<u8>,
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes.
    pub passes: u32,
    /// Lanes.
    pub lanes: u32,
    /// 12 bytes.
    pub nonce: Vec<u8>,
    /// Ciphertext with the 16 bytes of the tag at its end.
    pub ciphertext: Vec<u8>,
}

/// Seals under a new salt and nonce, at the lowest cost that a vault's own slots may have.
pub fn seal_with_passphrase(passphrase: &[u8], plain: &[u8]) -> Result<PassphraseSealed, CryptoError> {
    let KdfParams { memory_kib, passes, lanes } = KdfParams::floor();
    let salt: [u8; 16] = random_bytes()?;
    let nonce: [u8; NONCE_LEN] = random_bytes()?;
    let key = derive(passphrase, &salt, (memory_kib, passes, lanes))?;
    let mut ciphertext = Vec::with_capacity(plain.len() + TAG_LEN);
    ciphertext.extend_from_slice(plain);
    let tag: [u8; TAG_LEN] = Aes256Gcm::new(key.bytes().into())
        .encrypt_inout_detached(&Nonce::from(nonce), &[], ciphertext.as_mut_slice().into())
        .map_err(|_| CryptoError::Decrypt)?
        .into();
    ciphertext.extend_from_slice(&tag);
    Ok(PassphraseSealed { salt: salt.to_vec(), memory_kib, passes, lanes, nonce: nonce.to_vec(), ciphertext })
}

/// Opens. Parameters beyond reason are refused before any work is done; a wrong passphrase and changed bytes are the
/// same error.
pub fn open_with_passphrase(passphrase: &[u8], sealed: &PassphraseSealed) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
    let nonce: [u8; NONCE_LEN] = sealed.nonce.as_slice().try_into().map_err(|_| CryptoError::Decrypt)?;
    let len = sealed.ciphertext.len().checked_sub(TAG_LEN).ok_or(CryptoError::Decrypt)?;
    let (text, tag) = sealed.ciphertext.split_at(len);
    let tag: [u8; TAG_LEN] = tag.try_into().map_err(|_| CryptoError::Decrypt)?;
    let key = derive(passphrase, &sealed.salt, (sealed.memory_kib, sealed.passes, sealed.lanes))?;
    let mut plain = Zeroizing::new(text.to_vec());
    Aes256Gcm::new(key.bytes().into())
        .decrypt_inout_detached(&Nonce::from(nonce), &[], plain.as_mut_slice().into(), &Tag::from(tag))
        .map_err(|_| CryptoError::Decrypt)?;
    Ok(plain)
}

/// Argon2id 0x13, 32 bytes. Below the vault's floor too: others choose their own cost.
fn derive(passphrase: &[u8], salt: &[u8], (memory_kib, passes, lanes): (u32, u32, u32)) -> Result<Secret, CryptoError> {
    let work = u64::from(memory_kib) * u64::from(passes);
    if memory_kib > MOST_MEMORY_KIB || work > MOST_WORK || lanes > MOST_LANES || !(8..=64).contains(&salt.len()) {
        return Err(CryptoError::KdfParameters);
    }
    let params = Params::new(memory_kib, passes, lanes, Some(32)).map_err(|_| CryptoError::KdfParameters)?;
    let count = params.block_count();
    let mut memory = Vec::new();
    memory.try_reserve_exact(count).map_err(|_| CryptoError::Io(std::io::ErrorKind::OutOfMemory.into()))?;
    memory.resize(count, Block::new());
    let mut key = Secret::new([0; 32]);
    let derived = Argon2::new(Algorithm::Argon2id, Version::V0x13, params).hash_password_into_with_memory(
        passphrase,
        salt,
        key.bytes_mut(),
        &mut memory,
    );
    memory.iter_mut().for_each(Zeroize::zeroize);
    derived.map_err(|_| CryptoError::KdfParameters)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_sealed_opens_with_the_passphrase_and_with_nothing_else() {
        let sealed = seal_with_passphrase(b"four words of it", b"what I remember").unwrap();
        assert_eq!((sealed.nonce.len(), sealed.ciphertext.len()), (12, 15 + 16));
        assert_eq!(open_with_passphrase(b"four words of it", &sealed).unwrap().as_slice(), b"what I remember");
        assert!(matches!(open_with_passphrase(b"other words", &sealed), Err(CryptoError::Decrypt)));
        for at in [0, 14, 15, 30] {
            let mut changed = sealed.clone();
            changed.ciphertext[at] ^= 1;
            assert!(matches!(open_with_passphrase(b"four words of it", &changed), Err(CryptoError::Decrypt)));
        }
        let again = seal_with_passphrase(b"four words of it", b"what I remember").unwrap();
        assert!(again.salt != sealed.salt && again.nonce != sealed.nonce);
    }

    #[test]
    fn a_file_that_another_program_sealed_opens() {
        // python: argon2-cffi 25.1 hash_secret_raw(b"correct horse", 0..15, t=2, m=1024, p=2, 32, ID), cryptography 50
        // AESGCM(key).encrypt(bytes(range(12)), b'{"hello":"world"}', None)
        let sealed = PassphraseSealed {
            salt: (0..16).collect(),
            memory_kib: 1024,
            passes: 2,
            lanes: 2,
            nonce: (0..12).collect(),
            ciphertext: hex::decode("7b88193c47fac79f35b11048340df2a102813835bff4fb1713e1bffd2cfe733f0e").unwrap(),
        };
        assert_eq!(open_with_passphrase(b"correct horse", &sealed).unwrap().as_slice(), br#"{"hello":"world"}"#);
    }

    #[test]
    fn absurd_costs_are_refused_before_any_work() {
        let sealed = PassphraseSealed {
            salt: vec![0; 16],
            memory_kib: u32::MAX,
            passes: 1,
            lanes: 1,
            nonce: vec![0; 12],
            ciphertext: vec![0; 32],
        };
        assert!(matches!(open_with_passphrase(b"x", &sealed), Err(CryptoError::KdfParameters)));
        let long = PassphraseSealed { memory_kib: 64 * 1024, passes: u32::MAX, ..sealed.clone() };
        assert!(matches!(open_with_passphrase(b"x", &long), Err(CryptoError::KdfParameters)));
        let short = PassphraseSealed { memory_kib: 1024, salt: vec![], ..sealed };
        assert!(matches!(open_with_passphrase(b"x", &short), Err(CryptoError::KdfParameters)));
    }
}
