//! A passphrase that writers and readers of files may use.
use keepsake_crypto::{CryptoError, PassphraseSealed, open_with_passphrase, seal_with_passphrase};
use keepsake_formats::{FormatError, Passphrase, Sealed};
use std::sync::Arc;
use zeroize::Zeroizing;

struct Typed(Zeroizing<String>);

impl std::fmt::Debug for Typed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Passphrase")
    }
}

/// The passphrase of a file, as it was typed.
pub fn passphrase(text: String) -> Arc<dyn Passphrase> {
    Arc::new(Typed(Zeroizing::new(text)))
}

impl Passphrase for Typed {
    fn seal(&self, plain: &[u8]) -> Result<Sealed, FormatError> {
        let PassphraseSealed { salt, memory_kib, passes, lanes, nonce, ciphertext } =
            seal_with_passphrase(self.0.as_bytes(), plain).map_err(failed)?;
        Ok(Sealed { salt, memory_kib, passes, lanes, nonce, ciphertext })
    }

    fn open(&self, sealed: &Sealed) -> Result<Vec<u8>, FormatError> {
        let Sealed { salt, memory_kib, passes, lanes, nonce, ciphertext } = sealed.clone();
        let sealed = PassphraseSealed { salt, memory_kib, passes, lanes, nonce, ciphertext };
        Ok(open_with_passphrase(self.0.as_bytes(), &sealed).map_err(failed)?.to_vec())
    }
}

fn failed(error: CryptoError) -> FormatError {
    let (code, message) = match error {
        CryptoError::Decrypt => ("passphrase_wrong", "the passphrase is wrong, or the file was changed"),
        CryptoError::KdfParameters => ("kdf_parameters", "opening it would cost more than a file may ask for"),
        CryptoError::Io(e) => return FormatError::io("encryption", e),
        _ => ("encryption_failed", "it could not be encrypted or opened"),
    };
    FormatError::invalid(code, "encryption", message)
}
