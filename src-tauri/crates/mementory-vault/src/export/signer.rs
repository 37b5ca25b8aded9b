//! Signs exports with the vault's own key, and verifies the signatures of elements.
use crate::export::Exporter;
use mementory_crypto::{SigningKey, portable};
use mementory_formats::{FormatError, Signed, Signer, Verifier};
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

/// Verifies the existing signature of an element before a writer writes it again.
#[derive(Debug)]
pub(super) struct SignatureVerifier;

impl Verifier for SignatureVerifier {
    fn is_valid(&self, signed: &Signed) -> bool {
        let check = |(key, signature): &(Vec<u8>, Vec<u8>)| {
            portable::check(&signed.algorithm, key, &signed.message, signature).is_ok()
        };
        signed.token.as_ref().is_some_and(check)
    }
}

impl Exporter<'_> {
    /// Returns the signer that signs exports with the vault's own key (Ed25519).
    pub fn signer(&self) -> Arc<dyn Signer> {
        Arc::new(VaultSigner(self.context.keys.signing().clone()))
    }
}
