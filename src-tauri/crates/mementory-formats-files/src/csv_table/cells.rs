//! Makes spreadsheets treat every cell as text. A cell that begins like a formula gets an apostrophe before it, which
//! readers of the table remove again.

/// Characters that need an apostrophe before them at the beginning of a cell: those that begin a formula, those that
/// spreadsheets skip before a formula, and the apostrophe itself. Full-width forms are included, because some programs
/// treat them like the usual forms.
const RISKY_BEGINNINGS: [char; 13] =
    ['=', '+', '-', '@', '\t', '\r', '\n', '\'', ' ', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

/// Escapes a cell for the table: puts an apostrophe before a cell that begins with one of [`RISKY_BEGINNINGS`].
pub(super) fn escaped(cell: &str) -> String {
    if cell.starts_with(RISKY_BEGINNINGS) { format!("'{cell}") } else { cell.to_owned() }
}

/// Removes the apostrophe that [`escaped`] put before a cell. An apostrophe that a person typed stays.
pub(super) fn unescaped(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|rest| rest.starts_with(RISKY_BEGINNINGS)).unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_begins_like_a_formula_and_every_cell_is_read_back() {
        for cell in
            ["=1", "+1", "-1", "@x", "\t=1", "\r\n=1", " =1", "'", "''=", "'=1", "x=1", "", "＝1", "don't", "'tis"]
        {
            let written = escaped(cell);
            assert!(!written.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', ' ', '＝']), "{written:?}");
            assert_eq!(unescaped(&written), cell);
        }
    }
}
