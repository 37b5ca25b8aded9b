//! Scratch space: an unnamed file, encrypted with a key that exists only in memory.
use crate::{
    CryptoError, Secret,
    hazmat::{Cipher, NONCE_LEN, TAG_LEN},
    random_bytes,
};
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};
use zeroize::Zeroizing;

const PAGE_LEN: usize = 64 * 1024;
const ENCRYPTED_PAGE_LEN: u64 = (NONCE_LEN + PAGE_LEN + TAG_LEN) as u64;
/// Position of the text in an encrypted page.
const TEXT: std::ops::Range<usize> = NONCE_LEN..NONCE_LEN + PAGE_LEN;

/// A scratch file of any size with `Read`, `Write` and `Seek`, which keeps one page of plaintext in memory. Dropping it
/// deletes file and key. Each page is encrypted with a new nonce whenever it is written, and bound to its position and
/// write count, so that an older version of the page is not accepted.
pub struct SpoolFile {
    file: File,
    cipher: Cipher,
    len: u64,
    offset: u64,
    /// For each page, how often it was written. A page with count 0 consists of zeros.
    write_counts: Vec<u64>,
    /// A page as in the file: nonce, text and tag. The text is decrypted in place.
    page: Zeroizing<Vec<u8>>,
    /// The page that was written last, encrypted. Kept because allocating it for each page takes as long as encrypting.
    sealed: Zeroizing<Vec<u8>>,
    /// Number of the page in `page`.
    number: Option<u64>,
    /// True if `page` has changes that are not in the file yet.
    is_dirty: bool,
}

impl SpoolFile {
    /// A new, empty scratch file in a folder.
    pub fn create_in(dir: &Path) -> Result<Self, CryptoError> {
        let file = tempfile::tempfile_in(dir)?;
        let cipher = Cipher::new(Secret::generate()?.bytes());
        let page = Zeroizing::new(vec![0; ENCRYPTED_PAGE_LEN as usize]);
        let sealed = page.clone();
        let write_counts = Vec::new();
        Ok(Self { file, cipher, len: 0, offset: 0, write_counts, page, sealed, number: None, is_dirty: false })
    }

    /// The length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if the file has no content.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn aad(number: u64, write_count: u64) -> [u8; 16] {
        let mut aad = [0; 16];
        aad[..8].copy_from_slice(&number.to_le_bytes());
        aad[8..].copy_from_slice(&write_count.to_le_bytes());
        aad
    }

    fn write_page(&mut self) -> Result<(), CryptoError> {
        let Some(number) = self.number.filter(|_| self.is_dirty) else { return Ok(()) };
        let position = usize::try_from(number).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        if self.write_counts.len() <= position {
            self.write_counts.resize(position + 1, 0);
        }
        let write_count = self.write_counts[position] + 1;
        let nonce = random_bytes::<NONCE_LEN>()?;
        // A copy is encrypted, because the plaintext page stays in use.
        self.sealed[..NONCE_LEN].copy_from_slice(&nonce);
        self.sealed[TEXT].copy_from_slice(&self.page[TEXT]);
        let tag = self.cipher.seal(&nonce, &Self::aad(number, write_count), &mut self.sealed[TEXT])?;
        self.sealed[TEXT.end..].copy_from_slice(&tag);
        self.file.seek(SeekFrom::Start(number * ENCRYPTED_PAGE_LEN))?;
        self.file.write_all(&self.sealed)?;
        self.write_counts[position] = write_count;
        self.is_dirty = false;
        Ok(())
    }

    fn load_page(&mut self, number: u64) -> Result<(), CryptoError> {
        if self.number == Some(number) {
            return Ok(());
        }
        self.write_page()?;
        self.number = None;
        let write_count = usize::try_from(number).ok().and_then(|n| self.write_counts.get(n)).copied().unwrap_or(0);
        if write_count == 0 {
            self.page.fill(0);
        } else {
            self.file.seek(SeekFrom::Start(number * ENCRYPTED_PAGE_LEN))?;
            self.file.read_exact(&mut self.page)?;
            let mut nonce = [0; NONCE_LEN];
            nonce.copy_from_slice(&self.page[..NONCE_LEN]);
            self.cipher.open(&nonce, &Self::aad(number, write_count), &mut self.page[NONCE_LEN..])?;
        }
        self.number = Some(number);
        Ok(())
    }

    fn position(&self) -> (u64, usize) {
        let page = PAGE_LEN as u64;
        (self.offset / page, usize::try_from(self.offset % page).unwrap_or(0))
    }
}

impl Read for SpoolFile {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let bytes_left = usize::try_from(self.len.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        if bytes_left == 0 || buf.is_empty() {
            return Ok(0);
        }
        let (number, start) = self.position();
        self.load_page(number)?;
        let n = (PAGE_LEN - start).min(buf.len()).min(bytes_left);
        buf[..n].copy_from_slice(&self.page[TEXT][start..start + n]);
        self.offset += n as u64;
        Ok(n)
    }
}

impl Write for SpoolFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let (number, start) = self.position();
        self.load_page(number)?;
        let n = (PAGE_LEN - start).min(bytes.len());
        self.page[TEXT][start..start + n].copy_from_slice(&bytes[..n]);
        self.is_dirty = true;
        self.offset += n as u64;
        self.len = self.len.max(self.offset);
        Ok(n)
    }

    /// Writes the page in memory to the file.
    fn flush(&mut self) -> io::Result<()> {
        Ok(self.write_page()?)
    }
}

impl Seek for SpoolFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(n) => Some(n),
            SeekFrom::End(n) => self.len.checked_add_signed(n),
            SeekFrom::Current(n) => self.offset.checked_add_signed(n),
        };
        self.offset = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}

impl std::fmt::Debug for SpoolFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpoolFile").field("len", &self.len).finish_non_exhaustive()
    }
}
