//! Checks that all unused bytes of the database are blank. This replaces the search for traces if the traces are no
//! longer known, because the program was stopped during a deletion or the vault was locked. The layout of pages is
//! described in "The Database File" of the SQLite file format.
use crate::{PlaceOutcome, ReceiptPlace, receipt::checked_place};
use mementory_store::StoreResult;
use rusqlite::Connection;
use std::collections::HashSet;

/// Checks the unused bytes of every page.
pub(crate) fn check(connection: &Connection) -> StoreResult<ReceiptPlace> {
    let page_count: i64 = connection.query_row("PRAGMA page_count", [], |r| r.get(0))?;
    let mut statement = connection.prepare("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?;
    let mut page = |number: i64| -> StoreResult<Vec<u8>> { Ok(statement.query_row([number], |r| r.get(0))?) };
    let first_page = page(1)?;
    let reserved_bytes = first_page.get(20).copied().map_or(0, usize::from);
    let free_page_numbers = free_pages(&first_page, page_count, &mut page)?;
    let mut dirty_pages = 0;
    for number in 1..=page_count {
        let data = page(number)?;
        let is_blank = if free_page_numbers.contains(&number) {
            data.iter().take(data.len().saturating_sub(reserved_bytes)).all(|b| *b == 0)
        } else {
            are_gaps_blank(&data, if number == 1 { 100 } else { 0 })
        };
        dirty_pages += u32::from(!is_blank);
    }
    let detail = if dirty_pages == 0 {
        format!("{page_count} pages: nothing is in their unused bytes. What to look for was not known any more")
    } else {
        format!("{dirty_pages} of {page_count} pages have something in their unused bytes")
    };
    Ok(checked_place("database_pages", dirty_pages == 0, PlaceOutcome::Erased, detail))
}

/// Numbers of the free pages, without the trunk pages, which contain the list of free pages.
fn free_pages(
    first: &[u8],
    count: i64,
    page: &mut impl FnMut(i64) -> StoreResult<Vec<u8>>,
) -> StoreResult<HashSet<i64>> {
    let mut out = HashSet::new();
    let mut seen_pages = HashSet::new();
    let mut trunk = read_number(first, 32, 4);
    while (1..=count).contains(&trunk) && seen_pages.insert(trunk) {
        let data = page(trunk)?;
        out.extend(
            (0..read_number(&data, 4, 4)).map_while(|i| Some(read_number(&data, usize::try_from(8 + 4 * i).ok()?, 4))),
        );
        trunk = read_number(&data, 0, 4);
    }
    Ok(out)
}

/// True for a b-tree page whose gap and free blocks are blank, and for any other page. An overflow page is in use as a
/// whole. The ends of trunk pages are not checked.
fn are_gaps_blank(data: &[u8], start: usize) -> bool {
    let header = match data.get(start) {
        Some(2 | 5) => 12,
        Some(10 | 13) => 8,
        _ => return true,
    };
    let at = |offset| usize::try_from(read_number(data, start + offset, 2)).unwrap_or(0);
    let content = if at(5) == 0 { 65_536 } else { at(5) };
    let is_blank = |from: usize, to: usize| data.get(from..to).is_none_or(|bytes| bytes.iter().all(|b| *b == 0));
    let mut gaps_are_blank = is_blank(start + header + 2 * at(3), content.min(data.len()));
    let mut block = at(1);
    while gaps_are_blank && block != 0 {
        let next_block = usize::try_from(read_number(data, block, 2)).unwrap_or(0);
        let size = usize::try_from(read_number(data, block + 2, 2)).unwrap_or(0);
        gaps_are_blank = is_blank(block + 4, block + size);
        block = if next_block > block { next_block } else { 0 };
    }
    gaps_are_blank
}

/// A big-endian number of `len` bytes; 0 outside the page.
fn read_number(data: &[u8], position: usize, len: usize) -> i64 {
    data.get(position..position + len).unwrap_or_default().iter().fold(0, |n, b| n << 8 | i64::from(*b))
}
