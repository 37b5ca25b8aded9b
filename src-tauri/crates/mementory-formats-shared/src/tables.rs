//! Tables with a header: reads CSV files row by row, in any encoding and with any common separator, and finds columns
//! by name.
use super::chat::Turn;
use super::reader::FileReader;
use super::text_head::text_head;
use csv_core::ReadFieldResult;
use mementory_format::{Catalog, FormatError, Member};
use mementory_model::{DroppedAs, Fields, Kind, Limits};
use std::io::Read;

/// Number of bytes that are read at a time. Encoding and separator are determined from the first chunk.
const CHUNK_BYTES: usize = 64 << 10;
/// The separators that are recognised. The most common one comes first.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Number of bytes at the start of a table in which its header must end.
const HEADER_BYTES: usize = 1 << 10;

/// The names of the columns of a CSV file with commas, as the file writes them. Empty for a file that cannot be read,
/// or whose name does not end in `.csv`.
pub fn csv_columns(catalog: &Catalog, member: &Member) -> Vec<String> {
    if !member.file_name().to_ascii_lowercase().ends_with(".csv") {
        return Vec::new();
    }
    let head = text_head(catalog, member, HEADER_BYTES).unwrap_or_default();
    let first_line = head.lines().next().unwrap_or_default();
    first_line.split(',').map(|name| name.trim().trim_matches('"').to_owned()).collect()
}

/// Calls `read` for each row of a CSV file below its header. An incomplete row is reported as a dropped record of `kind`;
/// blank rows are skipped. The pointer of a row is `row <number>`.
pub fn each_csv_row(
    files: &mut FileReader<'_>,
    member: &Member,
    kind: Kind,
    mut read: impl FnMut(&mut FileReader<'_>, &Header, &Row, String) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let (catalog, limits) = (files.catalog, &files.context.limits);
    catalog.read(member, |bytes| {
        let mut rows = CsvRows::new(bytes, limits, &member.place)?;
        let Some(header) = rows.next(&member.place)?.map(Header::new) else { return Ok(()) };
        while let Some(row) = rows.next(&member.place)? {
            let pointer = format!("row {}", row.number);
            let fault = match row.fault {
                Some(RowFault::TooLarge) => "too_large: this row is larger than the limit",
                Some(RowFault::Truncated) => "truncated: the file ends inside this row",
                None if row.is_blank() => continue,
                None => {
                    read(files, &header, &row, pointer)?;
                    continue;
                }
            };
            let place = format!("{}#{pointer}", member.place);
            files.report_dropped(place, DroppedAs::Failed, fault, Some(kind));
        }
        Ok(())
    })
}

/// Reads the messages of a CSV file that contains one conversation, with one message in each row. Reports a file
/// without messages.
///
/// # Errors
/// `Limit` if the rows are larger than `element_bytes`.
pub fn turns_of_csv(
    files: &mut FileReader<'_>,
    member: &Member,
    turn: impl Fn(&Header, &Row, String) -> Turn,
) -> Result<Vec<Turn>, FormatError> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut bytes = 0;
    each_csv_row(files, member, Kind::Message, |files, header, row, pointer| {
        bytes += row.raw.len() as u64;
        let limit = files.context.limits.element_bytes;
        if bytes > limit {
            return Err(FormatError::Limit { limit: "element_bytes", place: member.place.clone(), figure: limit });
        }
        turns.push(turn(header, row, pointer));
        Ok(())
    })?;
    if turns.is_empty() {
        let reason = "no_messages: this table has no messages";
        files.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Conversation));
    }
    Ok(turns)
}

/// The first row of a table.
#[derive(Debug, Default)]
pub struct Header {
    names: Vec<String>,
    normal: Vec<String>,
    /// The text of the row.
    pub raw: String,
}

impl Header {
    /// Creates a header from a row.
    pub fn new(row: Row) -> Self {
        Self { normal: row.cells.iter().map(|name| normal_name(name)).collect(), names: row.cells, raw: row.raw }
    }

    /// The column with one of these names. Case, spaces and punctuation are ignored.
    pub fn column(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.normal.iter().position(|column| *column == normal_name(name)))
    }

    /// Maps the names of the columns that are not in `used` to their cells. Empty cells are left out.
    pub fn other_cells(&self, row: &Row, used: &[Option<usize>]) -> Fields {
        let unused_cells = row
            .cells
            .iter()
            .enumerate()
            .filter(|(column, cell)| !cell.trim().is_empty() && !used.contains(&Some(*column)));
        unused_cells
            .map(|(column, cell)| {
                let name = self.names.get(column).filter(|name| !name.trim().is_empty());
                let name = name.cloned().unwrap_or_else(|| format!("column {}", column + 1));
                (name, cell.as_str().into())
            })
            .collect()
    }
}

/// The name of a column in lower case, without spaces and punctuation.
fn normal_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// One row of a table.
#[derive(Debug, Default)]
pub struct Row {
    /// Position in the table, counted from 0. The header is row 0.
    pub number: u64,
    /// The cells, without quotes.
    pub cells: Vec<String>,
    /// The text of the row, without its line break. Empty for tables that are not text files, such as workbooks.
    pub raw: String,
    /// The reason why the row is incomplete.
    pub fault: Option<RowFault>,
}

/// The reason why a row is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFault {
    /// The row is larger than the limit.
    TooLarge,
    /// The file ends inside the row: in a quoted cell, or before the last column of the header.
    Truncated,
}

impl Row {
    /// The cell in a column. Empty if there is no such column or cell.
    pub fn cell(&self, column: Option<usize>) -> &str {
        column.and_then(|column| self.cells.get(column)).map_or("", String::as_str)
    }

    /// True if all cells are blank.
    pub fn is_blank(&self) -> bool {
        self.cells.iter().all(|cell| cell.trim().is_empty())
    }
}

/// Reads the rows of a CSV file. Only one row is in memory at a time, both as text and as cells. A row may be as large
/// as one line of a JSON Lines file.
pub struct CsvRows<'r> {
    reader: &'r mut dyn Read,
    core: csv_core::Reader,
    /// Decodes UTF-16. None if the file is not in UTF-16. In that case, each cell is read as UTF-8, or as Windows-1252
    /// if it is not valid UTF-8.
    decoder: Option<encoding_rs::Decoder>,
    buffer: Vec<u8>,
    start: usize,
    is_at_end: bool,
    limit: usize,
    next_number: u64,
    /// Number of columns of the header.
    width: usize,
}

impl<'r> CsvRows<'r> {
    /// Reads the start of a file to determine the encoding and the separator.
    pub fn new(reader: &'r mut dyn Read, limits: &Limits, place: &str) -> Result<Self, FormatError> {
        let mut rows = Self {
            reader,
            core: csv_core::Reader::new(),
            decoder: None,
            buffer: Vec::new(),
            start: 0,
            is_at_end: false,
            limit: usize::try_from(limits.line_bytes).unwrap_or(usize::MAX),
            next_number: 0,
            width: 0,
        };
        let mut head = Vec::new();
        let chunk = u64::try_from(CHUNK_BYTES).unwrap_or(u64::MAX);
        (&mut *rows.reader).take(chunk).read_to_end(&mut head).map_err(|e| FormatError::io(place, e))?;
        rows.is_at_end = head.len() < CHUNK_BYTES;
        let (encoding, mark) = encoding_of(&head);
        if encoding != encoding_rs::UTF_8 {
            rows.decoder = Some(encoding.new_decoder_without_bom_handling());
        }
        rows.push(head.get(mark..).unwrap_or_default());
        rows.skip_separator_line();
        let separator = separator_of(&rows.buffer[rows.start..]);
        rows.core = csv_core::ReaderBuilder::new().delimiter(separator).build();
        Ok(rows)
    }

    /// Skips `sep=;`, which some programs write for Excel before the header.
    fn skip_separator_line(&mut self) {
        if self.buffer.starts_with(b"sep=") {
            let line = memchr::memchr(b'\n', &self.buffer).map_or(self.buffer.len(), |end| end + 1);
            self.start = line;
        }
    }

    /// Appends decoded bytes to the buffer.
    fn push(&mut self, bytes: &[u8]) {
        let Some(decoder) = &mut self.decoder else { return self.buffer.extend_from_slice(bytes) };
        let mut text = String::with_capacity(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len() * 3));
        let _ = decoder.decode_to_string(bytes, &mut text, self.is_at_end);
        self.buffer.extend_from_slice(text.as_bytes());
    }

    fn fill(&mut self, place: &str) -> Result<(), FormatError> {
        self.buffer.clear();
        self.start = 0;
        while self.buffer.is_empty() && !self.is_at_end {
            let mut chunk = vec![0; CHUNK_BYTES];
            let count = match self.reader.read(&mut chunk) {
                Ok(count) => count,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(FormatError::io(place, e)),
            };
            self.is_at_end = count == 0;
            self.push(chunk.get(..count).unwrap_or_default());
        }
        Ok(())
    }

    /// The next row, or None at the end. Empty lines are not rows.
    pub fn next(&mut self, place: &str) -> Result<Option<Row>, FormatError> {
        let mut row = Row { number: self.next_number, ..Row::default() };
        let (mut raw, mut cell): (Vec<u8>, Vec<u8>) = (Vec::new(), Vec::new());
        let (mut size, mut has_odd_quotes) = (0_usize, false);
        let mut out = [0; 4 << 10];
        loop {
            if self.start >= self.buffer.len() && !self.is_at_end {
                self.fill(place)?;
            }
            let input = self.buffer.get(self.start..).unwrap_or_default();
            let (result, read, written) = self.core.read_field(input, &mut out);
            let taken_bytes = input.get(..read).unwrap_or_default();
            size = size.saturating_add(read);
            has_odd_quotes ^= memchr::memchr_iter(b'"', taken_bytes).count() % 2 == 1;
            if size > self.limit {
                row.fault = Some(RowFault::TooLarge);
                (raw, cell) = (Vec::new(), Vec::new());
                row.cells.clear();
            } else {
                raw.extend_from_slice(taken_bytes);
                cell.extend_from_slice(out.get(..written).unwrap_or_default());
            }
            self.start += read;
            match result {
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
                ReadFieldResult::Field { record_end } => {
                    row.cells.push(decode(std::mem::take(&mut cell)));
                    // Counts every cell, because an empty cell needs more memory than its separator in the file.
                    size = size.saturating_add(size_of::<String>());
                    if !record_end {
                        continue;
                    }
                    let is_last = self.is_at_end && self.start >= self.buffer.len();
                    let has_line_break = matches!(raw.last(), Some(b'\n' | b'\r'));
                    let is_short = has_odd_quotes || row.cells.len() < self.width;
                    if is_last && is_short && !has_line_break && row.fault.is_none() {
                        row.fault = Some(RowFault::Truncated);
                    }
                    if self.next_number == 0 {
                        self.width = row.cells.len();
                    }
                    let is_text = |byte: &u8| !matches!(byte, b'\r' | b'\n');
                    raw.truncate(raw.iter().rposition(is_text).map_or(0, |last| last + 1));
                    raw.drain(..raw.iter().position(is_text).unwrap_or(0));
                    row.raw = decode(raw);
                    self.next_number += 1;
                    return Ok(Some(row));
                }
                ReadFieldResult::End => return Ok(None),
            }
        }
    }
}

/// The encoding of a text, determined from its first bytes, and the length of its byte order mark.
fn encoding_of(head: &[u8]) -> (&'static encoding_rs::Encoding, usize) {
    match (encoding_rs::Encoding::for_bom(head), head) {
        (Some(found), _) => found,
        (None, [first, 0, second, 0, ..]) if *first != 0 && *second != 0 => (encoding_rs::UTF_16LE, 0),
        (None, [0, first, 0, second, ..]) if *first != 0 && *second != 0 => (encoding_rs::UTF_16BE, 0),
        (None, _) => (encoding_rs::UTF_8, 0),
    }
}

/// The separator that occurs most often in the first line, outside of quotes.
fn separator_of(text: &[u8]) -> u8 {
    let mut counts = [0_usize; SEPARATORS.len()];
    let mut is_quoted = false;
    for byte in text {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => break,
            _ if is_quoted => {}
            _ => {
                if let Some(count) = SEPARATORS.iter().position(|s| s == byte).and_then(|at| counts.get_mut(at)) {
                    *count += 1;
                }
            }
        }
    }
    let most_frequent = SEPARATORS.iter().zip(counts).rev().max_by_key(|(_, count)| *count);
    most_frequent.map_or(b',', |(separator, _)| *separator)
}

/// Decodes a text as UTF-8, or as Windows-1252 if it is not valid UTF-8.
fn decode(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let bytes = error.into_bytes();
        encoding_rs::WINDOWS_1252.decode_without_bom_handling(&bytes).0.into_owned()
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn rows_of(mut bytes: &[u8], limits: &Limits) -> Vec<Row> {
        let mut rows = CsvRows::new(&mut bytes, limits, "test").unwrap();
        std::iter::from_fn(|| rows.next("test").unwrap()).collect()
    }

    fn cells_of(bytes: &[u8]) -> Vec<Vec<String>> {
        rows_of(bytes, &Limits::default()).into_iter().map(|row| row.cells).collect()
    }

    #[test]
    fn a_row_of_many_empty_cells_is_too_large() {
        let limits = Limits { line_bytes: 2_000, ..Limits::default() };
        let row = ",".repeat(1_500);
        let rows = rows_of(format!("id,kind\n{row}\nm1,memory\n").as_bytes(), &limits);
        let faults: Vec<_> = rows.iter().map(|row| row.fault).collect();
        assert_eq!(faults, [None, Some(RowFault::TooLarge), None]);
        assert!(rows[1].cells.len() < 100, "{} cells are in memory", rows[1].cells.len());
    }

    #[test]
    fn a_row_keeps_its_own_text_and_line_breaks_in_cells() {
        let rows = rows_of(b"\xef\xbb\xbfA,B\r\n\"x\ny\",\"say \"\"z\"\"\"\r\n\r\n1,2,3\r\n", &Limits::default());
        let raw: Vec<&str> = rows.iter().map(|row| row.raw.as_str()).collect();
        assert_eq!(raw, ["A,B", "\"x\ny\",\"say \"\"z\"\"\"", "1,2,3"]);
        assert_eq!(rows[1].cells, ["x\ny", "say \"z\""]);
        assert_eq!(rows[2].cells.len(), 3);
    }

    #[test]
    fn encodings_and_separators_are_recognised() {
        let expected = [["Größe", "b"], ["1", "2"]];
        assert_eq!(cells_of("sep=;\r\nGröße;b\r\n1;2".as_bytes()), expected);
        assert_eq!(cells_of("Größe\tb\n1\t2\n".as_bytes()), expected);
        assert_eq!(cells_of(&encoding_rs::WINDOWS_1252.encode("Größe,b\n1,2\n").0), expected);
        let utf16: Vec<u8> = "\u{feff}Größe,b\r\n1,2\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(cells_of(&utf16), expected);
        assert_eq!(cells_of(&utf16[2..]), expected);
        assert!(cells_of(b"").is_empty());
    }

    #[test]
    fn a_row_that_is_too_large_or_cut_off_does_not_affect_the_others() {
        let limits = Limits { line_bytes: 100, ..Limits::default() };
        let text = format!("a,b\n\"{}\",1\nc,d\ne,\"f", "x\n".repeat(200_000));
        let rows = rows_of(text.as_bytes(), &limits);
        let faults: Vec<_> = rows.iter().map(|row| row.fault).collect();
        assert_eq!(faults, [None, Some(RowFault::TooLarge), None, Some(RowFault::Truncated)]);
        let faults = |text: &str| rows_of(text.as_bytes(), &limits).last().and_then(|row| row.fault);
        assert_eq!([faults("a,b\n1"), faults("a,b\n1\n")], [Some(RowFault::Truncated), None]);
        assert_eq!(rows[2].cells, ["c", "d"]);
        assert!(rows[1].raw.is_empty());
    }

    #[test]
    fn columns_are_found_by_any_of_their_names() {
        let header = Header::new(Row { cells: vec!["Chat Name".into(), "FIRST_AT".into()], ..Row::default() });
        assert_eq!(header.column(&["conversation", "ChatName"]), Some(0));
        assert_eq!(header.column(&["first at"]), Some(1));
        assert_eq!(header.column(&["other"]), None);
    }
}
