//! Writes the table as RFC 4180 in UTF-8. The file begins with a byte order mark, so that spreadsheets recognise the
//! encoding.
use super::{ID, ID_COLUMN, TEXT_COLUMN, VERSION, cells};
use csv_core::{Terminator, WriteResult, Writer, WriterBuilder};
use mementory_format::{FormatError, RecordSource, WriteOptions, WriteReport};
use mementory_formats_shared::export::nothing_to_write;
use mementory_formats_shared::export_files::readable::{Readable, VALUE_NAMES, values_of};
use mementory_formats_shared::export_files::strip::ExportSource;
use mementory_formats_shared::new_files::NewFile;
use std::path::Path;

/// Number of columns before the text: kind and title, which people read first.
const LEADING_COLUMNS: usize = 2;

/// Result of one step of the CSV writer, and the numbers of bytes that the step read and wrote.
type Progress = (WriteResult, usize, usize);

/// Writes all records to `out`. Without a path, nothing is written, but the report is the same.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let source = &mut ExportSource::new(source, options);
    let mut readable = Readable::new(VERSION);
    let mut file = NewFile::create(out)?;
    let header = || VALUE_NAMES.map(str::to_owned);
    file.add("\u{feff}")?;
    file.add(&line(ID_COLUMN, TEXT_COLUMN, &header())?)?;
    source.records(&mut |stored| {
        let Some(stored) = readable.prepare(stored) else { return Ok(()) };
        let values = values_of(&stored.record).map(|(_, value)| value);
        file.add(&line(&stored.id, &stored.record.text, &values)?)
    })?;
    file.finish()?;
    if let Some(out) = out.filter(|_| readable.report.by_kind.is_empty()) {
        std::fs::remove_file(out).map_err(|e| FormatError::io(out.display().to_string(), e))?;
        return Err(nothing_to_write(ID));
    }
    readable.finish(source, false)
}

/// Returns one row of the table: id, kind and title, text, then all other values.
fn line(id: &str, text: &str, values: &[String]) -> Result<String, FormatError> {
    let (first, rest) = values.split_at(LEADING_COLUMNS.min(values.len()));
    let row = [id].into_iter().chain(first.iter().map(String::as_str)).chain([text]);
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).build();
    let mut out = Vec::new();
    for (at, cell) in row.chain(rest.iter().map(String::as_str)).enumerate() {
        if at > 0 {
            append(&mut out, &mut |_, space| progress_without_input(writer.delimiter(space)))?;
        }
        let cell = cells::escaped(cell);
        append(&mut out, &mut |done, space| {
            let (result, read, written) = writer.field(&cell.as_bytes()[done..], space);
            (result, read, written)
        })?;
    }
    end(&mut writer, &mut out)?;
    String::from_utf8(out).map_err(|_| FormatError::invalid("not_written", ID_COLUMN, "a row is not text"))
}

fn end(writer: &mut Writer, out: &mut Vec<u8>) -> Result<(), FormatError> {
    append(out, &mut |_, space| progress_without_input(writer.terminator(space)))
}

fn progress_without_input((result, written): (WriteResult, usize)) -> Progress {
    (result, 0, written)
}

/// Repeats `step` until the CSV writer has written everything. `step` receives the number of bytes that it has read so
/// far.
fn append(out: &mut Vec<u8>, step: &mut dyn FnMut(usize, &mut [u8]) -> Progress) -> Result<(), FormatError> {
    let (mut done, mut space) = (0, [0; 4 << 10]);
    loop {
        let (result, read, written) = step(done, &mut space);
        done += read;
        out.extend_from_slice(space.get(..written).unwrap_or_default());
        if result == WriteResult::InputEmpty {
            return Ok(());
        }
    }
}
