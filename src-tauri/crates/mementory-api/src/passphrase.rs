//! The passphrase of a file. Format readers and writers use it through the [`Passphrase`] trait, which does not reveal
//! its text.
use mementory_crypto::{
    AgeWriter, CryptoError, KdfParams, KeyPairParams, PassphraseCipher, PassphraseKeyPair, PassphraseSealed, open_age,
    open_with_passphrase, portable, random_id, seal_with_passphrase,
};
use mementory_formats::{
    Cipher, FormatError, KeyDerivation, KeyPair, Passphrase, Sealed, SealedContent, SealedFile, Spool, WrappedKey,
};
use mementory_vault::Scratch;
use std::{
    io::{self, Read, Write},
    sync::Arc,
};
use zeroize::Zeroizing;

struct TypedPassphrase(Zeroizing<String>, Scratch);

impl std::fmt::Debug for TypedPassphrase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Passphrase")
    }
}

/// Makes a file passphrase from typed text.
pub fn passphrase(text: String) -> Arc<dyn Passphrase> {
    Arc::new(TypedPassphrase(Zeroizing::new(text), Scratch(std::env::temp_dir())))
}

impl Passphrase for TypedPassphrase {
    fn seal(&self, cipher: Cipher, aad: &[u8], plain: &[u8]) -> Result<Sealed, FormatError> {
        let PassphraseSealed { salt, memory_kib, passes, lanes, nonce, ciphertext, .. } =
            seal_with_passphrase(self.0.as_bytes(), crypto_cipher(cipher), aad, plain).map_err(format_error)?;
        Ok(Sealed { cipher, salt, memory_kib, passes, lanes, nonce, ciphertext })
    }

    fn open(&self, aad: &[u8], sealed: &Sealed) -> Result<Vec<u8>, FormatError> {
        let Sealed { cipher, salt, memory_kib, passes, lanes, nonce, ciphertext } = sealed.clone();
        let sealed =
            PassphraseSealed { cipher: crypto_cipher(cipher), salt, memory_kib, passes, lanes, nonce, ciphertext };
        Ok(open_with_passphrase(self.0.as_bytes(), aad, &sealed).map_err(format_error)?.to_vec())
    }

    fn key_pair(&self, derivation: &KeyDerivation<'_>) -> Result<Box<dyn KeyPair>, FormatError> {
        let KeyDerivation { salt, memory_kib, passes, lanes, signing_label, agreement_label } = *derivation;
        let params =
            KeyPairParams { salt, cost: KdfParams { memory_kib, passes, lanes }, signing_label, agreement_label };
        Ok(Box::new(TypedKeyPair(PassphraseKeyPair::derive(self.0.as_bytes(), params).map_err(format_error)?)))
    }

    fn random_id(&self) -> Result<[u8; 16], FormatError> {
        random_id().map_err(format_error)
    }

    fn seal_file(&self, out: Box<dyn Write>) -> Result<Box<dyn SealedFile>, FormatError> {
        Ok(Box::new(AgeFile(AgeWriter::new(&self.0, out).map_err(format_error)?)))
    }

    fn spool(&self) -> Option<&dyn Spool> {
        Some(&self.1)
    }

    fn open_file<'a>(&self, from: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>, FormatError> {
        open_age(&self.0, from).map_err(format_error)
    }
}

/// Key pairs derived from a typed passphrase.
#[derive(Debug)]
struct TypedKeyPair(PassphraseKeyPair);

impl KeyPair for TypedKeyPair {
    fn signing_key(&self) -> [u8; 32] {
        self.0.signing_key()
    }

    fn agreement_key(&self) -> [u8; 32] {
        self.0.agreement_key()
    }

    fn new_key(&self, label: &[u8]) -> Result<WrappedKey, FormatError> {
        let (ephemeral, wrapped) = self.0.new_key(label).map_err(format_error)?;
        Ok(WrappedKey { ephemeral: ephemeral.to_vec(), wrapped })
    }

    fn seal(&self, key: &WrappedKey, label: &[u8], aad: &[u8], plain: &[u8]) -> Result<SealedContent, FormatError> {
        let sealed = self.0.seal((&key.ephemeral, &key.wrapped), label, aad, plain);
        let (wrapped_key, nonce, ciphertext) = sealed.map_err(format_error)?;
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
        let opened = self.0.open((&key.ephemeral, &key.wrapped), label, aad, (wrapped_key, nonce, ciphertext));
        opened.map_err(format_error)
    }

    fn verify(&self, public: &[u8], message: &[u8], signature: &[u8]) -> bool {
        portable::verify("ed25519", public, message, signature)
    }
}

fn crypto_cipher(cipher: Cipher) -> PassphraseCipher {
    match cipher {
        Cipher::Aes256Gcm => PassphraseCipher::Aes256Gcm,
        Cipher::XChaCha20Poly1305 => PassphraseCipher::XChaCha20Poly1305,
    }
}

/// A writer that encrypts a file with age.
struct AgeFile(AgeWriter<Box<dyn Write>>);

impl Write for AgeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl SealedFile for AgeFile {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.finish()?.flush()
    }
}

fn format_error(error: CryptoError) -> FormatError {
    let (code, message) = match error {
        CryptoError::Decrypt => ("passphrase_wrong", "the passphrase is wrong, or the file was changed"),
        CryptoError::KdfParameters => {
            ("kdf_parameters", "opening it would take more memory or time than Mementory allows a file to demand")
        }
        CryptoError::NotForPassphrase => ("not_for_passphrase", "it is encrypted to a key, so no passphrase opens it"),
        CryptoError::Io(e) => return FormatError::io("encryption", e),
        _ => ("encryption_failed", "it could not be encrypted or opened"),
    };
    FormatError::invalid(code, "encryption", message)
}

#[cfg(test)]
mod tests {
    use mementory_crypto::{CryptoError, PassphraseCipher, PassphraseSealed, open_with_passphrase};
    use mementory_formats::Sealed;

    /// The format crates have their own limits for excessive costs, because they must not depend on the crypto crate.
    /// This test checks that both limits are equal.
    #[test]
    fn formats_and_cryptography_refuse_the_same_costs() {
        for (memory_kib, passes, lanes) in [
            (64 << 20, 1, 1),
            ((448 << 10) + 1, 1, 1),
            (65536, 65, 1),
            (65536, u32::MAX, 4),
            (65536, 0, 1),
            (65536, 1, 17),
            (65536, 1, 0),
            (31, 1, 4),
            (32, 1, 4),
            (1024, 2, 2),
        ] {
            let sealed = PassphraseSealed {
                cipher: PassphraseCipher::Aes256Gcm,
                salt: vec![0; 16],
                memory_kib,
                passes,
                lanes,
                nonce: vec![0; 12],
                ciphertext: vec![0; 32],
            };
            let refused = matches!(open_with_passphrase(b"x", b"", &sealed), Err(CryptoError::KdfParameters));
            let affordable = Sealed::is_affordable(memory_kib.into(), passes.into(), lanes.into());
            assert_eq!(affordable, !refused, "{memory_kib} KiB, {passes} passes, {lanes} lanes");
        }
    }
}
