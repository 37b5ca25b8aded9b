//! A [`Passphrase`] for files that are encrypted for their owner. Its other operations return an error.
use mementory_crypto::{CryptoError, KdfParams, KeyPairParams, PassphraseKeyPair, portable};
use mementory_formats::{
    Cipher, FormatError, KeyDerivation, KeyPair, Passphrase, Sealed, SealedContent, SealedFile, WrappedKey,
};
use std::{
    collections::HashMap,
    io::{Read, Write},
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicU8, Ordering},
    },
};

/// A passphrase whose ids are consecutive numbers and not random. All files thus have the same salts, and the slow key
/// derivation runs only once per salt.
#[derive(Debug)]
pub struct OwnerPassphrase {
    text: String,
    last_id: AtomicU8,
}

impl OwnerPassphrase {
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), last_id: AtomicU8::new(0) }
    }
}

/// Derived keys by passphrase and salt.
type Pairs = HashMap<(String, Vec<u8>), Arc<PassphraseKeyPair>>;
static DERIVED_PAIRS: LazyLock<Mutex<Pairs>> = LazyLock::new(Mutex::default);

fn refused(error: CryptoError) -> FormatError {
    FormatError::invalid("encryption_failed", "test", error.to_string())
}

fn not_needed<T>() -> Result<T, FormatError> {
    Err(FormatError::invalid("not_supported", "test", "no case needs this"))
}

impl Passphrase for OwnerPassphrase {
    fn key_pair(&self, derivation: &KeyDerivation<'_>) -> Result<Box<dyn KeyPair>, FormatError> {
        let KeyDerivation { salt, memory_kib, passes, lanes, signing_label, agreement_label } = *derivation;
        let params =
            KeyPairParams { salt, cost: KdfParams { memory_kib, passes, lanes }, signing_label, agreement_label };
        let mut derived = DERIVED_PAIRS.lock().unwrap();
        let key = (self.text.clone(), salt.to_vec());
        if let Some(pair) = derived.get(&key) {
            return Ok(Box::new(OwnerKeys(Arc::clone(pair))));
        }
        let pair = Arc::new(PassphraseKeyPair::derive(self.text.as_bytes(), params).map_err(refused)?);
        derived.insert(key, Arc::clone(&pair));
        Ok(Box::new(OwnerKeys(pair)))
    }
    fn random_id(&self) -> Result<[u8; 16], FormatError> {
        Ok([self.last_id.fetch_add(1, Ordering::Relaxed); 16])
    }
    fn seal(&self, _: Cipher, _: &[u8], _: &[u8]) -> Result<Sealed, FormatError> {
        not_needed()
    }
    fn open(&self, _: &[u8], _: &Sealed) -> Result<Vec<u8>, FormatError> {
        not_needed()
    }
    fn seal_file(&self, _: Box<dyn Write>) -> Result<Box<dyn SealedFile>, FormatError> {
        not_needed()
    }
    fn open_file<'a>(&self, _: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>, FormatError> {
        not_needed()
    }
}

#[derive(Debug)]
struct OwnerKeys(Arc<PassphraseKeyPair>);

impl KeyPair for OwnerKeys {
    fn signing_key(&self) -> [u8; 32] {
        self.0.signing_key()
    }
    fn agreement_key(&self) -> [u8; 32] {
        self.0.agreement_key()
    }
    fn new_key(&self, label: &[u8]) -> Result<WrappedKey, FormatError> {
        let (ephemeral, wrapped) = self.0.new_key(label).map_err(refused)?;
        Ok(WrappedKey { ephemeral: ephemeral.to_vec(), wrapped })
    }
    fn seal(&self, key: &WrappedKey, label: &[u8], aad: &[u8], plain: &[u8]) -> Result<SealedContent, FormatError> {
        let sealed = self.0.seal((&key.ephemeral, &key.wrapped), label, aad, plain);
        let (wrapped_key, nonce, ciphertext) = sealed.map_err(refused)?;
        Ok(SealedContent { wrapped_key, nonce, ciphertext })
    }
    fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message)
    }
    fn open(
        &self,
        key: &WrappedKey,
        label: &[u8],
        aad: &[u8],
        content: &SealedContent,
    ) -> Result<Vec<u8>, FormatError> {
        let SealedContent { wrapped_key, nonce, ciphertext } = content;
        self.0.open((&key.ephemeral, &key.wrapped), label, aad, (wrapped_key, nonce, ciphertext)).map_err(refused)
    }
    fn verify(&self, public: &[u8], message: &[u8], signature: &[u8]) -> bool {
        portable::verify("ed25519", public, message, signature)
    }
}
