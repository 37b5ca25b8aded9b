//! Reads the rows of an `.xlsx` workbook's sheets with bounded memory.
use super::tables::Row;
use calamine::{DataRef, Reader, Xlsx};
use mementory_format::FormatError;
use mementory_model::{EXPANSION, Limits};
use std::io::{Cursor, Read};

/// Number of bytes at the start of each part of a workbook in which detection searches for words of the header rows.
const HEAD_BYTES: u64 = 1 << 20;
/// Largest number of columns that are read.
const MAX_COLUMNS: u32 = 256;

/// A sheet with at least one row.
#[derive(Debug, Default)]
pub struct Sheet {
    /// Name of the sheet.
    pub name: String,
    /// Rows of the sheet. Empty rows are left out.
    pub rows: Vec<Row>,
}

/// True if a file begins like a ZIP file.
pub fn may_be_workbook(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04")
}

/// True if the start of a sheet, or of the workbook's shared strings, contains one of these words.
pub fn mentions(bytes: &[u8], words: &[&str]) -> bool {
    let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(bytes)) else { return false };
    (0..archive.len()).any(|index| {
        let Ok(part) = archive.by_index(index) else { return false };
        let is_text = part.name().is_ok_and(|name| {
            name.ends_with("sharedStrings.xml") || name.contains("worksheets/") && name.ends_with(".xml")
        });
        let mut head = Vec::new();
        let is_read = is_text && part.take(HEAD_BYTES).read_to_end(&mut head).is_ok();
        is_read && words.iter().any(|word| memchr::memmem::find(&head, word.as_bytes()).is_some())
    })
}

/// The sheets of a workbook.
pub fn sheets(bytes: &[u8], limits: &Limits, place: &str) -> Result<Vec<Sheet>, FormatError> {
    check_unpacked_size(bytes, limits, place)?;
    let malformed = |message: String| FormatError::invalid("malformed", place, message);
    // The parser is third-party code. If it panics, only this file is lost, not the whole import.
    std::panic::catch_unwind(|| parse(bytes))
        .map_err(|_| malformed("this workbook cannot be read".into()))?
        .map_err(|e| malformed(format!("this workbook cannot be read: {e}")))
}

/// Refuses a workbook whose unpacked size exceeds the limit. The size is measured before parsing, because the parser
/// loads whole parts of the workbook into memory.
fn check_unpacked_size(bytes: &[u8], limits: &Limits, place: &str) -> Result<(), FormatError> {
    let limit = limits.expanded_bytes.max((bytes.len() as u64).saturating_mul(EXPANSION));
    let malformed = || FormatError::invalid("malformed", place, "this workbook is damaged");
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|_| malformed())?;
    let mut size = 0;
    for index in 0..archive.len() {
        let Ok(part) = archive.by_index(index) else { continue };
        // Errors are ignored here, because the parser reports damaged parts later.
        size += std::io::copy(&mut part.take(limit + 1), &mut std::io::sink()).unwrap_or_default();
        if size > limit {
            return Err(FormatError::Limit { limit: "expanded_bytes", place: place.into(), figure: limit });
        }
    }
    Ok(())
}

fn parse(bytes: &[u8]) -> Result<Vec<Sheet>, calamine::XlsxError> {
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(bytes))?;
    let mut out = Vec::new();
    for name in workbook.sheet_names() {
        // Skips a sheet that cannot be read, so that the other sheets can be imported.
        let Ok(mut cells) = workbook.worksheet_cells_reader(&name) else { continue };
        let mut sheet = Sheet { name, rows: Vec::new() };
        while let Ok(Some(cell)) = cells.next_cell() {
            let (row, column) = cell.get_position();
            let text = text_of(cell.get_value());
            if column >= MAX_COLUMNS || text.is_empty() {
                continue;
            }
            let number = u64::from(row);
            if sheet.rows.last().is_none_or(|last| last.number != number) {
                sheet.rows.push(Row { number, ..Row::default() });
            }
            let Some(last) = sheet.rows.last_mut() else { continue };
            let column = usize::try_from(column).unwrap_or_default();
            if last.cells.len() <= column {
                last.cells.resize(column + 1, String::new());
            }
            if let Some(slot) = last.cells.get_mut(column) {
                *slot = text;
            }
        }
        if !sheet.rows.is_empty() {
            out.push(sheet);
        }
    }
    Ok(out)
}

/// A cell as text: times in RFC 3339, whole numbers without a fraction.
fn text_of(cell: &DataRef<'_>) -> String {
    match cell {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number.to_string(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(value) => value.to_string(),
        DataRef::DateTime(time) if time.is_datetime() => {
            let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
            format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
        }
        DataRef::DateTime(time) => time.as_f64().to_string(),
        DataRef::Error(error) => format!("{error:?}"),
        DataRef::Empty => String::new(),
    }
}

/// Workbooks for tests.
#[cfg(any(test, feature = "testkit"))]
pub mod testing {
    use std::io::{Cursor, Write};

    /// A workbook with one sheet that has a header row and one row of values, both with one column.
    pub fn workbook(header: &str, value: &str) -> Option<Vec<u8>> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let cell = |at: &str, text: &str| format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
        let main_namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
        let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        let package = "http://schemas.openxmlformats.org/package/2006/relationships";
        for (name, text) in [
            (
                "_rels/.rels",
                format!(
                    "<Relationships xmlns=\"{package}\"><Relationship Id=\"rId1\" Type=\"{relations}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
                ),
            ),
            (
                "xl/workbook.xml",
                format!(
                    "<workbook xmlns=\"{main_namespace}\" xmlns:r=\"{relations}\"><sheets><sheet name=\"One\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"
                ),
            ),
            (
                "xl/_rels/workbook.xml.rels",
                format!(
                    "<Relationships xmlns=\"{package}\"><Relationship Id=\"rId1\" Type=\"{relations}/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>"
                ),
            ),
            (
                "xl/worksheets/sheet1.xml",
                format!(
                    "<worksheet xmlns=\"{main_namespace}\"><sheetData><row r=\"1\">{}</row><row r=\"2\">{}</row></sheetData></worksheet>",
                    cell("A1", header),
                    cell("A2", value)
                ),
            ),
        ] {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).ok()?;
            zip.write_all(text.as_bytes()).ok()?;
        }
        Some(zip.finish().ok()?.into_inner())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{testing::workbook, *};

    #[test]
    fn rows_are_read_and_words_are_found() {
        let bytes = workbook("MEMORY_VALUE", "Grows leeks").unwrap();
        assert!(mentions(&bytes, &["OUTPUT_STR", "MEMORY_VALUE"]) && !mentions(&bytes, &["OTHER"]));
        let sheets = sheets(&bytes, &Limits::default(), "test").unwrap();
        let cells: Vec<_> = sheets[0].rows.iter().map(|row| row.cells.clone()).collect();
        assert_eq!(cells, [["MEMORY_VALUE"], ["Grows leeks"]]);
    }

    #[test]
    fn damaged_workbooks_are_errors() {
        let bytes = workbook("a", "b").unwrap();
        for end in [0, 1, 10, bytes.len() / 2, bytes.len() - 1] {
            assert!(sheets(&bytes[..end], &Limits::default(), "test").is_err(), "{end}");
        }
    }
}
