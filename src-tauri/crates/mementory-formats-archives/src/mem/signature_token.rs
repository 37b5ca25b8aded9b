//! The notation of a signature in a bundle.
use super::bundle::SIGNATURE_FILE;
use mementory_format::{FormatError, Signer};

/// Signs `message`. Returns `ed25519:<public key>:<signature>`, with key and signature in lowercase hex.
pub(super) fn sign_as_token(signer: &dyn Signer, message: &[u8]) -> Result<String, FormatError> {
    let key = signer.public_key();
    if signer.algorithm() != "ed25519" || key.len() != 32 {
        let message = "a .mem bundle can only be signed with an Ed25519 key";
        return Err(FormatError::invalid("key_not_supported", SIGNATURE_FILE, message));
    }
    let signature = signer.sign(message)?;
    if signature.len() != 64 {
        return Err(FormatError::invalid(
            "signing_failed",
            SIGNATURE_FILE,
            "the signer did not return an Ed25519 signature",
        ));
    }
    Ok(format!("ed25519:{}:{}", hex::encode(key), hex::encode(signature)))
}
