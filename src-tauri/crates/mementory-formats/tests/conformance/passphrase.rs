//! Opens cases that are encrypted for their owner with a passphrase. Nothing else of the trait is implemented.
use mementory_crypto::{CryptoError, KeyPairParams, PassphraseKeyPair, portable};
use mementory_formats::{
    Cipher, FormatError, KeyDerivation, KeyPair, Passphrase, Sealed, SealedContent, SealedFile, WrappedKey,
};
use std::io::{Read, Write};

#[derive(Debug)]
pub struct OwnerPassphrase(pub String);

fn refused(error: CryptoError) -> FormatError {
    FormatError::invalid("encryption_failed", "test", error.to_string())
}

fn not_needed<T>() -> Result<T, FormatError> {
    Err(FormatError::invalid("not_supported", "test", "no case needs this"))
}

impl Passphrase for OwnerPassphrase {
    fn key_pair(&self, derivation: &KeyDerivation<'_>) -> Result<Box<dyn KeyPair>, FormatError> {
        let KeyDerivation { salt, memory_kib, passes, lanes, signing_label, agreement_label } = *derivation;
        let params = KeyPairParams { salt, cost: (memory_kib, passes, lanes), signing_label, agreement_label };
        Ok(Box::new(OwnerKeys(PassphraseKeyPair::derive(self.0.as_bytes(), params).map_err(refused)?)))
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
struct OwnerKeys(PassphraseKeyPair);

impl KeyPair for OwnerKeys {
    fn signing_key(&self) -> [u8; 32] {
        self.0.signing_key()
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
