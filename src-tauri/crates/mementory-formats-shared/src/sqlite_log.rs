//! The write-ahead log of an SQLite database that was copied while in use. The log's committed pages are applied to the
//! database's bytes in memory (sqlite.org/fileformat2.html, §4).

fn read_u32_be(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Applies the committed frames of `wal` to `database_bytes`. Stops at the first frame that is damaged or belongs to
/// another database. Returns None if the header of the log is damaged, or if a commit states an impossible number of
/// pages. Frames that were applied before such a commit stay applied.
pub fn apply_log(database_bytes: &mut Vec<u8>, wal: &[u8]) -> Option<()> {
    let magic = read_u32_be(wal, 0)?;
    let is_big_endian = match magic {
        0x377f_0682 => false,
        0x377f_0683 => true,
        _ => return None,
    };
    let page_size =
        usize::try_from(read_u32_be(wal, 8)?).ok().filter(|p| p.is_power_of_two() && (512..=65_536).contains(p))?;
    let salt = wal.get(16..24)?;
    let read_word = |bytes: &[u8]| {
        let word_bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if is_big_endian { u32::from_be_bytes(word_bytes) } else { u32::from_le_bytes(word_bytes) }
    };
    let checksum_of = |(mut a, mut b): (u32, u32), bytes: &[u8]| {
        for pair in bytes.chunks_exact(8) {
            a = a.wrapping_add(read_word(&pair[..4])).wrapping_add(b);
            b = b.wrapping_add(read_word(&pair[4..])).wrapping_add(a);
        }
        (a, b)
    };
    let mut checksum = checksum_of((0, 0), wal.get(..24)?);
    if (read_u32_be(wal, 24)?, read_u32_be(wal, 28)?) != checksum {
        return None;
    }
    let (mut at, mut pending) = (32, Vec::<(usize, &[u8])>::new());
    while let (Some(head), Some(data)) = (wal.get(at..at + 24), wal.get(at + 24..at + 24 + page_size)) {
        checksum = checksum_of(checksum_of(checksum, &head[..8]), data);
        if &head[8..16] != salt || (read_u32_be(head, 16)?, read_u32_be(head, 20)?) != checksum {
            break;
        }
        pending.push((usize::try_from(read_u32_be(head, 0)?).ok()?, data));
        let size = usize::try_from(read_u32_be(head, 4)?).ok()?;
        if size > 0 {
            // A commit states the new number of pages. All pages together cannot be larger than the database plus its
            // log.
            let bytes = size.checked_mul(page_size).filter(|b| *b <= database_bytes.len().saturating_add(wal.len()))?;
            database_bytes.resize(bytes, 0);
            for (number, data) in pending.drain(..) {
                let start = number.checked_sub(1)?.checked_mul(page_size)?;
                if let Some(slot) = database_bytes.get_mut(start..start.checked_add(page_size)?) {
                    slot.copy_from_slice(data);
                }
            }
        }
        at += 24 + page_size;
    }
    Some(())
}
