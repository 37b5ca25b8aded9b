//! Examines the beginning of a table: its layout, and which columns have unknown names.
use super::columns::{
    AUTHOR_HEADERS, Columns, Layout, MESSAGE_HEADERS, TIME_HEADERS, TITLE_HEADERS, has_known_author, role,
};
use super::time;
use mementory_format::FormatError;
use mementory_formats_shared::tables::{CsvRows, Header, Row};
use mementory_model::Limits;
use std::io::Read;

/// Indexes of the kinds of columns in the array that [`columns_by_cells`] fills.
const TITLE: usize = 0;
const TIME: usize = 1;
const AUTHOR: usize = 2;
const MESSAGE: usize = 3;

/// Number of bytes at the beginning of a table that are examined.
const HEAD_BYTES: u64 = 64 << 10;
/// Largest number of rows that are examined.
const ROWS: usize = 20;

/// Result of examining the beginning of a table.
pub(super) struct Start {
    pub header: Header,
    pub columns: Columns,
    /// False if a column has an unknown name and was found by its cells.
    pub has_known_names: bool,
    /// Number of rows that were examined.
    pub rows: usize,
    /// Number of the examined rows whose author is known.
    pub known_authors: usize,
}

/// Examines the beginning of a table. None if the table has no known layout.
pub(super) fn examine(bytes: &mut dyn Read, limits: &Limits, place: &str) -> Result<Option<Start>, FormatError> {
    let mut head = bytes.take(HEAD_BYTES);
    let mut table = CsvRows::new(&mut head, limits, place)?;
    let Some(header) = table.next(place)?.map(Header::new) else { return Ok(None) };
    let mut rows = Vec::new();
    // Damage ends the loop without an error, because the rows before the damage are enough.
    while rows.len() < ROWS
        && let Ok(Some(row)) = table.next(place)
    {
        rows.push(row);
    }
    let named = Columns::from_header(&header);
    let has_known_names = named.is_some();
    let Some(columns) = named.or_else(|| columns_by_cells(&header, &rows)) else { return Ok(None) };
    let known_authors = rows.iter().filter(|row| has_known_author(&columns, row)).count();
    Ok(Some(Start { header, columns, has_known_names, rows: rows.len(), known_authors }))
}

/// Finds the columns of a table of messages in which some columns have unknown names. Columns with unknown names are
/// found by their cells. None if fewer than two names are known, or if a column is not found.
fn columns_by_cells(header: &Header, rows: &[Row]) -> Option<Columns> {
    let mut columns =
        [&TITLE_HEADERS[..], &TIME_HEADERS, &AUTHOR_HEADERS, &MESSAGE_HEADERS].map(|names| header.column(names));
    if columns.iter().flatten().count() < 2 {
        return None;
    }
    let width = rows.iter().map(|row| row.cells.len()).max().unwrap_or_default();
    let cells = |column: usize| rows.iter().map(move |row| row.cell(Some(column)).trim());
    let is_true_for_most_cells = |column: usize, is_wanted: &dyn Fn(&str) -> bool| {
        let filled = cells(column).filter(|cell| !cell.is_empty()).count();
        filled > 0 && 2 * cells(column).filter(|cell| is_wanted(cell)).count() > filled
    };
    let has_repeated_cell = |column: usize| {
        let mut cells = cells(column);
        let mut before = cells.next();
        cells.any(|cell| !cell.is_empty() && before.replace(cell) == Some(cell))
    };
    for kind in [AUTHOR, TIME, MESSAGE, TITLE] {
        if columns.get(kind).is_some_and(Option::is_some) {
            continue;
        }
        let mut unused = (0..width).filter(|column| !columns.contains(&Some(*column)));
        let column = match kind {
            AUTHOR => unused.find(|column| is_true_for_most_cells(*column, &|cell: &str| role(cell).is_some())),
            TIME => unused.find(|column| is_true_for_most_cells(*column, &|cell: &str| time::parse(cell).is_some())),
            MESSAGE => unused.max_by_key(|column| cells(*column).map(str::len).sum::<usize>()),
            _ => unused.find(|column| has_repeated_cell(*column)),
        };
        if let Some(slot) = columns.get_mut(kind) {
            *slot = Some(column?);
        }
    }
    let [title, time, author, text] = columns;
    Some(Columns { layout: Layout::Messages, title, time, author, text, client_app: None })
}
