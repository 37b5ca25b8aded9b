//! Lends the vault's own signing key to writers.
use crate::export::Exporter;
use mementory_crypto::SigningKey;
use mementory_formats::{FormatError, Signer};
use std::sync::Arc;

#[derive(Debug)]
struct VaultSigner(SigningKey);

impl Signer for VaultSigner {
    fn algorithm(&self) -> &'static str {
        "ed25519"
    }

    fn public_key(&self) -> Vec<u8> {
        self.0.public().to_vec()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, FormatError> {
        Ok(self.0.sign(message).to_vec())
    }
}

impl Exporter<'_> {
    /// The vault's own signing key (Ed25519), to sign exports with.
    pub fn signer(&self) -> Arc<dyn Signer> {
        Arc::new(VaultSigner(self.context.keys.signing().clone()))
    }
}
