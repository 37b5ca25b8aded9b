//! Wipes old data that SQLite leaves inside pages. `secure_delete` zeroes freed cells and pages, but when SQLite
//! rebuilds a b-tree page, old cells can stay in the gap between the cell pointers and the cells. SQLite never reads
//! that gap (SQLite file format, "B-tree Pages"), so it can be zeroed in place.
use crate::StoreResult;
use rusqlite::{Connection, params};

/// Zeroes the unused parts of the given pages. Pages that are not b-tree pages are skipped.
pub fn scrub(tx: &Connection, pages: &[i64]) -> StoreResult<()> {
    let mut page_query = tx.prepare("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?;
    for page in pages {
        let old_data: Vec<u8> = page_query.query_row([page], |r| r.get(0))?;
        let mut data = old_data.clone();
        // The first page begins with the 100-byte file header.
        let start = if *page == 1 { 100 } else { 0 };
        if wipe_unused_bytes(&mut data, start).is_some() && data != old_data {
            write_page(tx, *page, &data)?;
        }
    }
    Ok(())
}

/// Zeroes everything that is unused: parts of b-tree pages, all free pages, and the ends of the pages that list the
/// free pages.
pub fn scrub_all(tx: &Connection) -> StoreResult<()> {
    let page_count: i64 = tx.query_row("PRAGMA page_count", [], |r| r.get(0))?;
    scrub(tx, &(1..=page_count).collect::<Vec<_>>())?;
    let mut page_query = tx.prepare("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?;
    let first_page: Vec<u8> = page_query.query_row([1], |r| r.get(0))?;
    // The cipher reserves the last bytes of each page for itself.
    let reserved_bytes = usize::from(first_page.get(20).copied().unwrap_or(0));
    let mut trunk = u32_at(&first_page, 32);
    // The loop is bounded, because the free-page list of a damaged file may be circular.
    for _ in 0..page_count {
        let Some(number) = trunk.filter(|n| (2..=page_count).contains(n)) else { break };
        let data: Vec<u8> = page_query.query_row([number], |r| r.get(0))?;
        let leaves = u32_at(&data, 4).unwrap_or(0);
        for leaf in
            (0..leaves).filter_map(|i| u32_at(&data, 8 + 4 * i as usize)).filter(|n| (2..=page_count).contains(n))
        {
            let mut leaf_page: Vec<u8> = page_query.query_row([leaf], |r| r.get(0))?;
            let used_bytes = leaf_page.len().saturating_sub(reserved_bytes);
            if leaf_page.iter().take(used_bytes).any(|b| *b != 0) {
                leaf_page[..used_bytes].fill(0);
                write_page(tx, leaf, &leaf_page)?;
            }
        }
        let mut cleared = data.clone();
        let (from, to) = (8 + 4 * leaves as usize, data.len().saturating_sub(reserved_bytes));
        if let Some(rest) = cleared.get_mut(from..to) {
            rest.fill(0);
        }
        if cleared != data {
            write_page(tx, number, &cleared)?;
        }
        trunk = u32_at(&data, 0);
    }
    Ok(())
}

fn write_page(tx: &Connection, page: i64, data: &[u8]) -> StoreResult<()> {
    tx.prepare_cached("UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1")?.execute(params![page, data])?;
    Ok(())
}

fn u32_at(data: &[u8], position: usize) -> Option<i64> {
    let bytes = data.get(position..position + 4)?.try_into().ok()?;
    Some(i64::from(u32::from_be_bytes(bytes)))
}

/// Zeroes the gap and the free blocks of a b-tree page. Returns None for a page of another type and for a malformed
/// page; the caller then discards `data`.
fn wipe_unused_bytes(data: &mut [u8], start: usize) -> Option<()> {
    let u16_at = |data: &[u8], position: usize| {
        Some(usize::from(u16::from_be_bytes([*data.get(position)?, *data.get(position + 1)?])))
    };
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
    // Free blocks are in ascending order; otherwise the list is malformed.
    while block != 0 {
        let (next_block, size) = (u16_at(data, block)?, u16_at(data, block + 2)?);
        data.get_mut(block + 4..block + size)?.fill(0);
        if next_block != 0 && next_block <= block {
            return None;
        }
        block = next_block;
    }
    Some(())
}
