//! Contradictions between the directory and the local headers of an archive, caused by damage or forgery. Programs that
//! read the directory then see different files than programs that read the local headers.
use super::{
    super::source::Source,
    LOCAL_SIGNATURE,
    entry::{Entry, Position, UNREADABLE_FLAGS},
    extra_field, le16, le32, le64,
};

/// Code of an entry whose local header and directory differ.
pub(in super::super) const HEADER_DIFFERS: &str = "container_header_differs";

/// Flag of an entry whose sizes follow its data. The local header may have zeros instead.
const STREAMED_FLAG: u16 = 8;
/// Start of the descriptor, which states checksum and sizes after the data of a streamed entry. Some programs omit this
/// signature.
const DESCRIPTOR_SIGNATURE: [u8; 4] = *b"PK\x07\x08";
/// Number of contradictions in one archive after which the search ends.
const MAX_CONTRADICTIONS: usize = 1000;

/// A contradiction of one entry: index of the entry, stable code, message.
pub(in super::super) struct Contradiction {
    pub(in super::super) entry: usize,
    pub(in super::super) code: &'static str,
    pub(in super::super) message: &'static str,
}

/// Compares the entries of an archive with their local headers. `directory` is the offset at which the directory
/// starts.
///
/// # Errors
/// I/O.
pub(in super::super) fn contradictions(
    source: &Source,
    entries: &[Entry],
    directory: u64,
) -> std::io::Result<Vec<Contradiction>> {
    let source = &source.with_open_file()?;
    let mut found_contradictions = Vec::new();
    // Start and end of the bytes of each entry, and the entry's index.
    let mut occupied_ranges: Vec<(u64, u64, usize)> = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let Position::Header(position) = entry.position else { continue };
        let end = match compare_headers(source, entry, position)? {
            Ok(end) => end,
            Err((message, end)) => {
                found_contradictions.push(Contradiction { entry: index, code: HEADER_DIFFERS, message });
                end
            }
        };
        if end > directory {
            let message = "its data reaches into the directory of the archive";
            found_contradictions.push(Contradiction { entry: index, code: "container_overlap", message });
        }
        occupied_ranges.push((position, end, index));
        if found_contradictions.len() > MAX_CONTRADICTIONS {
            return Ok(found_contradictions);
        }
    }
    occupied_ranges.sort_unstable();
    let (last_end, last_index) = occupied_ranges.iter().map(|(_, end, index)| (*end, *index)).max().unwrap_or_default();
    let mut last: Option<(u64, u64)> = None;
    for (start, end, index) in occupied_ranges {
        let until = last.map_or(0, |(_, until)| until);
        if until < start && hides_entry(source, until, start)? {
            let message = "before it is an entry that the directory does not list";
            found_contradictions.push(Contradiction { entry: index, code: "container_hidden_entry", message });
        }
        let (code, message) = match last {
            Some((before, _)) if before == start => {
                ("container_shared_data", "two entries of the archive have the same data")
            }
            Some((_, until)) if start < until => ("container_overlap", "its data overlaps another entry"),
            _ => {
                last = Some((start, end));
                continue;
            }
        };
        found_contradictions.push(Contradiction { entry: index, code, message });
        last = last.map(|(before, until)| (before.max(start), until.max(end)));
        if found_contradictions.len() > MAX_CONTRADICTIONS {
            break;
        }
    }
    if last_end < directory && hides_entry(source, last_end, directory)? {
        let message = "after it is an entry that the directory does not list";
        found_contradictions.push(Contradiction { entry: last_index, code: "container_hidden_entry", message });
    }
    Ok(found_contradictions)
}

/// True if the bytes between `from` and `until`, which are part of no entry, begin with the local header of another
/// entry. The data of a streamed entry is followed by a descriptor with its checksum and sizes, so the header may also
/// be behind a descriptor.
fn hides_entry(source: &Source, from: u64, until: u64) -> std::io::Result<bool> {
    let gap = source.bytes(from, (until - from).min(64) as usize)?;
    let is_local = |position: usize| gap.get(position..).is_some_and(|rest| rest.starts_with(&LOCAL_SIGNATURE));
    // A descriptor has 12 bytes, or 20 with sizes of 64 bits, and 4 more with its signature.
    let sizes = if gap.starts_with(&DESCRIPTOR_SIGNATURE) { [16, 24] } else { [12, 20] };
    Ok(is_local(0) || sizes.into_iter().any(is_local))
}

/// False if the descriptor after the data of a streamed entry states another checksum or other sizes than the
/// directory. A descriptor without a signature is not compared, because it cannot be recognised.
fn descriptor_agrees(source: &Source, entry: &Entry, position: u64) -> std::io::Result<bool> {
    let descriptor = source.bytes(position, 24)?;
    if !descriptor.starts_with(&DESCRIPTOR_SIGNATURE) {
        return Ok(true);
    }
    let sizes_32_bit = (u64::from(le32(&descriptor, 8)), u64::from(le32(&descriptor, 12)));
    let sizes_64_bit = (le64(&descriptor, 8), le64(&descriptor, 16));
    let stated_sizes = (entry.packed, entry.size);
    Ok(le32(&descriptor, 4) == entry.crc && (sizes_32_bit == stated_sizes || sizes_64_bit == stated_sizes))
}

/// Compares the local header of an entry with the directory. Returns the position where the entry's data ends. If the
/// header and the directory differ, the inner error contains a message and that position.
fn compare_headers(source: &Source, entry: &Entry, position: u64) -> std::io::Result<Result<u64, (&'static str, u64)>> {
    let fixed_part = source.bytes(position, 30)?;
    if fixed_part.len() < 30 || fixed_part[..4] != LOCAL_SIGNATURE {
        return Ok(Err(("no local header is where the directory says", position)));
    }
    let (name_len, extra_len) = (usize::from(le16(&fixed_part, 26)), usize::from(le16(&fixed_part, 28)));
    let variable_part = source.bytes(position + 30, name_len + extra_len)?;
    let end = (position + 30).saturating_add(variable_part.len() as u64).saturating_add(entry.packed);
    if variable_part.len() < name_len + extra_len {
        return Ok(Err(("its local header is cut off", end)));
    }
    let (name, extra) = variable_part.split_at(name_len);
    if *name != *entry.raw_name {
        return Ok(Err(("its local header has another name than the directory", end)));
    }
    if le16(&fixed_part, 8) != entry.method {
        return Ok(Err(("its local header has another compression method than the directory", end)));
    }
    let flags = le16(&fixed_part, 6);
    if (flags ^ entry.flags) & UNREADABLE_FLAGS != 0 {
        return Ok(Err(("only one of its local header and the directory says that it is encrypted or a patch", end)));
    }
    let (mut packed, mut size) = (u64::from(le32(&fixed_part, 18)), u64::from(le32(&fixed_part, 22)));
    if let Some(mut zip64_field) = extra_field(extra, 1) {
        for value in [&mut size, &mut packed] {
            if *value == u64::from(u32::MAX) && zip64_field.len() >= 8 {
                *value = le64(zip64_field, 0);
                zip64_field = &zip64_field[8..];
            }
        }
    }
    let is_streamed = flags & STREAMED_FLAG != 0;
    if is_streamed && packed == 0 && !descriptor_agrees(source, entry, end)? {
        return Ok(Err(("the sizes after its data are others than in the directory", end)));
    }
    let agrees =
        |local: u64, central: u64| local == central || is_streamed && (local == 0 || local == u64::from(u32::MAX));
    if !agrees(packed, entry.packed) || !agrees(size, entry.size) {
        return Ok(Err(("its local header has another size than the directory", end)));
    }
    if !agrees(u64::from(le32(&fixed_part, 14)), u64::from(entry.crc)) {
        return Ok(Err(("its local header has another checksum than the directory", end)));
    }
    Ok(Ok(end))
}
