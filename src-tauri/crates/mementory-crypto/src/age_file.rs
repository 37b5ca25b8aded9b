//! Files encrypted with a passphrase in the age format (age-encryption.org/v1), which the age tools can open as well.
use crate::CryptoError;
use age::{DecryptError, Decryptor, EncryptError, Encryptor, armor::ArmoredReader, scrypt, secrecy::SecretString};
use std::io::{self, BufReader, Cursor, ErrorKind, Read, Write};

/// The scrypt work factor: 2^18 blocks, which need 256 MiB and about a second, as in the age tool. Files with a higher
/// factor are refused, because factor 19 would already need 512 MiB.
const WORK_FACTOR: u8 = 18;
/// Maximum length in bytes of the header, the part before the encrypted data. A header for a passphrase has 150 bytes.
/// The limit is needed because the parser reads the whole header into memory.
const MAX_HEADER_BYTES: u64 = 16 << 10;

/// Encrypts the bytes written to it. A file without [`AgeWriter::finish`] is incomplete and cannot be opened.
pub struct AgeWriter<W: Write>(age::stream::StreamWriter<W>);

impl<W: Write> AgeWriter<W> {
    /// Starts an encrypted file in `out`.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn new(passphrase: &str, out: W) -> Result<Self, CryptoError> {
        Self::with_work_factor(passphrase, out, WORK_FACTOR)
    }

    fn with_work_factor(passphrase: &str, out: W, work: u8) -> Result<Self, CryptoError> {
        let mut recipient = scrypt::Recipient::new(SecretString::from(passphrase.to_owned()));
        recipient.set_work_factor(work);
        let encryptor = Encryptor::with_recipients(std::iter::once(&recipient as _)).map_err(|error| match error {
            EncryptError::Io(e) => CryptoError::Io(e),
            _ => CryptoError::KdfParameters,
        })?;
        Ok(Self(encryptor.wrap_output(out)?))
    }

    /// Writes the last chunk and returns the inner writer.
    ///
    /// # Errors
    /// The inner writer fails.
    pub fn finish(self) -> io::Result<W> {
        self.0.finish()
    }
}

impl<W: Write> Write for AgeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Opens an age file, binary or armoured, for reading. Changed or missing data is an error while reading.
///
/// # Errors
/// `Decrypt` for a wrong passphrase and for a header that is changed, incomplete or too long, `KdfParameters` for a work
/// factor above the limit, `NotForPassphrase` for a file encrypted to a key, `Io` if `from` cannot be read.
pub fn open_age<'a>(passphrase: &str, from: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>, CryptoError> {
    let mut plaintext = ArmoredReader::new(BufReader::new(limit_armour_lines(from)?));
    let mut head = Vec::new();
    (&mut plaintext).take(MAX_HEADER_BYTES).read_to_end(&mut head).map_err(armour_error)?;
    // Search for the last line of the header first. If it is missing, nothing is parsed, however long the file is.
    let last_line_at = head.windows(5).position(|w| w == b"\n--- ");
    if !last_line_at.is_some_and(|position| head[position + 5..].contains(&b'\n')) {
        return Err(CryptoError::Decrypt);
    }
    let full_file = Cursor::new(head).chain(plaintext);
    let decryptor = Decryptor::new_buffered(BufReader::new(full_file)).map_err(age_error)?;
    if !decryptor.is_scrypt() {
        return Err(CryptoError::NotForPassphrase);
    }
    let mut identity = scrypt::Identity::new(SecretString::from(passphrase.to_owned()));
    identity.set_max_work_factor(WORK_FACTOR);
    let plaintext_reader = decryptor.decrypt(std::iter::once(&identity as _)).map_err(age_error)?;
    Ok(Box::new(plaintext_reader))
}

/// Limits the length of lines if the data looks like armour, which is read line by line. (age writes 64 characters.)
fn limit_armour_lines<'a>(mut from: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>, CryptoError> {
    const ARMOUR_START: &[u8] = b"-----BEGIN ";
    let mut start = Vec::new();
    (&mut from).take(ARMOUR_START.len() as u64).read_to_end(&mut start)?;
    let is_armoured = start == ARMOUR_START;
    let full_file = Cursor::new(start).chain(from);
    Ok(if is_armoured { Box::new(LineLimit { inner: full_file, line: 0 }) } else { Box::new(full_file) })
}

/// Refuses lines that are too long for armour.
struct LineLimit<R> {
    inner: R,
    line: usize,
}

impl<R: Read> Read for LineLimit<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        const MAX_LINE_BYTES: usize = 256;
        let max_read = buf.len().min(MAX_LINE_BYTES);
        let n = self.inner.read(&mut buf[..max_read])?;
        self.line = match buf[..n].iter().rposition(|b| *b == b'\n') {
            Some(position) => n - position - 1,
            None => self.line + n,
        };
        if self.line > MAX_LINE_BYTES {
            return Err(io::Error::new(ErrorKind::InvalidData, "a line of armour without end"));
        }
        Ok(n)
    }
}

/// Reports invalid armour as damaged data, not as an I/O error.
fn armour_error(error: io::Error) -> CryptoError {
    match error.kind() {
        ErrorKind::InvalidData | ErrorKind::UnexpectedEof => CryptoError::Decrypt,
        _ => CryptoError::Io(error),
    }
}

fn age_error(error: DecryptError) -> CryptoError {
    match error {
        DecryptError::ExcessiveWork { .. } => CryptoError::KdfParameters,
        DecryptError::Io(e) => armour_error(e),
        _ => CryptoError::Decrypt,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn encrypt(plaintext: &[u8], work: u8) -> Vec<u8> {
        let mut writer = AgeWriter::with_work_factor("four words of it", Vec::new(), work).unwrap();
        writer.write_all(plaintext).unwrap();
        writer.finish().unwrap()
    }

    fn open(passphrase: &str, bytes: &[u8]) -> Result<Vec<u8>, CryptoError> {
        let mut out = Vec::new();
        open_age(passphrase, Box::new(bytes))?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn a_file_opens_with_its_passphrase_only() {
        let plaintext: Vec<u8> = (0..200_000u32).map(|n| (n % 251) as u8).collect();
        let file = encrypt(&plaintext, 4);
        assert_eq!(open("four words of it", &file).unwrap(), plaintext);
        assert!(matches!(open("other words", &file), Err(CryptoError::Decrypt)));
        for position in [0, 30, 100, 170, 70_000, file.len() - 1] {
            let mut changed = file.clone();
            changed[position] ^= 1;
            assert!(open("four words of it", &changed).is_err(), "byte {position}");
        }
        for len in [0, 20, 100, 170, 65_000, file.len() - 1] {
            assert!(open("four words of it", &file[..len]).is_err(), "cut to {len}");
        }
    }

    #[test]
    fn a_work_factor_above_the_limit_is_refused() {
        let file = encrypt(b"x", 2);
        let text = String::from_utf8_lossy(&file).into_owned();
        let factor_at = text.find(" 2\n").unwrap();
        let mut costly = file[..factor_at].to_vec();
        costly.extend_from_slice(b" 19");
        costly.extend_from_slice(&file[factor_at + 2..]);
        assert!(matches!(open("four words of it", &costly), Err(CryptoError::KdfParameters)));
    }

    #[test]
    fn an_endless_header_is_not_read_completely() {
        struct EndlessHeader(u64);
        impl Read for EndlessHeader {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                assert!(self.0 < 1 << 20, "{} bytes were read", self.0);
                let line = b"-> X25519 aaaa\n";
                let n = buf.len().min(line.len());
                buf[..n].copy_from_slice(&line[..n]);
                self.0 += n as u64;
                Ok(n)
            }
        }
        struct EndlessLine(u64);
        impl Read for EndlessLine {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                assert!(self.0 < 1 << 20, "{} bytes were read", self.0);
                buf.fill(b'A');
                self.0 += buf.len() as u64;
                Ok(buf.len())
            }
        }
        let assert_refused = |head: &str, rest: Box<dyn Read>| {
            let head = Cursor::new(head.as_bytes().to_vec());
            assert!(matches!(open_age("x", Box::new(head.chain(rest))), Err(CryptoError::Decrypt)));
        };
        assert_refused("age-encryption.org/v1\n", Box::new(EndlessHeader(0)));
        assert_refused("age-encryption.org/v1\n--- ", Box::new(EndlessLine(0)));
        assert_refused("-----BEGIN AGE ENCRYPTED FILE-----\n", Box::new(EndlessLine(0)));
        assert_refused("-----BEGIN ", Box::new(EndlessLine(0)));
    }
}
