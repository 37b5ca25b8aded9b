//! Reads the central directory of a ZIP file.
use super::{
    super::source::Source,
    CENTRAL_SIGNATURE, END_SIGNATURE,
    entry::{Entry, Position},
    extra_field, le16, le32, le64, names,
};
use std::io::{BufReader, Read};

/// Signature of the Zip64 end-of-directory locator.
const LOCATOR64_SIGNATURE: [u8; 4] = *b"PK\x06\x07";
/// Signature of the Zip64 end-of-directory record.
const END64_SIGNATURE: [u8; 4] = *b"PK\x06\x06";

/// Number of bytes at the end of the file that are searched for the end record. A comment after that record has at most
/// 64 KiB, but downloads can have other bytes after the archive.
const MAX_TAIL_BYTES: u64 = 1 << 20;

/// The directory of an archive.
pub(in super::super) struct Directory {
    /// The entries in directory order, including duplicates.
    pub(in super::super) entries: Vec<Entry>,
    /// Byte offset at which the directory starts.
    pub(in super::super) start: u64,
}

/// Reads the directory. None if there is no usable directory. At most `max` entries are read. To detect too many
/// entries, the caller passes one more than its limit.
pub(in super::super) fn directory(source: &Source, max: u64) -> std::io::Result<Option<Directory>> {
    let from = source.len().saturating_sub(MAX_TAIL_BYTES);
    let tail = source.bytes(from, MAX_TAIL_BYTES as usize)?;
    // The number of attempts is limited, because a hostile file may contain nothing but this signature.
    for at in memchr::memmem::rfind_iter(&tail, &END_SIGNATURE).take(64) {
        let Some(record) = tail.get(at..at + 22) else { continue };
        if let Some(found) = read(source, &locate_directory(source, from + at as u64, record)?, max)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

struct DirectoryLocation {
    /// Offsets where the directory may start, best guess first, each with the number of bytes before the archive.
    starts: Vec<(u64, u64)>,
    entries: u64,
}

fn locate_directory(source: &Source, end: u64, record: &[u8]) -> std::io::Result<DirectoryLocation> {
    let mut entries = u64::from(le16(record, 10));
    let mut size = u64::from(le32(record, 12));
    let mut offset = u64::from(le32(record, 16));
    let mut end = end;
    if let Some(at) = end.checked_sub(20) {
        let locator = source.bytes(at, 20)?;
        if locator.starts_with(&LOCATOR64_SIGNATURE) {
            // The recorded offset is wrong if there are other bytes before the archive, but even then the record is
            // directly before the locator.
            for at in [le64(&locator, 8), at.saturating_sub(56)] {
                let record = source.bytes(at, 56)?;
                if record.len() == 56 && record.starts_with(&END64_SIGNATURE) {
                    (entries, size, offset) = (le64(&record, 32), le64(&record, 40), le64(&record, 48));
                    end = at;
                    break;
                }
            }
        }
    }
    let mut starts = Vec::new();
    if let Some(start) = end.checked_sub(size) {
        starts.push((start, start.saturating_sub(offset)));
    }
    starts.push((offset, 0));
    Ok(DirectoryLocation { starts, entries })
}

fn read(source: &Source, place: &DirectoryLocation, max: u64) -> std::io::Result<Option<Directory>> {
    for &(start, base) in &place.starts {
        let mut reader = BufReader::with_capacity(64 * 1024, source.window(start)?);
        let mut entries = Vec::new();
        while (entries.len() as u64) < place.entries.min(max) {
            match read_entry(&mut reader, base)? {
                Some(entry) => entries.push(entry),
                None => break,
            }
        }
        if entries.len() as u64 == place.entries.min(max) {
            return Ok(Some(Directory { entries, start }));
        }
    }
    Ok(None)
}

fn read_entry(reader: &mut impl Read, base: u64) -> std::io::Result<Option<Entry>> {
    let fixed_part = read_up_to(reader, 46)?;
    if fixed_part.len() < 46 || fixed_part[..4] != CENTRAL_SIGNATURE {
        return Ok(None);
    }
    let (name_len, extra_len) = (usize::from(le16(&fixed_part, 28)), usize::from(le16(&fixed_part, 30)));
    let variable_part = read_up_to(reader, name_len + extra_len + usize::from(le16(&fixed_part, 32)))?;
    if variable_part.len() < name_len + extra_len {
        return Ok(None);
    }
    let (name, extra) = (&variable_part[..name_len], &variable_part[name_len..name_len + extra_len]);
    let flags = le16(&fixed_part, 8);
    let (mut size, mut packed) = (u64::from(le32(&fixed_part, 24)), u64::from(le32(&fixed_part, 20)));
    let mut header = u64::from(le32(&fixed_part, 42));
    if let Some(mut wide) = extra_field(extra, 1) {
        for value in [&mut size, &mut packed, &mut header] {
            if *value == u64::from(u32::MAX) && wide.len() >= 8 {
                *value = le64(wide, 0);
                wide = &wide[8..];
            }
        }
    }
    Ok(Some(Entry {
        name: names::decode(name, flags, extra),
        raw_name: name.into(),
        method: le16(&fixed_part, 10),
        flags,
        crc: le32(&fixed_part, 16),
        packed,
        size,
        position: Position::Header(header.saturating_add(base)),
        mode: le32(&fixed_part, 38) >> 16,
        checked: true,
        truncated: false,
    }))
}

fn read_up_to(reader: &mut impl Read, n: usize) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(n);
    reader.take(n as u64).read_to_end(&mut out)?;
    Ok(out)
}
