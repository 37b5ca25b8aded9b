//! Reads the central directory of a ZIP file.
use super::{
    super::source::Source,
    CENTRAL_SIGNATURE, END_SIGNATURE,
    contradictions::Contradiction,
    entry::{Entry, Position},
    extra_field, le16, le32, le64, names,
};
use std::io::{BufReader, Read};

/// Signature of the Zip64 end-of-directory locator.
const LOCATOR64_SIGNATURE: [u8; 4] = *b"PK\x06\x07";
/// Start of the digital signature that may follow the last entry of the directory (APPNOTE 6.3.10, §4.3.13).
const DIGITAL_SIGNATURE_START: [u8; 4] = *b"PK\x05\x05";
/// Signature of the Zip64 end-of-directory record.
const END64_SIGNATURE: [u8; 4] = *b"PK\x06\x06";

/// Number of bytes at the end of the file that are searched for the end record. A comment after that record has at most
/// 64 KiB, but downloads can have other bytes after the archive.
const MAX_TAIL_BYTES: u64 = 1 << 20;

/// The central directory of an archive, with the faults found in it.
pub(in super::super) struct Directory {
    /// The entries in directory order, including duplicates.
    pub(in super::super) entries: Vec<Entry>,
    /// Byte offset at which the directory starts.
    pub(in super::super) start: u64,
    /// Faults of the directory itself. If the end record and the directory state different numbers, a program that
    /// trusts the stated number sees different entries than a program that reads to the end of the directory. If a part
    /// of the archive is on another disk, the offsets of its entries are not those of this file.
    pub(in super::super) contradictions: Vec<Contradiction>,
}

/// Reads the directory. None if there is no usable directory. At most `max` entries are read. To detect too many
/// entries, the caller passes one more than its limit.
pub(in super::super) fn directory(source: &Source, max: u64) -> std::io::Result<Option<Directory>> {
    let from = source.len().saturating_sub(MAX_TAIL_BYTES);
    let tail = source.bytes(from, MAX_TAIL_BYTES as usize)?;
    // The number of attempts is limited, because a hostile file may contain nothing but this signature.
    for position in memchr::memmem::rfind_iter(&tail, &END_SIGNATURE).take(64) {
        let Some(record) = tail.get(position..position + 22) else { continue };
        if let Some(found) = read(source, &locate_directory(source, from + position as u64, record)?, max)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

struct DirectoryLocation {
    /// Offsets where the directory may start, best guess first, each with the number of bytes before the archive.
    starts: Vec<(u64, u64)>,
    entries: u64,
    /// Number of bytes of the directory.
    size: u64,
    /// Offset of the directory, counted from the start of the archive.
    offset: u64,
    /// True if the number of entries comes from a Zip64 record.
    is_zip64: bool,
    /// True if the end record and the Zip64 record contradict each other.
    has_contradiction: bool,
    /// True if an end record states different numbers of entries for this disk and for all disks.
    has_two_counts: bool,
    /// True if an end record says that this is not the only disk of the archive.
    is_split: bool,
    /// True if the file ends inside the comment that the end record declares.
    is_comment_cut_off: bool,
}

impl DirectoryLocation {
    /// Compares the stated numbers with the directory that was read.
    fn contradiction(&self, directory: &ReadDirectory) -> Option<Contradiction> {
        let entries = directory.entries.len() as u64;
        // Without a Zip64 record, programs write the lower 16 bits of a larger number, as the archiver of macOS does,
        // or the largest number that fits.
        let is_cut_off = !self.is_zip64 && (entries % (1 << 16) == self.entries || self.entries == u64::from(u16::MAX));
        let message = match () {
            () if self.has_contradiction => "the two end records of the archive differ",
            () if self.has_two_counts => "the end record of the archive states two different numbers of entries",
            () if entries > self.entries && !is_cut_off => "the archive has more entries than its end record states",
            () if directory.bytes > self.size => "the directory of the archive is longer than its end record states",
            () if directory.bytes < self.size && !directory.is_signed => {
                "the directory of the archive is shorter than its end record states"
            }
            () if self.is_comment_cut_off => "the archive ends before its comment does",
            () if self.offset > directory.start => {
                "the directory of the archive starts before the offset in its end record"
            }
            () => return None,
        };
        let entry = usize::try_from(self.entries.min(entries.saturating_sub(1))).unwrap_or(0);
        Some(Contradiction { entry, code: "container_directory_differs", message })
    }

    /// The fault of a split archive. `on_other_disk` is the index of the first entry that is on another disk.
    fn split(&self, on_other_disk: Option<usize>) -> Option<Contradiction> {
        let entry = on_other_disk.or(self.is_split.then_some(0))?;
        let message = "the file is one part of a split archive; join the parts to one ZIP file first";
        Some(Contradiction { entry, code: "container_split_archive", message })
    }
}

/// True for the number of a disk other than the first. The number 0xFFFF is not a disk: the real number is in the Zip64
/// record.
fn is_other_disk(number: u16) -> bool {
    number != 0 && number != u16::MAX
}

fn locate_directory(source: &Source, end: u64, record: &[u8]) -> std::io::Result<DirectoryLocation> {
    let mut entries = u64::from(le16(record, 10));
    let mut size = u64::from(le32(record, 12));
    let mut offset = u64::from(le32(record, 16));
    let mut end = end;
    let (mut is_zip64, mut has_contradiction) = (false, false);
    let entries_on_disk = u64::from(le16(record, 8));
    let mut has_two_counts = entries_on_disk != entries;
    let is_comment_cut_off = end + 22 + u64::from(le16(record, 20)) > source.len();
    let mut is_split = is_other_disk(le16(record, 4)) || is_other_disk(le16(record, 6));
    if let Some(position) = end.checked_sub(20) {
        let locator = source.bytes(position, 20)?;
        if locator.starts_with(&LOCATOR64_SIGNATURE) {
            // The recorded offset is wrong if there are other bytes before the archive, but even then the record is
            // directly before the locator.
            for position in [le64(&locator, 8), position.saturating_sub(56)] {
                let record = source.bytes(position, 56)?;
                if record.len() == 56 && record.starts_with(&END64_SIGNATURE) {
                    let differs = |short_value: u64, position: usize, max: u64| {
                        short_value != max && short_value != le64(&record, position)
                    };
                    has_contradiction = differs(entries_on_disk, 24, u64::from(u16::MAX))
                        || differs(entries, 32, u64::from(u16::MAX))
                        || differs(size, 40, u64::from(u32::MAX))
                        || differs(offset, 48, u64::from(u32::MAX));
                    // The locator states how many disks the archive has.
                    is_split |= le32(&record, 16) != 0 || le32(&record, 20) != 0 || le32(&locator, 16) > 1;
                    has_two_counts = le64(&record, 24) != le64(&record, 32);
                    is_zip64 = true;
                    (entries, size, offset) = (le64(&record, 32), le64(&record, 40), le64(&record, 48));
                    end = position;
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
    Ok(DirectoryLocation {
        starts,
        entries,
        size,
        offset,
        is_zip64,
        has_contradiction,
        has_two_counts,
        is_split,
        is_comment_cut_off,
    })
}

/// The directory as read from one of the possible offsets.
struct ReadDirectory {
    entries: Vec<Entry>,
    /// Offset at which the directory starts.
    start: u64,
    /// Number of bytes of the entries in the directory.
    bytes: u64,
    /// True if a digital signature follows the entries. The stated size of the directory includes it.
    is_signed: bool,
    /// Index of the first entry that is on another disk.
    on_other_disk: Option<usize>,
}

fn read(source: &Source, place: &DirectoryLocation, max: u64) -> std::io::Result<Option<Directory>> {
    for &(start, base) in &place.starts {
        let directory = read_entries(source, start, base, max)?;
        if directory.entries.len() as u64 >= place.entries.min(max) {
            let contradictions = [place.split(directory.on_other_disk), place.contradiction(&directory)];
            let contradictions = contradictions.into_iter().flatten().collect();
            return Ok(Some(Directory { entries: directory.entries, start, contradictions }));
        }
    }
    Ok(None)
}

/// Reads directory entries until the next bytes are not an entry. Entries beyond the stated number are read too, so
/// that none is left out without notice.
fn read_entries(source: &Source, start: u64, base: u64, max: u64) -> std::io::Result<ReadDirectory> {
    let mut reader = BufReader::with_capacity(64 * 1024, source.window(start)?);
    let mut directory = ReadDirectory { entries: Vec::new(), start, bytes: 0, is_signed: false, on_other_disk: None };
    while (directory.entries.len() as u64) < max {
        let Some(listed) = read_entry(&mut reader, base)? else { break };
        if is_other_disk(listed.disk) {
            directory.on_other_disk = directory.on_other_disk.or(Some(directory.entries.len()));
        }
        directory.entries.push(listed.entry);
        directory.bytes += listed.bytes;
    }
    directory.is_signed = source.bytes(start.saturating_add(directory.bytes), 4)? == DIGITAL_SIGNATURE_START;
    Ok(directory)
}

/// An entry as the directory lists it.
struct ListedEntry {
    entry: Entry,
    /// Number of bytes of the entry in the directory.
    bytes: u64,
    /// Number of the disk on which the entry starts.
    disk: u16,
}

/// Reads the next directory entry. None if the next bytes are not the start of one.
fn read_entry(reader: &mut impl Read, base: u64) -> std::io::Result<Option<ListedEntry>> {
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
    if let Some(mut zip64_field) = extra_field(extra, 1) {
        for value in [&mut size, &mut packed, &mut header] {
            if *value == u64::from(u32::MAX) && zip64_field.len() >= 8 {
                *value = le64(zip64_field, 0);
                zip64_field = &zip64_field[8..];
            }
        }
    }
    let entry = Entry {
        name: names::decode(name, flags, extra),
        raw_name: name.into(),
        method: le16(&fixed_part, 10),
        flags,
        crc: le32(&fixed_part, 16),
        packed,
        size,
        position: Position::Header(header.saturating_add(base)),
        mode: le32(&fixed_part, 38) >> 16,
        is_checked: true,
        is_truncated: false,
    };
    let bytes = (fixed_part.len() + variable_part.len()) as u64;
    Ok(Some(ListedEntry { entry, bytes, disk: le16(&fixed_part, 34) }))
}

fn read_up_to(reader: &mut impl Read, n: usize) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(n);
    reader.take(n as u64).read_to_end(&mut out)?;
    Ok(out)
}
