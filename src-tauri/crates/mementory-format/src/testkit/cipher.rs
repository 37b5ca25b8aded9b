//! A cipher for tests.
use crate::{Cipher, FormatError, KeyDerivation, KeyPair, Passphrase, Sealed, SealedContent, SealedFile, WrappedKey};
use sha2::{Digest, Sha256};
use std::{
    io::{Read, Write},
    sync::atomic::{AtomicU64, Ordering},
};

/// A fake cipher without any security: it XORs the bytes and appends a tag. The real cipher is in mementory-crypto.
#[derive(Debug)]
pub struct FakeCipher(pub &'static str);

impl FakeCipher {
    fn passphrase_mark(&self, aad: &[u8]) -> Vec<u8> {
        Sha256::new().chain_update(self.0).chain_update(aad).finalize()[..16].to_vec()
    }
    fn wrong_passphrase() -> FormatError {
        FormatError::invalid("passphrase_wrong", "test", "wrong")
    }
}

impl Passphrase for FakeCipher {
    fn seal(&self, cipher: Cipher, aad: &[u8], plain: &[u8]) -> Result<Sealed, FormatError> {
        let mut ciphertext: Vec<u8> = plain.iter().map(|b| b ^ 0x55).collect();
        ciphertext.extend(self.passphrase_mark(aad));
        let nonce = vec![9; if cipher == Cipher::Aes256Gcm { 12 } else { 24 }];
        Ok(Sealed { cipher, salt: vec![7; 16], memory_kib: 65536, passes: 3, lanes: 4, nonce, ciphertext })
    }
    fn open(&self, aad: &[u8], sealed: &Sealed) -> Result<Vec<u8>, FormatError> {
        assert_eq!((sealed.memory_kib, sealed.passes, sealed.lanes), (65536, 3, 4));
        let nonce = vec![9; if sealed.cipher == Cipher::Aes256Gcm { 12 } else { 24 }];
        assert_eq!((sealed.salt.as_slice(), &sealed.nonce), ([7; 16].as_slice(), &nonce));
        let (text, tag) = sealed.ciphertext.split_at(sealed.ciphertext.len() - 16);
        if tag != self.passphrase_mark(aad) {
            return Err(Self::wrong_passphrase());
        }
        Ok(text.iter().map(|b| b ^ 0x55).collect())
    }
    fn key_pair(&self, derivation: &KeyDerivation<'_>) -> Result<Box<dyn KeyPair>, FormatError> {
        Ok(Box::new(FakeKeys(digest(&[self.0.as_bytes(), derivation.salt]))))
    }
    fn random_id(&self) -> Result<[u8; 16], FormatError> {
        Ok(unique_bytes())
    }
    fn seal_file(&self, mut out: Box<dyn Write>) -> Result<Box<dyn SealedFile>, FormatError> {
        let head = [b"age-encryption.org/v1\n", self.passphrase_mark(b"").as_slice()].concat();
        out.write_all(&head).unwrap();
        Ok(Box::new(XorWriter(out)))
    }
    fn open_file<'a>(&self, mut from: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>, FormatError> {
        let mut head = vec![0; 22 + 16];
        from.read_exact(&mut head).map_err(|_| Self::wrong_passphrase())?;
        if head[22..] != self.passphrase_mark(b"") {
            return Err(Self::wrong_passphrase());
        }
        Ok(Box::new(XorReader(from)))
    }
}

/// 16 bytes that are different in each call of this process.
fn unique_bytes() -> [u8; 16] {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut out = [0; 16];
    out[..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    out
}

fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Fake key pairs. As with real key pairs, decryption needs the same passphrase, key, label and additional data.
#[derive(Debug)]
struct FakeKeys([u8; 32]);

impl FakeKeys {
    fn tag(&self, key: &WrappedKey, label: &[u8], aad: &[u8], wrapped_key: &[u8], text: &[u8]) -> [u8; 32] {
        digest(&[&self.0, &key.ephemeral, &key.wrapped, label, aad, wrapped_key, text])
    }
}

impl KeyPair for FakeKeys {
    fn signing_key(&self) -> [u8; 32] {
        digest(&[b"sign", &self.0])
    }
    fn agreement_key(&self) -> [u8; 32] {
        digest(&[b"agree", &self.0])
    }
    fn new_key(&self, label: &[u8]) -> Result<WrappedKey, FormatError> {
        let ephemeral = digest(&[&unique_bytes(), label]).to_vec();
        let wrapped = [digest(&[&self.0, &ephemeral, label]).as_slice(), &[0; 8]].concat();
        Ok(WrappedKey { ephemeral, wrapped })
    }
    fn seal(&self, key: &WrappedKey, label: &[u8], aad: &[u8], plain: &[u8]) -> Result<SealedContent, FormatError> {
        let wrapped_key = [&unique_bytes()[..], &[0; 24]].concat();
        let mut ciphertext: Vec<u8> = plain.iter().map(|b| b ^ 0x55).collect();
        ciphertext.extend(&self.tag(key, label, aad, &wrapped_key, plain)[..16]);
        Ok(SealedContent { wrapped_key, nonce: vec![9; 12], ciphertext })
    }
    fn open(
        &self,
        key: &WrappedKey,
        label: &[u8],
        aad: &[u8],
        content: &SealedContent,
    ) -> Result<Vec<u8>, FormatError> {
        let length = content.ciphertext.len().checked_sub(16).ok_or_else(FakeCipher::wrong_passphrase)?;
        let (text, tag) = content.ciphertext.split_at(length);
        let plain: Vec<u8> = text.iter().map(|b| b ^ 0x55).collect();
        let is_same = self.tag(key, label, aad, &content.wrapped_key, &plain)[..16] == *tag;
        if is_same { Ok(plain) } else { Err(FakeCipher::wrong_passphrase()) }
    }
    fn sign(&self, message: &[u8]) -> [u8; 64] {
        fake_signature(&self.signing_key(), message)
    }
    fn verify(&self, public: &[u8], message: &[u8], signature: &[u8]) -> bool {
        fake_signature(public, message)[..] == *signature
    }
}

/// A signature that anyone can make.
fn fake_signature(public: &[u8], message: &[u8]) -> [u8; 64] {
    let mut out = [0; 64];
    out[..32].copy_from_slice(&digest(&[public, message]));
    out
}

struct XorWriter(Box<dyn Write>);

impl Write for XorWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let masked_bytes: Vec<u8> = bytes.iter().map(|b| b ^ 0x55).collect();
        self.0.write_all(&masked_bytes).map(|()| bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl SealedFile for XorWriter {
    fn finish(mut self: Box<Self>) -> std::io::Result<()> {
        self.0.flush()
    }
}

struct XorReader<'a>(Box<dyn Read + 'a>);

impl Read for XorReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.0.read(buf)?;
        buf[..n].iter_mut().for_each(|b| *b ^= 0x55);
        Ok(n)
    }
}
