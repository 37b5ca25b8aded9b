//! A cipher for tests.
use crate::{Cipher, FormatError, Passphrase, Sealed, SealedFile};
use sha2::{Digest, Sha256};
use std::io::{Read, Write};

/// A fake cipher, which only makes encrypted bytes recognisable. The real cipher is in mementory-crypto.
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
