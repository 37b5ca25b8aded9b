//! Finds the values in a page of the database. The layout is described in "B-tree Pages" and "Record Format" of the
//! SQLite file format.
use std::ops::Range;

/// Smallest number of usable bytes of a page that SQLite allows.
const MIN_USABLE_BYTES: usize = 480;
/// Length in bytes of the file header, with which the first page begins.
const FILE_HEADER_BYTES: usize = 100;
/// Length in bytes of the page number with which an overflow page begins.
const PAGE_NUMBER_BYTES: usize = 4;
/// Smallest number of bytes that a cell takes up.
const MIN_CELL_BYTES: usize = 4;

/// The parts of a page, as byte ranges in ascending order.
pub(crate) struct PageLayout {
    /// Bytes that SQLite or the cipher uses. Ranges that touch are joined.
    in_use: Vec<Range<usize>>,
    /// The parts of texts and blobs that are in this page.
    values: Vec<Range<usize>>,
}

/// A cell of a b-tree page, and the texts and blobs in it.
struct Cell {
    place: Range<usize>,
    values: Vec<Range<usize>>,
}

impl PageLayout {
    /// Finds the values in a page. `reserved_bytes` is the number of bytes at its end that the cipher uses. None for a
    /// malformed page.
    pub(crate) fn of(data: &[u8], is_first: bool, reserved_bytes: usize) -> Option<Self> {
        let usable = data.len().checked_sub(reserved_bytes).filter(|usable| *usable >= MIN_USABLE_BYTES)?;
        let start = if is_first { FILE_HEADER_BYTES } else { 0 };
        let kind = *data.get(start)?;
        let header = match kind {
            2 | 5 => 12,
            10 | 13 => 8,
            _ => return Some(Self::of_overflow_page(data.len(), usable)),
        };
        let count = read_u16(data, start + 3)?;
        let first_pointer = start + header;
        let pointers = (0..count).map(|n| read_u16(data, first_pointer + 2 * n));
        let mut cells =
            pointers.map(|position| Cell::read(data, position?, kind, usable)).collect::<Option<Vec<Cell>>>()?;
        cells.sort_by_key(|cell| cell.place.start);
        let headers = 0..first_pointer + 2 * count;
        let mut in_use = vec![headers];
        let of_cells = cells.iter().map(|cell| cell.place.clone());
        for place in of_cells.chain(std::iter::once(usable..data.len())) {
            let last_range = in_use.last_mut()?;
            if place.start < last_range.end {
                return None;
            }
            if place.start == last_range.end {
                last_range.end = place.end;
            } else {
                in_use.push(place);
            }
        }
        Some(Self { in_use, values: cells.into_iter().flat_map(|cell| cell.values).collect() })
    }

    /// The layout of a page outside the b-trees. All of its bytes may belong to a value that is too long for its cell.
    fn of_overflow_page(length: usize, usable: usize) -> Self {
        let (all, value) = (0..length, PAGE_NUMBER_BYTES..usable);
        Self { in_use: vec![all], values: vec![value] }
    }

    /// True if all of these bytes are in use but do not lie within a single text or blob. Such bytes match a text only
    /// by chance, because they extend from one value into the next or into a number.
    pub(crate) fn is_across_values(&self, bytes: &Range<usize>) -> bool {
        let is_inside_one = |ranges: &[Range<usize>]| {
            let next_index = ranges.partition_point(|range| range.start <= bytes.start);
            let range = next_index.checked_sub(1).and_then(|n| ranges.get(n));
            range.is_some_and(|range| bytes.end <= range.end)
        };
        is_inside_one(&self.in_use) && !is_inside_one(&self.values)
    }
}

impl Cell {
    /// Reads the cell at `start` of a b-tree page whose first byte is `kind`.
    fn read(data: &[u8], start: usize, kind: u8, usable: usize) -> Option<Self> {
        let is_interior = matches!(kind, 2 | 5);
        let position = if is_interior { start + PAGE_NUMBER_BYTES } else { start };
        let (size_or_row_id, mut position) = read_varint(data, position)?;
        if kind == 5 {
            return Some(Self { place: start..position.max(start + MIN_CELL_BYTES), values: Vec::new() });
        }
        if kind == 13 {
            position = read_varint(data, position)?.1;
        }
        let payload = usize::try_from(size_or_row_id).ok()?;
        let local_len = local_bytes(payload, kind == 13, usable);
        let local_end = position + local_len;
        let end = if local_len < payload { local_end + PAGE_NUMBER_BYTES } else { local_end };
        let end = end.max(start + MIN_CELL_BYTES);
        if end > usable {
            return None;
        }
        Some(Self { place: start..end, values: values_of_record(data, position..local_end)? })
    }
}

/// The parts of a record's texts and blobs that are in `local`, the part of the record in this page.
fn values_of_record(data: &[u8], local: Range<usize>) -> Option<Vec<Range<usize>>> {
    let (header, mut position) = read_varint(data, local.start)?;
    let body = local.start + usize::try_from(header).ok().filter(|header| *header <= local.len())?;
    let mut values = Vec::new();
    let mut value = body;
    while position < body {
        let (serial_type, next) = read_varint(data, position)?;
        let size = match serial_type {
            0 | 8..=11 => 0,
            1..=4 => usize::try_from(serial_type).ok()?,
            5 => 6,
            6 | 7 => 8,
            _ => usize::try_from((serial_type - 12) / 2).ok()?,
        };
        let end = value.checked_add(size)?;
        let in_page = value.min(local.end)..end.min(local.end);
        if serial_type >= 12 && !in_page.is_empty() {
            values.push(in_page);
        }
        value = end;
        position = next;
    }
    Some(values)
}

/// Number of bytes of a payload that are in the b-tree page itself. All other bytes of the payload are in overflow
/// pages.
fn local_bytes(payload: usize, is_table_leaf: bool, usable: usize) -> usize {
    let max_local = if is_table_leaf { usable - 35 } else { (usable - 12) * 64 / 255 - 23 };
    if payload <= max_local {
        return payload;
    }
    let min_local = (usable - 12) * 32 / 255 - 23;
    let local = min_local + (payload - min_local) % (usable - 4);
    if local <= max_local { local } else { min_local }
}

fn read_u16(data: &[u8], position: usize) -> Option<usize> {
    Some(usize::from(u16::from_be_bytes([*data.get(position)?, *data.get(position + 1)?])))
}

/// Reads a varint of one to nine bytes. Returns its value and the position after it.
fn read_varint(data: &[u8], position: usize) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for n in position..position + 8 {
        let byte = *data.get(n)?;
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, n + 1));
        }
    }
    Some((value << 8 | u64::from(*data.get(position + 8)?), position + 9))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use memchr::memmem;
    use rusqlite::Connection;

    const WORD: &[u8] = b"attachments";

    /// All pages of a new database after these statements.
    fn pages_after(sql: &str) -> Vec<Vec<u8>> {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql).unwrap();
        let mut statement = connection.prepare("SELECT data FROM sqlite_dbpage ORDER BY pgno").unwrap();
        let pages = statement.query_map([], |row| row.get(0)).unwrap();
        pages.collect::<Result<_, _>>().unwrap()
    }

    /// For each occurrence of the word in the pages, true if it extends across values.
    fn occurrences(pages: &[Vec<u8>]) -> Vec<bool> {
        let of_page = |(number, data): (usize, &Vec<u8>)| {
            let layout = PageLayout::of(data, number == 0, 0).unwrap();
            let positions: Vec<usize> = memmem::find_iter(data, WORD).collect();
            positions
                .into_iter()
                .map(move |position| layout.is_across_values(&(position..position + WORD.len())))
                .collect::<Vec<_>>()
        };
        pages.iter().enumerate().flat_map(of_page).collect()
    }

    #[test]
    fn bytes_across_two_values_are_not_a_text() {
        let table = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b BLOB, c);";
        let across = pages_after(&format!("{table} INSERT INTO t VALUES (1, 'attachment', x'7301', 5);"));
        assert_eq!(occurrences(&across), [true], "a text and a blob");
        let number = pages_after(&format!("{table} INSERT INTO t VALUES (1, NULL, 'attachment', 115);"));
        assert_eq!(occurrences(&number), [true], "a text and a number");
        let cells = "INSERT INTO t (id, a) VALUES (2, zeroblob(109)), (1, 'attachment');";
        assert_eq!(occurrences(&pages_after(&format!("{table} {cells}"))), [true], "a text and the next cell");
        let whole = pages_after(&format!("{table} INSERT INTO t VALUES (1, 'attachments', 'two attachments', NULL);"));
        assert_eq!(occurrences(&whole), [false, false], "whole texts");
    }

    #[test]
    fn texts_in_indexes_and_overflow_pages_are_texts() {
        let index = "CREATE TABLE t (a TEXT PRIMARY KEY, b) WITHOUT ROWID; CREATE INDEX i ON t (b);
                     INSERT INTO t VALUES ('attachments', 'x'), ('y', 'attachments');";
        assert_eq!(occurrences(&pages_after(index)), [false; 4]);
        let long = "CREATE TABLE t (a TEXT); INSERT INTO t VALUES (hex(zeroblob(4000)) || 'attachments');";
        assert_eq!(occurrences(&pages_after(long)), [false]);
    }

    #[test]
    fn bytes_that_are_not_in_use_are_never_across_values() {
        let mut pages = pages_after("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('attachment'), ('b');");
        let middle = pages[1].len() / 2;
        pages[1][middle..middle + WORD.len()].copy_from_slice(WORD);
        assert_eq!(occurrences(&pages), [false]);
    }
}
