//! Files in chunks with random access. Each chunk has its own AEAD tag and is bound to file, name, generation and
//! position.
//!
//! ```text
//! file  = magic (8) | salt (24, random) | chunk*          at least one chunk
//! chunk = XChaCha20-Poly1305(65,536 bytes of plaintext, fewer only in the last) | tag (16)
//! file key = HKDF-SHA256(key, salt, "keepsake/v1/chunked" + context)
//! nonce    = chunk number (u64 LE) | 1 when last, else 0 | zeros      unique per file key
//! aad      = magic | context | chunk number | last
//! A file that is cut off at a chunk boundary does not open, because its last chunk was not sealed as the last one. A
//! chunk from another position, file, name or generation has a different nonce or key. All of these fail with
//! `Decrypt`.
use crate::{
    CryptoError, ReadAt,
    hazmat::{self, Cipher, NONCE_LEN, TAG_LEN},
    random_bytes,
};
use std::io::{self, Read, Seek, SeekFrom, Write};
use zeroize::Zeroizing;

/// Plaintext length of a chunk in bytes.
pub const CHUNK_LEN: usize = 64 * 1024;
const ENCRYPTED_CHUNK_LEN: usize = CHUNK_LEN + TAG_LEN;
const CHUNKED_FILE_MAGIC: &[u8; 8] = b"KPSKCHK\x01";
const SALT_LEN: usize = 24;
const HEADER_LEN: usize = CHUNKED_FILE_MAGIC.len() + SALT_LEN;

/// Identifies a file, so that no other file can be put in its place. It is not written into the file.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The purpose of the file (`blob`, `index`).
    pub purpose: &'a str,
    /// File name or other identifier within the purpose.
    pub name: &'a str,
    /// Distinguishes files that had the same name at different times.
    pub generation: u64,
}

/// The key of a file and the fixed part of its associated data.
struct FileCipher {
    cipher: Cipher,
    aad: Vec<u8>,
}

impl FileCipher {
    fn new(key: &[u8; 32], salt: &[u8; SALT_LEN], context: &Context<'_>) -> Self {
        let label: &[u8] = b"keepsake/v1/chunked";
        let encoded_context = hazmat::encode_list(&[
            label,
            CHUNKED_FILE_MAGIC,
            context.purpose.as_bytes(),
            context.name.as_bytes(),
            &context.generation.to_le_bytes(),
        ]);
        Self { cipher: Cipher::new(&hazmat::derive_key(key, salt, &encoded_context)), aad: encoded_context }
    }

    fn nonce_and_aad(&self, number: u64, is_last: bool) -> ([u8; NONCE_LEN], Vec<u8>) {
        let mut nonce = [0; NONCE_LEN];
        nonce[..8].copy_from_slice(&number.to_le_bytes());
        nonce[8] = u8::from(is_last);
        let mut aad = Vec::with_capacity(self.aad.len() + 9);
        aad.extend_from_slice(&self.aad);
        aad.extend_from_slice(&nonce[..9]);
        (nonce, aad)
    }
}

/// Encrypts the bytes written to it. The file can be opened only after [`finish`](Self::finish).
pub struct ChunkWriter<W: Write> {
    inner: W,
    cipher: FileCipher,
    buf: Zeroizing<Vec<u8>>,
    /// Number of the chunk in `buf`.
    number: u64,
}

impl<W: Write> ChunkWriter<W> {
    /// Starts a file by writing its header.
    pub fn new(mut inner: W, key: &[u8; 32], context: &Context<'_>) -> Result<Self, CryptoError> {
        let salt = random_bytes::<SALT_LEN>()?;
        inner.write_all(CHUNKED_FILE_MAGIC)?;
        inner.write_all(&salt)?;
        // The buffer has room for the tag too, so that chunk and tag are written together.
        let buf = Zeroizing::new(Vec::with_capacity(ENCRYPTED_CHUNK_LEN));
        Ok(Self { inner, cipher: FileCipher::new(key, &salt, context), buf, number: 0 })
    }

    fn seal(&mut self, is_last: bool) -> Result<(), CryptoError> {
        let (nonce, aad) = self.cipher.nonce_and_aad(self.number, is_last);
        let tag = self.cipher.cipher.seal(&nonce, &aad, &mut self.buf)?;
        self.buf.extend_from_slice(&tag);
        self.inner.write_all(&self.buf)?;
        self.buf.clear();
        self.number += 1;
        Ok(())
    }

    /// Seals the last chunk and returns the inner writer, flushed but not synced.
    pub fn finish(mut self) -> Result<W, CryptoError> {
        self.seal(true)?;
        self.inner.flush()?;
        Ok(self.inner)
    }

    /// The inner writer, for syncing. Writing to it directly damages the file.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }
}

impl<W: Write> Write for ChunkWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full chunk may be the last one, so it is sealed only when more data follows.
        if self.buf.len() == CHUNK_LEN && !bytes.is_empty() {
            self.seal(false)?;
        }
        let n = bytes.len().min(CHUNK_LEN - self.buf.len());
        self.buf.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    /// Does nothing, because a chunk is sealed and written only when it is complete.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> std::fmt::Debug for ChunkWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkWriter").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Reads an encrypted file at any position. All methods take `&self`, so threads can share a reader.
pub struct ChunkReader<R: ReadAt> {
    inner: R,
    cipher: FileCipher,
    len: u64,
    chunks: u64,
}

impl<R: ReadAt> ChunkReader<R> {
    /// Opens a file of `len` bytes. The last chunk is decrypted immediately, so a truncated or extended file is refused
    /// when it is opened; any other change is found when the changed chunk is read.
    pub fn open(inner: R, len: u64, key: &[u8; 32], context: &Context<'_>) -> Result<Self, CryptoError> {
        let mut head = [0; HEADER_LEN];
        let body = len.checked_sub(HEADER_LEN as u64).ok_or(CryptoError::Decrypt)?;
        inner.read_exact_at(&mut head, 0).map_err(map_read_error)?;
        let (magic, salt) = head.split_at(CHUNKED_FILE_MAGIC.len());
        let salt: [u8; SALT_LEN] = salt.try_into().map_err(|_| CryptoError::Decrypt)?;
        let chunks = body.div_ceil(ENCRYPTED_CHUNK_LEN as u64);
        let len = body.checked_sub(chunks * TAG_LEN as u64).ok_or(CryptoError::Decrypt)?;
        // Only the chunk of an empty file may be empty.
        if magic != CHUNKED_FILE_MAGIC || chunks == 0 || (chunks > 1 && len <= (chunks - 1) * CHUNK_LEN as u64) {
            return Err(CryptoError::Decrypt);
        }
        let reader = Self { inner, cipher: FileCipher::new(key, &salt, context), len, chunks };
        reader.read_chunk(chunks - 1, &mut Zeroizing::new(Vec::new()))?;
        Ok(reader)
    }

    /// Plaintext length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if there is no plaintext.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of chunks, at least one.
    pub fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Decrypts one chunk and replaces the content of `out` with it. After an error `out` is empty.
    pub fn read_chunk(&self, number: u64, out: &mut Vec<u8>) -> Result<(), CryptoError> {
        out.clear();
        if number >= self.chunks {
            return Err(CryptoError::Io(io::ErrorKind::UnexpectedEof.into()));
        }
        let is_last = number == self.chunks - 1;
        let plain_len = if is_last { self.len - number * CHUNK_LEN as u64 } else { CHUNK_LEN as u64 };
        out.resize(usize::try_from(plain_len).unwrap_or(0) + TAG_LEN, 0);
        let opened_len = self
            .inner
            .read_exact_at(out, HEADER_LEN as u64 + number * ENCRYPTED_CHUNK_LEN as u64)
            .map_err(map_read_error)
            .and_then(|()| {
                let (nonce, aad) = self.cipher.nonce_and_aad(number, is_last);
                self.cipher.cipher.open(&nonce, &aad, out)
            });
        out.truncate(*opened_len.as_ref().unwrap_or(&0));
        opened_len.map(|_| ())
    }

    /// Fills `buf` from `offset`. Fails with `Io(UnexpectedEof)` if the file ends before `buf` is full. Each call
    /// decrypts every chunk that it needs.
    pub fn read_at(&self, mut offset: u64, mut buf: &mut [u8]) -> Result<(), CryptoError> {
        let mut chunk = Zeroizing::new(Vec::with_capacity(ENCRYPTED_CHUNK_LEN));
        while !buf.is_empty() {
            self.read_chunk(offset / CHUNK_LEN as u64, &mut chunk)?;
            let start = usize::try_from(offset % CHUNK_LEN as u64).unwrap_or(0);
            let part =
                chunk.get(start..).filter(|p| !p.is_empty()).ok_or(io::Error::from(io::ErrorKind::UnexpectedEof))?;
            let n = part.len().min(buf.len());
            buf[..n].copy_from_slice(&part[..n]);
            buf = &mut buf[n..];
            offset += n as u64;
        }
        Ok(())
    }

    /// A stream over the plaintext from the start, one chunk at a time.
    pub fn into_read(self) -> ChunkStream<R> {
        ChunkStream { reader: self, offset: 0, number: None, chunk: Zeroizing::new(Vec::new()) }
    }
}

impl<R: ReadAt> std::fmt::Debug for ChunkReader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkReader").field("len", &self.len).finish_non_exhaustive()
    }
}

/// A [`ChunkReader`] as `Read` and `Seek`. A chunk that cannot be decrypted is an `InvalidData` error.
#[derive(Debug)]
pub struct ChunkStream<R: ReadAt> {
    reader: ChunkReader<R>,
    offset: u64,
    /// Number of the chunk in `chunk`.
    number: Option<u64>,
    chunk: Zeroizing<Vec<u8>>,
}

impl<R: ReadAt> Read for ChunkStream<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.offset >= self.reader.len || buf.is_empty() {
            return Ok(0);
        }
        let number = self.offset / CHUNK_LEN as u64;
        if self.number != Some(number) {
            self.number = None;
            self.reader.read_chunk(number, &mut self.chunk)?;
            self.number = Some(number);
        }
        let start = usize::try_from(self.offset % CHUNK_LEN as u64).unwrap_or(0);
        let part = self.chunk.get(start..).unwrap_or_default();
        let n = part.len().min(buf.len());
        buf[..n].copy_from_slice(&part[..n]);
        self.offset += n as u64;
        Ok(n)
    }
}

impl<R: ReadAt> Seek for ChunkStream<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(n) => Some(n),
            SeekFrom::End(n) => self.reader.len.checked_add_signed(n),
            SeekFrom::Current(n) => self.offset.checked_add_signed(n),
        };
        self.offset = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}

/// Reports a truncated file as failed decryption, not as an I/O error.
fn map_read_error(error: io::Error) -> CryptoError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => CryptoError::Decrypt,
        _ => CryptoError::Io(error),
    }
}
