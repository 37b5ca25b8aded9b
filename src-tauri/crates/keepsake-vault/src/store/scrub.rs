//! Wiping what SQLite leaves behind inside pages. `secure_delete` zeroes freed cells and pages, but when a b-tree page is
//! rebuilt its former cells can stay in the gap between the cell pointers and the cells. Nothing reads that gap (SQLite
//! file format, "B-tree Pages"), so it can be zeroed in place.
use crate::VaultResult;
use rusqlite::{Connection, params};

/// Zeroes the unused parts of these b-tree pages. Pages of another kind are left alone.
pub(crate) fn scrub(tx: &Connection, pages: &[i64]) -> VaultResult<()> {
    for page in pages {
        let mut data: Vec<u8> = tx.query_row("SELECT data FROM sqlite_dbpage WHERE pgno = ?1", [page], |r| r.get(0))?;
        // The first page starts with the file header.
        let start = if *page == 1 { 100 } else { 0 };
        if wipe(&mut data, start).is_some() {
            tx.execute("UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1", params![page, data])?;
        }
    }
    Ok(())
}

/// Wipes gap and free blocks; None when this is no b-tree page (then nothing was changed that matters: the caller drops it).
fn wipe(data: &mut [u8], start: usize) -> Option<()> {
    let u16_at = |data: &[u8], at: usize| Some(usize::from(u16::from_be_bytes([*data.get(at)?, *data.get(at + 1)?])));
    let header = match *data.get(start)? {
        2 | 5 => 12,
        10 | 13 => 8,
        _ => return None,
    };
    let cells = u16_at(data, start + 3)?;
    let content = match u16_at(data, start + 5)? {
        0 => 65_536,
        n => n,
    };
    let gap = start + header + 2 * cells..content.min(data.len());
    data.get_mut(gap)?.fill(0);
    let mut block = u16_at(data, start + 1)?;
    // Free blocks are in ascending order; anything else is no list.
    while block != 0 {
        let (next, size) = (u16_at(data, block)?, u16_at(data, block + 2)?);
        data.get_mut(block + 4..block + size)?.fill(0);
        if next != 0 && next <= block {
            return None;
        }
        block = next;
    }
    Some(())
}
