//! One entry of a ZIP file, and the reader of its bytes.
use super::{
    super::source::{Source, Window},
    LOCAL_SIGNATURE, le16,
};
use flate2::bufread::DeflateDecoder;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read};

/// Largest buffer for the compressed bytes of an entry that is read.
const MAX_BUFFER_BYTES: usize = 128 << 10;

/// Flags of an encrypted entry: bit 0; bit 6 for strong encryption; bit 13 if the directory is encrypted too, and hides
/// values of the local header (APPNOTE 6.3.10, §4.4.4).
const ENCRYPTION_FLAGS: u16 = 1 | 1 << 6 | 1 << 13;

/// Flag of an entry that contains only the differences from another version of the file (compressed patched data;
/// APPNOTE 6.3.10, §4.4.4, bit 5).
const PATCH_FLAG: u16 = 1 << 5;

/// Flags of entries whose bytes are not the file, even if they can be unpacked. Of the other flags, bit 3 says where the
/// sizes are, and bits 1, 2, 4 and 11 describe the compression and the encoding of the name. The remaining ones are
/// unused or reserved.
pub(super) const UNREADABLE_FLAGS: u16 = ENCRYPTION_FLAGS | PATCH_FLAG;

/// Message for an entry that is compressed as a patch.
pub(in super::super) const PATCH_MESSAGE: &str =
    "only a patch of another version of the file (compressed patched data); pack the files again with Deflate";

/// Message for an entry with a compression method that we cannot decompress. The names are those of the ZIP
/// specification (APPNOTE 6.3.10, §4.4.5).
pub(in super::super) fn unsupported_method_message(method: u16) -> String {
    let name = match method {
        1 => "Shrink",
        6 => "Implode",
        9 => "Deflate64",
        12 => "bzip2",
        14 => "LZMA",
        93 => "Zstandard",
        95 => "XZ",
        98 => "PPMd",
        99 => "AES encryption",
        _ => "an unknown method",
    };
    format!("the compression with {name} (method {method}) is not supported; pack the files again with Deflate")
}

/// One file in an archive.
#[derive(Debug, Clone)]
pub(in super::super) struct Entry {
    /// Decoded name, with its original separators.
    pub(in super::super) name: String,
    /// The bytes of the name in the archive.
    pub(super) raw_name: Box<[u8]>,
    pub(super) method: u16,
    pub(super) flags: u16,
    pub(super) crc: u32,
    pub(in super::super) packed: u64,
    /// Uncompressed size as declared.
    pub(in super::super) size: u64,
    pub(super) position: Position,
    /// Unix mode bits. 0 if the archive has none.
    pub(super) mode: u32,
    /// True if `size` and `crc` are known, and reading checks the bytes against them.
    pub(super) is_checked: bool,
    /// True if the archive ends before the entry does.
    pub(in super::super) is_truncated: bool,
}

/// Offset in the archive of an entry's local header, or of its data.
#[derive(Debug, Clone, Copy)]
pub(super) enum Position {
    Header(u64),
    Data(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum EntryKind {
    Plain,
    Folder,
    Link,
    Device,
    Encrypted,
    /// Contains only the differences from another version of the file.
    Patch,
    /// Compressed by this method, which we cannot decompress.
    Method(u16),
}

impl Entry {
    /// An entry whose bytes are stored uncompressed at a known offset and without a checksum, as in a tar archive. The
    /// archive contains the first `len` bytes of the entry.
    pub(in super::super) fn stored(name: String, raw_name: &[u8], offset: u64, len: u64, size: u64, mode: u32) -> Self {
        Self {
            name,
            raw_name: raw_name.into(),
            method: 0,
            flags: 0,
            crc: 0,
            packed: len,
            size,
            position: Position::Data(offset),
            mode,
            is_checked: false,
            is_truncated: len < size,
        }
    }

    pub(in super::super) fn kind(&self) -> EntryKind {
        match self.mode & 0o170_000 {
            0o120_000 => return EntryKind::Link,
            0o040_000 => return EntryKind::Folder,
            0 | 0o100_000 => {}
            _ => return EntryKind::Device,
        }
        if self.name.ends_with(['/', '\\']) {
            EntryKind::Folder
        } else if self.flags & ENCRYPTION_FLAGS != 0 {
            EntryKind::Encrypted
        } else if self.flags & PATCH_FLAG != 0 {
            EntryKind::Patch
        } else if self.method != 0 && self.method != 8 {
            EntryKind::Method(self.method)
        } else {
            EntryKind::Plain
        }
    }

    /// The part of the archive that contains the bytes, if they are stored uncompressed and completely.
    pub(in super::super) fn stored_bytes(&self, archive: &Source) -> std::io::Result<Option<Source>> {
        if self.method != 0 || self.is_truncated || self.packed != self.size {
            return Ok(None);
        }
        Ok(Some(archive.slice(self.data_offset(archive)?, self.packed)))
    }

    /// Reads the uncompressed bytes from the start. An entry that is truncated or too short ends with
    /// [`ErrorKind::UnexpectedEof`]; too many bytes or a wrong checksum are [`ErrorKind::InvalidData`].
    pub(in super::super) fn read(&self, archive: &Source) -> std::io::Result<EntryReader> {
        let packed = archive.slice(self.data_offset(archive)?, self.packed).window(0)?;
        // The buffer of a small entry is kept small, because it is zeroed for each entry.
        let capacity = usize::try_from(self.packed).unwrap_or(usize::MAX).clamp(1, MAX_BUFFER_BYTES);
        let bytes = BufReader::with_capacity(capacity, packed);
        let inner =
            if self.method == 8 { Decoder::Deflate(DeflateDecoder::new(bytes)) } else { Decoder::Stored(bytes) };
        let declared = self.is_checked.then_some((self.size, self.crc));
        let crc = crc32fast::Hasher::new();
        let end = End::NotReached;
        Ok(EntryReader { inner, crc, bytes_read: 0, declared, is_truncated: self.is_truncated, end })
    }

    fn data_offset(&self, archive: &Source) -> std::io::Result<u64> {
        match self.position {
            Position::Data(position) => Ok(position),
            Position::Header(position) => {
                let header = archive.bytes(position, 30)?;
                if header.len() < 30 || header[..4] != LOCAL_SIGNATURE {
                    return Err(Error::new(ErrorKind::InvalidData, "the entry is not where the directory says"));
                }
                Ok(position + 30 + u64::from(le16(&header, 26)) + u64::from(le16(&header, 28)))
            }
        }
    }
}

/// Reads one entry and checks its size and checksum.
pub(in super::super) struct EntryReader {
    inner: Decoder,
    crc: crc32fast::Hasher,
    bytes_read: u64,
    declared: Option<(u64, u32)>,
    is_truncated: bool,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    NotReached,
    /// The end was reached, and nothing was damaged.
    Intact,
    /// The end was reached and nothing was damaged, but more bytes of the entry follow the compressed data.
    BytesFollow,
}

impl EntryReader {
    /// True if the entry was read to its end, its size and checksum are as declared, and it has no other bytes.
    pub(in super::super) fn is_intact(&self) -> bool {
        self.end == End::Intact
    }

    /// True if the entry was read to its end, and bytes that no program reads follow the compressed data.
    pub(in super::super) fn has_more_bytes(&self) -> bool {
        self.end == End::BytesFollow
    }

    /// Decides the state at the end of the entry, after the decoder returned its last byte.
    fn end_of_stream(&mut self) -> std::io::Result<End> {
        let Decoder::Deflate(decoder) = &mut self.inner else { return Ok(End::Intact) };
        let rest = decoder.get_mut().fill_buf()?;
        Ok(if rest.is_empty() { End::Intact } else { End::BytesFollow })
    }
}

enum Decoder {
    Stored(BufReader<Window>),
    Deflate(DeflateDecoder<BufReader<Window>>),
}

impl Read for EntryReader {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let result = match &mut self.inner {
            Decoder::Stored(r) => r.read(buf),
            Decoder::Deflate(r) => r.read(buf),
        };
        let n = match result {
            Ok(n) => n,
            Err(_) if self.is_truncated => return Err(ends_early_error()),
            Err(e) => return Err(Error::new(ErrorKind::InvalidData, e)),
        };
        self.bytes_read += n as u64;
        let Some((size, crc)) = self.declared else {
            if n == 0 && !buf.is_empty() {
                if self.is_truncated {
                    return Err(ends_early_error());
                }
                self.end = End::Intact;
            }
            return Ok(n);
        };
        if self.bytes_read > size {
            return Err(Error::new(ErrorKind::InvalidData, "the entry is larger than it declares"));
        }
        self.crc.update(&buf[..n]);
        if n == 0 && !buf.is_empty() {
            if self.bytes_read < size {
                return Err(ends_early_error());
            }
            if self.crc.clone().finalize() != crc {
                return Err(Error::new(ErrorKind::InvalidData, "wrong checksum"));
            }
            self.end = self.end_of_stream()?;
        }
        Ok(n)
    }
}

fn ends_early_error() -> Error {
    Error::new(ErrorKind::UnexpectedEof, "the entry ends early")
}
