//! One entry and its bytes.
use super::{
    super::source::{Source, Window},
    LOCAL, le16,
};
use flate2::bufread::DeflateDecoder;
use std::io::{BufReader, Error, ErrorKind, Read};

/// One file in an archive.
#[derive(Debug, Clone)]
pub(in super::super) struct Entry {
    /// Decoded, separators as written.
    pub(in super::super) name: String,
    pub(super) method: u16,
    pub(super) flags: u16,
    pub(super) crc: u32,
    pub(super) packed: u64,
    /// Uncompressed size as declared.
    pub(in super::super) size: u64,
    pub(super) position: Position,
    /// Unix mode bits, 0 when not given.
    pub(super) mode: u32,
    /// `packed`, `size` and `crc` are known and must hold.
    pub(super) checked: bool,
    /// The archive ends inside it.
    pub(in super::super) cut: bool,
}

/// Where an entry is in its archive.
#[derive(Debug, Clone, Copy)]
pub(super) enum Position {
    Header(u64),
    Data(u64),
}

/// What an entry is besides a plain file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum EntryKind {
    Plain,
    Folder,
    Link,
    Device,
    Encrypted,
    /// Compressed by this method, which we cannot undo.
    Method(u16),
}

impl Entry {
    pub(in super::super) fn kind(&self) -> EntryKind {
        match self.mode & 0o170_000 {
            0o120_000 => return EntryKind::Link,
            0o040_000 => return EntryKind::Folder,
            0 | 0o100_000 => {}
            _ => return EntryKind::Device,
        }
        if self.name.ends_with(['/', '\\']) {
            EntryKind::Folder
        } else if self.flags & 0x41 != 0 {
            EntryKind::Encrypted
        } else if self.method != 0 && self.method != 8 {
            EntryKind::Method(self.method)
        } else {
            EntryKind::Plain
        }
    }

    /// The bytes where they lie, if they are stored uncompressed and whole.
    pub(in super::super) fn in_place(&self, archive: &Source) -> std::io::Result<Option<Source>> {
        if self.method != 0 || self.cut || self.packed != self.size {
            return Ok(None);
        }
        Ok(Some(archive.slice(self.data(archive)?, self.packed)))
    }

    /// Uncompressed bytes from the start. A cut entry ends with [`ErrorKind::UnexpectedEof`], a wrong checksum or size
    /// is [`ErrorKind::InvalidData`].
    pub(in super::super) fn read(&self, archive: &Source) -> std::io::Result<EntryReader> {
        let packed = archive.slice(self.data(archive)?, self.packed).window(0)?;
        let bytes = BufReader::with_capacity(128 * 1024, packed);
        let inner = if self.method == 8 { Inner::Deflate(DeflateDecoder::new(bytes)) } else { Inner::Stored(bytes) };
        let declared = self.checked.then_some((self.size, self.crc));
        Ok(EntryReader { inner, crc: crc32fast::Hasher::new(), done: 0, declared, cut: self.cut })
    }

    fn data(&self, archive: &Source) -> std::io::Result<u64> {
        match self.position {
            Position::Data(at) => Ok(at),
            Position::Header(at) => {
                let header = archive.bytes(at, 30)?;
                if header.len() < 30 || header[..4] != LOCAL {
                    return Err(Error::new(ErrorKind::InvalidData, "the entry is not where the directory says"));
                }
                Ok(at + 30 + u64::from(le16(&header, 26)) + u64::from(le16(&header, 28)))
            }
        }
    }
}

/// Reads one entry and checks it on the way.
pub(in super::super) struct EntryReader {
    inner: Inner,
    crc: crc32fast::Hasher,
    done: u64,
    declared: Option<(u64, u32)>,
    cut: bool,
}

enum Inner {
    Stored(BufReader<Window>),
    Deflate(DeflateDecoder<BufReader<Window>>),
}

impl Read for EntryReader {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let result = match &mut self.inner {
            Inner::Stored(r) => r.read(buf),
            Inner::Deflate(r) => r.read(buf),
        };
        let n = match result {
            Ok(n) => n,
            Err(_) if self.cut => return Err(early()),
            Err(e) => return Err(Error::new(ErrorKind::InvalidData, e)),
        };
        self.done += n as u64;
        let Some((size, crc)) = self.declared else {
            return if n == 0 && self.cut && !buf.is_empty() { Err(early()) } else { Ok(n) };
        };
        if self.done > size {
            return Err(Error::new(ErrorKind::InvalidData, "the entry is larger than it declares"));
        }
        self.crc.update(&buf[..n]);
        if n == 0 && !buf.is_empty() {
            if self.done < size {
                return Err(early());
            }
            if self.crc.clone().finalize() != crc {
                return Err(Error::new(ErrorKind::InvalidData, "wrong checksum"));
            }
        }
        Ok(n)
    }
}

fn early() -> Error {
    Error::new(ErrorKind::UnexpectedEof, "the entry ends early")
}
