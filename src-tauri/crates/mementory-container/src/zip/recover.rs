//! Finds the entries of a ZIP file without a usable directory (such as a truncated download) by their local headers.
use super::{
    super::source::Source,
    LOCAL_SIGNATURE,
    entry::{Entry, Position},
    extra_field, le16, le32, le64, names,
};
use flate2::{Decompress, FlushDecompress, Status};
use std::io::Read;

/// Largest number of damaged or foreign bytes between two entries. With this limit, a huge file that is not an archive
/// is refused before all of it is read.
const MAX_GAP_BYTES: u64 = 256 << 20;

/// Up to `max` entries in file order. An entry is marked as truncated if the file ends inside it. `budget` limits the
/// number of bytes that are inflated to find the ends of entries whose header does not state their size.
pub(in super::super) fn recover(source: &Source, max: u64, budget: u64) -> std::io::Result<Vec<Entry>> {
    let (mut out, mut budget, mut from) = (Vec::new(), budget, 0);
    while (out.len() as u64) < max {
        let Some(offset) = source.find_within(MAX_GAP_BYTES, &LOCAL_SIGNATURE, from)? else { break };
        let fixed_part = source.bytes(offset, 30)?;
        let (name_len, extra_len) = (le16(&fixed_part, 26), le16(&fixed_part, 28));
        let variable_part = source.bytes(offset + 30, usize::from(name_len) + usize::from(extra_len))?;
        let data = offset + 30 + variable_part.len() as u64;
        if fixed_part.len() < 30 || variable_part.len() < usize::from(name_len) + usize::from(extra_len) {
            break;
        }
        let (name, extra) = variable_part.split_at(usize::from(name_len));
        let flags = le16(&fixed_part, 6);
        let mut entry = Entry {
            name: names::decode(name, flags, extra),
            raw_name: name.into(),
            method: le16(&fixed_part, 8),
            flags,
            crc: le32(&fixed_part, 14),
            packed: u64::from(le32(&fixed_part, 18)),
            size: u64::from(le32(&fixed_part, 22)),
            position: Position::Data(data),
            mode: 0,
            is_checked: true,
            is_truncated: false,
        };
        if let Some(zip64_field) = extra_field(extra, 1) {
            for (i, value) in [&mut entry.size, &mut entry.packed].into_iter().enumerate() {
                if *value == u64::from(u32::MAX) && zip64_field.len() >= 8 * (i + 1) {
                    *value = le64(zip64_field, 8 * i);
                }
            }
        }
        let bytes_left = source.len() - data;
        // Flag bit 3 is set: the sizes follow the data, and the header has zeros instead.
        if flags & 8 != 0 && entry.packed == 0 {
            entry.is_checked = false;
            if entry.method == 8 {
                (entry.packed, entry.size, entry.is_truncated) = measure_deflate_stream(source, data, &mut budget)?;
            } else {
                let descriptor_offset = source.find(b"PK\x07\x08", data)?;
                entry.packed = descriptor_offset.map_or(bytes_left, |offset| offset - data);
                entry.size = entry.packed;
                entry.is_truncated = descriptor_offset.is_none();
            }
        } else if entry.packed > bytes_left {
            (entry.packed, entry.is_truncated) = (bytes_left, true);
        }
        from = data + entry.packed;
        if entry.packed > 0 || entry.size == 0 {
            out.push(entry);
        }
    }
    Ok(out)
}

/// Compressed and uncompressed length of a deflate stream in bytes, and whether it ends before its last block. Reading
/// stops early when `budget` is used up.
fn measure_deflate_stream(source: &Source, position: u64, budget: &mut u64) -> std::io::Result<(u64, u64, bool)> {
    let mut window = source.window(position)?;
    let mut inflate = Decompress::new(false);
    let (mut input, mut output) = (vec![0; 4096], vec![0; 64 * 1024]);
    loop {
        let read_len = window.read(&mut input)?;
        let is_full = read_len == input.len();
        let mut used_bytes = 0;
        loop {
            let (bytes_in_before, bytes_out_before) = (inflate.total_in(), inflate.total_out());
            let status = inflate.decompress(&input[used_bytes..read_len], &mut output, FlushDecompress::None);
            used_bytes += usize::try_from(inflate.total_in() - bytes_in_before).unwrap_or(0);
            let produced = inflate.total_out() - bytes_out_before;
            *budget = budget.saturating_sub(produced);
            match status {
                Ok(Status::StreamEnd) => return Ok((inflate.total_in(), inflate.total_out(), false)),
                Ok(_) if *budget > 0 && (produced > 0 || used_bytes < read_len) => {}
                Ok(_) if *budget > 0 && read_len > 0 => break,
                _ => return Ok((inflate.total_in(), inflate.total_out(), true)),
            }
        }
        if is_full && input.len() < 128 * 1024 {
            input.resize(input.len() * 2, 0);
        }
    }
}
