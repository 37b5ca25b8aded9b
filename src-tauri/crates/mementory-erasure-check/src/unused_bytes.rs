//! Checks that all unused bytes of the database are blank. This replaces the search for traces if the traces are no
//! longer known, because the program was stopped during a deletion or the vault was locked. The layout of pages is
//! described in "The Database File" of the SQLite file format.
use crate::{PlaceOutcome, ReceiptPlace, receipt::checked_place};
use mementory_store::StoreResult;
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};

/// Checks the unused bytes of every page.
pub(crate) fn check(connection: &Connection) -> StoreResult<ReceiptPlace> {
    let page_count: i64 = connection.query_row("PRAGMA page_count", [], |r| r.get(0))?;
    let mut statement = connection.prepare("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?;
    let mut page = |number: i64| -> StoreResult<Vec<u8>> { Ok(statement.query_row([number], |r| r.get(0))?) };
    let first_page = page(1)?;
    let reserved_bytes = first_page.get(20).copied().map_or(0, usize::from);
    let free_list = FreeList::read(&first_page, page_count, &mut page)?;
    let mut dirty_pages = 0;
    for number in 1..=page_count {
        let data = page(number)?;
        let used = &data[..data.len().saturating_sub(reserved_bytes)];
        let is_blank = if free_list.pages.contains(&number) {
            used.iter().all(|b| *b == 0)
        } else if let Some(list_end) = free_list.trunks.get(&number) {
            has_only_page_numbers(used.get(*list_end..).unwrap_or_default(), page_count)
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

/// The list of free pages, which the trunk pages contain.
#[derive(Default)]
struct FreeList {
    /// Numbers of the free pages that are not trunk pages.
    pages: HashSet<i64>,
    /// For the number of each trunk page, the position after its last list entry.
    trunks: HashMap<i64, usize>,
}

impl FreeList {
    fn read(
        first_page: &[u8],
        page_count: i64,
        page: &mut impl FnMut(i64) -> StoreResult<Vec<u8>>,
    ) -> StoreResult<Self> {
        let mut out = Self::default();
        let mut trunk = read_number(first_page, 32, 4);
        while (1..=page_count).contains(&trunk) && !out.trunks.contains_key(&trunk) {
            let data = page(trunk)?;
            let list_end = usize::try_from(8 + 4 * read_number(&data, 4, 4)).unwrap_or(usize::MAX).min(data.len());
            out.pages.extend((8..list_end).step_by(4).map(|position| read_number(&data, position, 4)));
            out.trunks.insert(trunk, list_end);
            trunk = read_number(&data, 0, 4);
        }
        Ok(out)
    }
}

/// True if the end of a trunk page contains only zeros and numbers of pages, which SQLite leaves there when it takes a
/// page from the list. Four bytes of a text are a larger number than any page has.
fn has_only_page_numbers(end: &[u8], page_count: i64) -> bool {
    end.chunks(4).all(|bytes| read_number(bytes, 0, bytes.len()) <= page_count)
}

/// True for a b-tree page whose gap and free blocks are blank, and for any other page. An overflow page is in use as a
/// whole.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use rusqlite::params;

    /// A database with free pages, and the number of its first trunk page.
    fn with_free_pages() -> (Connection, i64) {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "PRAGMA secure_delete = ON; CREATE TABLE notes (text TEXT); CREATE TABLE other (text TEXT);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
                 INSERT INTO notes SELECT printf('%.500c', 'x') FROM n; DROP TABLE notes;",
            )
            .unwrap();
        let trunk = read_number(&page(&connection, 1), 32, 4);
        assert!(trunk > 1);
        (connection, trunk)
    }

    fn page(connection: &Connection, number: i64) -> Vec<u8> {
        connection.query_row("SELECT data FROM sqlite_dbpage WHERE pgno = ?1", [number], |row| row.get(0)).unwrap()
    }

    fn is_blank(connection: &Connection) -> bool {
        check(connection).unwrap().outcome == PlaceOutcome::Erased
    }

    #[test]
    fn a_text_in_a_free_page_or_behind_the_list_of_free_pages_is_found() {
        let (connection, trunk) = with_free_pages();
        assert!(is_blank(&connection));
        let listed_page = read_number(&page(&connection, trunk), 8, 4);
        for number in [trunk, listed_page] {
            let clean = page(&connection, number);
            let mut dirty = clean.clone();
            dirty[4000..4016].copy_from_slice(b"prefers dark tea");
            let write = "UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1";
            connection.execute(write, params![number, dirty]).unwrap();
            assert!(!is_blank(&connection), "page {number}");
            connection.execute(write, params![number, clean]).unwrap();
        }
        assert!(is_blank(&connection));
    }

    #[test]
    fn numbers_of_pages_that_were_taken_from_the_list_are_no_finding() {
        let (connection, trunk) = with_free_pages();
        let list_length = |connection: &Connection| read_number(&page(connection, trunk), 4, 4);
        let before = list_length(&connection);
        connection.execute("INSERT INTO other VALUES (printf('%.20000c', 'y'))", []).unwrap();
        assert!(list_length(&connection) < before);
        assert!(is_blank(&connection));
    }
}
