//! A cipher for tests.
use crate::{Cipher, FormatError, Passphrase, Sealed, SealedFile};
use sha2::{Digest, Sha256};
use std::io::{Read, Write};

/// No cipher at all: shows what travels where. The real one is in mementory-crypto.
#[derive(Debug)]
pub struct FakeCipher(pub &'static str);

impl FakeCipher {
    fn mark(&self, aad: &[u8]) -> Vec<u8> {
        Sha256::new().chain_update(self.0).chain_update(aad).finalize()[..16].to_vec()
    }
    fn wrong() -> FormatError {
        FormatError::invalid("passphrase_wrong", "test", "wrong")
    }
}

impl Passphrase for FakeCipher {
    fn seal(&self, cipher: Cipher, aad: &[u8], plain: &[u8]) -> Result<Sealed, FormatError> {
        let mut ciphertext: Vec<u8> = plain.iter().map(|b| b ^ 0x55).collect();
        ciphertext.extend(self.mark(aad));
        let nonce = vec![9; if cipher == Cipher::Aes256Gcm { 12 } else { 24 }];
        Ok(Sealed { cipher, salt: vec![7; 16], memory_kib: 65536, passes: 3, lanes: 4, nonce, ciphertext })
    }
    fn open(&self, aad: &[u8], sealed: &Sealed) -> Result<Vec<u8>, FormatError> {
        assert_eq!((sealed.memory_kib, sealed.passes, sealed.lanes), (65536, 3, 4));
        let nonce = vec![9; if sealed.cipher == Cipher::Aes256Gcm { 12 } else { 24 }];
        assert_eq!((sealed.salt.as_slice(), &sealed.nonce), ([7; 16].as_slice(), &nonce));
        let (text, tag) = sealed.ciphertext.split_at(sealed.ciphertext.len() - 16);
        if tag != self.mark(aad) {
            return Err(Self::wrong());
        }
        Ok(text.iter().map(|b| b ^ 0x55).collect())
    }
    fn seal_file(&self, mut out: Box<dyn Write>) -> Result<Box<dyn SealedFile>, FormatError> {
        let head = [b"age-encryption.org/v1\n", self.mark(b"").as_slice()].concat();
        out.write_all(&head).unwrap();
        Ok(Box::new(Folded(out)))
    }
    fn open_file<'a>(&self, mut from: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>, FormatError> {
        let mut head = vec![0; 22 + 16];
        from.read_exact(&mut head).map_err(|_| Self::wrong())?;
        if head[22..] != self.mark(b"") {
            return Err(Self::wrong());
        }
        Ok(Box::new(Unfolded(from)))
    }
}

struct Folded(Box<dyn Write>);

impl Write for Folded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let folded: Vec<u8> = bytes.iter().map(|b| b ^ 0x55).collect();
        self.0.write_all(&folded).map(|()| bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl SealedFile for Folded {
    fn finish(mut self: Box<Self>) -> std::io::Result<()> {
        self.0.flush()
    }
}

struct Unfolded<'a>(Box<dyn Read + 'a>);

impl Read for Unfolded<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.0.read(buf)?;
        buf[..n].iter_mut().for_each(|b| *b ^= 0x55);
        Ok(n)
    }
}
