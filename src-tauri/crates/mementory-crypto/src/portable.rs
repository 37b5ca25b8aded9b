//! Signatures of portable files: Ed25519 (RFC 8032) and ML-DSA-65 (FIPS 204, pure, empty context). Algorithms have the
//! names that portable formats use. The keys come from the user's key files; a vault signs with [`crate::SigningKey`]
//! instead. ES256, ES384, RS256, RS384 and RS512 are only verified (`jose.rs`).
//!
//! This implementation of ML-DSA has had no independent review: the user interface must call its signatures
//! experimental.
pub use crate::signature_algorithm::{Algorithm, Refusal};
use crate::{CryptoError, jose, pkcs8, random_bytes};
use ed25519_dalek::Signer as _;
use ml_dsa::{ExpandedSigningKey, MlDsa65, VerifyingKey};
use zeroize::Zeroizing;

/// A private key. Wiped on drop; `Debug` shows only the algorithm.
pub struct SigningKey {
    seed: Zeroizing<[u8; 32]>,
    key: Key,
}

enum Key {
    Ed25519(Box<ed25519_dalek::SigningKey>),
    MlDsa65(Box<ExpandedSigningKey<MlDsa65>>),
}

impl SigningKey {
    /// Generates a random key.
    ///
    /// # Errors
    /// The system provides no randomness.
    pub fn generate(algorithm: Algorithm) -> Result<Self, CryptoError> {
        Ok(Self::from_seed(algorithm, Zeroizing::new(random_bytes()?)))
    }

    /// Derives the key from a 32-byte seed.
    pub fn from_seed(algorithm: Algorithm, seed: Zeroizing<[u8; 32]>) -> Self {
        let key = match algorithm {
            Algorithm::Ed25519 => Key::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(&seed))),
            Algorithm::MlDsa65 => Key::MlDsa65(Box::new(ExpandedSigningKey::from_seed(&(*seed).into()))),
        };
        Self { seed, key }
    }

    /// Reads an unencrypted PKCS#8 PEM (`PRIVATE KEY`). An Ed25519 key is as in RFC 8410. An ML-DSA-65 key (RFC 9881)
    /// is a seed, or a seed and the expanded key, which must agree. Text around the PEM block is ignored.
    ///
    /// # Errors
    /// [`CryptoError::KeyFile`], with the reason.
    pub fn from_pem(pem: &str) -> Result<Self, CryptoError> {
        let key_file = pkcs8::decode_pem(pem)?;
        let key = Self::from_seed(key_file.algorithm, key_file.seed);
        let public_key_matches = key_file.public.is_none_or(|public| public == key.public_key());
        if !public_key_matches || key_file.expanded.is_some_and(|expanded| !key.expands_to(&expanded)) {
            return Err(CryptoError::KeyFile("its halves do not belong together"));
        }
        Ok(key)
    }

    /// The key as unencrypted PKCS#8 PEM. The caller must protect the file from other users (mode 0600).
    pub fn to_pem(&self) -> Zeroizing<String> {
        pkcs8::encode_pem(self.algorithm(), &self.seed)
    }

    /// The algorithm of the key.
    pub fn algorithm(&self) -> Algorithm {
        match self.key {
            Key::Ed25519(_) => Algorithm::Ed25519,
            Key::MlDsa65(_) => Algorithm::MlDsa65,
        }
    }

    /// The raw public key.
    pub fn public_key(&self) -> Vec<u8> {
        match &self.key {
            Key::Ed25519(key) => key.verifying_key().to_bytes().to_vec(),
            Key::MlDsa65(key) => key.verifying_key().encode().to_vec(),
        }
    }

    /// The raw public key in lower case hex, as in public key files.
    pub fn public_hex(&self) -> String {
        hex::encode(self.public_key())
    }

    /// Signs exactly these bytes. ML-DSA signatures are hedged, so two signatures of one message differ.
    ///
    /// # Errors
    /// The system provides no randomness (ML-DSA only).
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, CryptoError> {
        Ok(match &self.key {
            Key::Ed25519(key) => key.sign(message).to_bytes().to_vec(),
            Key::MlDsa65(key) => {
                let random: Zeroizing<[u8; 32]> = Zeroizing::new(random_bytes()?);
                // FIPS 204 algorithm 2: domain separator 0 (pure), length 0 of the context, then the message.
                key.sign_internal(&[&[0, 0], message], &(*random).into()).encode().to_vec()
            }
        })
    }

    /// True if `expanded` is the expanded form of this key.
    fn expands_to(&self, expanded: &[u8]) -> bool {
        let Key::MlDsa65(key) = &self.key else { return false };
        #[expect(deprecated, reason = "only compared; key files of others may hold it beside the seed")]
        let own_expanded = Zeroizing::new(key.to_expanded().to_vec());
        subtle::ConstantTimeEq::ct_eq(own_expanded.as_slice(), expanded).into()
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SigningKey({})", self.algorithm().as_str())
    }
}

/// Checks that `signature` is a signature of `message` by `key`. Ed25519 is strict, as in [`crate::verify`]. Keys are
/// raw (Ed25519, ML-DSA-65), a point (ES256, ES384: 65 or 97 bytes) or a `SubjectPublicKeyInfo` (RS256, RS384, RS512).
///
/// # Errors
/// [`Refusal`] says why the signature is not accepted.
pub fn check(algorithm: &str, key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), Refusal> {
    let is_valid = match Algorithm::parse(algorithm) {
        Some(Algorithm::Ed25519) => match (key.try_into(), signature.try_into()) {
            (Ok(key), Ok(signature)) => crate::verify(key, message, signature),
            _ => false,
        },
        Some(Algorithm::MlDsa65) => verify_ml_dsa_65(key, message, signature),
        None => return jose::verify(algorithm, key, message, signature).unwrap_or(Err(Refusal::Invalid)),
    };
    is_valid.then_some(()).ok_or(Refusal::Invalid)
}

/// Separate from [`check`], because it needs 100 KB of stack. When both were one function, rustc 1.95 kept the
/// algorithm in register r11 across the stack probe loop, which overwrites r11, so that Ed25519 was mistaken for
/// another algorithm.
#[inline(never)]
fn verify_ml_dsa_65(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let (Ok(key), Ok(signature)) = (key.try_into(), signature.try_into()) else { return false };
    let Some(signature) = ml_dsa::Signature::<MlDsa65>::decode(signature) else { return false };
    VerifyingKey::<MlDsa65>::decode(key).verify_with_context(message, &[], &signature)
}

/// True if [`check`] accepts the signature.
pub fn verify(algorithm: &str, key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    check(algorithm, key, message, signature).is_ok()
}

/// Returns the canonical form of a public key, so that two keys can be compared: raw (Ed25519, ML-DSA-65), the
/// uncompressed point (P-256, P-384; compressed points are accepted), `SubjectPublicKeyInfo` (RSA of 2048 to 8192
/// bits). `None` if the bytes have none of these forms. Raw keys are recognised by their length only.
pub fn public_key(bytes: &[u8]) -> Option<Vec<u8>> {
    if Algorithm::ALL.iter().any(|a| a.public_len() == bytes.len()) {
        return Some(bytes.to_vec());
    }
    jose::canonical_public_key(bytes)
}
