//! Key pairs derived from a passphrase, for files of other programs: Ed25519 for signatures and X25519 for encryption,
//! with AES key wrap (RFC 3394) and AES-256-GCM. The vault itself does not use this module.
use crate::hazmat::derive_key;
use crate::sealed::{derive, open_gcm, seal_gcm};
use crate::{CryptoError, KdfParams, SigningKey, random_bytes};
use aes_kw::{KeyInit, KwAes256};
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

/// Lengths in bytes of a key, and of a wrapped key.
const KEY_LEN: usize = 32;
const WRAPPED_LEN: usize = KEY_LEN + 8;

/// Key pairs for signing and encryption, derived from a passphrase. Wiped on drop; not visible in `Debug`.
pub struct PassphraseKeyPair {
    signing: SigningKey,
    agreement: StaticSecret,
}

/// Encrypted content: its wrapped key, the nonce, and the ciphertext with its tag.
type Sealed = (Vec<u8>, Vec<u8>, Vec<u8>);

/// The parameters from which [`PassphraseKeyPair`] is derived, besides the passphrase.
#[derive(Debug, Clone, Copy)]
pub struct KeyPairParams<'a> {
    /// The salt for Argon2id.
    pub salt: &'a [u8],
    /// Cost of Argon2id.
    pub cost: KdfParams,
    /// HKDF label of the Ed25519 seed.
    pub signing_label: &'a [u8],
    /// HKDF label of the X25519 key.
    pub agreement_label: &'a [u8],
}

impl PassphraseKeyPair {
    /// Derives the pairs. Refuses parameters that cost too much before any work is done.
    pub fn derive(passphrase: &[u8], params: KeyPairParams<'_>) -> Result<Self, CryptoError> {
        let secret = derive(passphrase, params.salt, params.cost)?;
        let signing = SigningKey::from_seed(&derive_key(secret.bytes(), b"", params.signing_label));
        let agreement = StaticSecret::from(*derive_key(secret.bytes(), b"", params.agreement_label));
        Ok(Self { signing, agreement })
    }

    /// Public half of the Ed25519 pair.
    pub fn signing_key(&self) -> [u8; 32] {
        self.signing.public()
    }

    /// Public half of the X25519 pair.
    pub fn agreement_key(&self) -> [u8; 32] {
        PublicKey::from(&self.agreement).to_bytes()
    }

    /// Signs with the Ed25519 pair.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.signing.sign(message)
    }

    /// Makes a random key and wraps it for the X25519 pair by an ephemeral Diffie-Hellman exchange. `label` separates
    /// uses of the pair. Returns the ephemeral public key, and the wrapped key.
    ///
    /// # Errors
    /// The system provides no randomness.
    pub fn new_key(&self, label: &[u8]) -> Result<([u8; 32], Vec<u8>), CryptoError> {
        let ephemeral = StaticSecret::from(*Zeroizing::new(random_bytes::<32>()?));
        let shared_secret = ephemeral.diffie_hellman(&PublicKey::from(&self.agreement));
        let wrapping = derive_key(shared_secret.as_bytes(), b"", label);
        let key: Zeroizing<[u8; KEY_LEN]> = Zeroizing::new(random_bytes()?);
        Ok((PublicKey::from(&ephemeral).to_bytes(), wrap(&wrapping, &key)?))
    }

    /// Encrypts content under a new random key, and wraps this key with the key from [`Self::new_key`], which is
    /// recovered from `ephemeral` and `wrapped`. Each key encrypts only once, so no nonce can repeat.
    ///
    /// # Errors
    /// `ephemeral` and `wrapped` were not made for this pair and label; the system provides no randomness.
    pub fn seal(
        &self,
        (ephemeral, wrapped): (&[u8], &[u8]),
        label: &[u8],
        aad: &[u8],
        plaintext: &[u8],
    ) -> Result<Sealed, CryptoError> {
        let key = self.unwrap_shared(ephemeral, wrapped, label)?;
        let content_key: Zeroizing<[u8; KEY_LEN]> = Zeroizing::new(random_bytes()?);
        let mut ciphertext = plaintext.to_vec();
        let nonce = seal_gcm(&content_key, aad, &mut ciphertext)?;
        Ok((wrap(&key, &content_key)?, nonce, ciphertext))
    }

    /// Decrypts content. The X25519 pair and `ephemeral` unwrap the key in `wrapped`, which in turn unwraps
    /// `wrapped_key`, the key of the content.
    pub fn open(
        &self,
        (ephemeral, wrapped): (&[u8], &[u8]),
        label: &[u8],
        aad: &[u8],
        (wrapped_key, nonce, ciphertext): (&[u8], &[u8], &[u8]),
    ) -> Result<Vec<u8>, CryptoError> {
        let key = self.unwrap_shared(ephemeral, wrapped, label)?;
        let content_key = unwrap(&key, wrapped_key)?;
        let mut plaintext = ciphertext.to_vec();
        open_gcm(&content_key, nonce, aad, &mut plaintext)?;
        Ok(plaintext)
    }

    fn unwrap_shared(
        &self,
        ephemeral: &[u8],
        wrapped: &[u8],
        label: &[u8],
    ) -> Result<Zeroizing<[u8; KEY_LEN]>, CryptoError> {
        let ephemeral: [u8; 32] = ephemeral.try_into().map_err(|_| CryptoError::Decrypt)?;
        let shared_secret = self.agreement.diffie_hellman(&PublicKey::from(ephemeral));
        // A public key of small order yields a shared secret that anyone can compute.
        if !shared_secret.was_contributory() {
            return Err(CryptoError::Decrypt);
        }
        unwrap(&derive_key(shared_secret.as_bytes(), b"", label), wrapped)
    }
}

impl std::fmt::Debug for PassphraseKeyPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PassphraseKeyPair")
    }
}

fn wrap(wrapping: &[u8; 32], key: &[u8; KEY_LEN]) -> Result<Vec<u8>, CryptoError> {
    let mut out = vec![0; WRAPPED_LEN];
    KwAes256::new(wrapping.into()).wrap_key(key, &mut out).map_err(|_| CryptoError::Decrypt)?;
    Ok(out)
}

fn unwrap(wrapping: &[u8; 32], wrapped: &[u8]) -> Result<Zeroizing<[u8; KEY_LEN]>, CryptoError> {
    let mut key = Zeroizing::new([0; KEY_LEN]);
    if wrapped.len() != WRAPPED_LEN {
        return Err(CryptoError::Decrypt);
    }
    KwAes256::new(wrapping.into()).unwrap_key(wrapped, key.as_mut()).map_err(|_| CryptoError::Decrypt)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn pair(passphrase: &[u8]) -> PassphraseKeyPair {
        let params = KeyPairParams {
            salt: &[7; 16],
            cost: KdfParams { memory_kib: 64, passes: 1, lanes: 1 },
            signing_label: b"sign",
            agreement_label: b"agree",
        };
        PassphraseKeyPair::derive(passphrase, params).unwrap()
    }

    #[test]
    fn content_opens_with_its_passphrase_label_and_context_only() {
        let owner = pair(b"four words of it");
        let (ephemeral, wrapped) = owner.new_key(b"scope").unwrap();
        let key = (ephemeral.as_slice(), wrapped.as_slice());
        let (content_key, nonce, ciphertext) = owner.seal(key, b"scope", b"place", b"what I remember").unwrap();
        let content = (content_key.as_slice(), nonce.as_slice(), ciphertext.as_slice());
        assert_eq!(owner.open(key, b"scope", b"place", content).unwrap(), b"what I remember");
        assert!(owner.open(key, b"other", b"place", content).is_err());
        assert!(owner.open(key, b"scope", b"elsewhere", content).is_err());
        assert!(pair(b"other words").open(key, b"scope", b"place", content).is_err());
        // The owner refuses a public key of small order, and values of the wrong length.
        assert!(owner.open((&[0; 32], &wrapped), b"scope", b"place", content).is_err());
        assert!(owner.open((&[0; 31], &wrapped), b"scope", b"place", content).is_err());
        assert!(owner.open((&ephemeral, &[]), b"scope", b"place", content).is_err());
        assert!(owner.open(key, b"scope", b"place", (&[], &nonce, &ciphertext)).is_err());
        assert!(owner.open(key, b"scope", b"place", (&content_key, &[], &[])).is_err());
    }

    #[test]
    fn a_signature_verifies_with_the_derived_public_key() {
        let owner = pair(b"four words of it");
        assert!(crate::verify(&owner.signing_key(), b"text", &owner.sign(b"text")));
        assert_ne!(owner.signing_key(), pair(b"other words").signing_key());
        assert_eq!(owner.agreement_key(), pair(b"four words of it").agreement_key());
    }
}
