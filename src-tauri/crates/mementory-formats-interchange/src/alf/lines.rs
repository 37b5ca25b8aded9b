//! Lines of a JSONL entry, bounded (spec §4.1.1: one object per line; blank lines and CRLF tolerated).
use mementory_format::FormatError;
use std::io::{BufRead, BufReader, Read};

/// One line of an entry.
pub(super) enum Entry<'a> {
    /// A line without its line end, empty when blank, and its number from 1.
    Line(u64, &'a str),
    /// A line that cannot be read: number and stable code.
    Bad(u64, &'static str),
}

/// Visits every line. Ends early, with a `Bad` entry, where the entry is damaged. Errors: those of `visit`, and of
/// the input as such (limits, the file system).
pub(super) fn each_line(
    reader: &mut dyn Read,
    place: &str,
    limit: u64,
    visit: &mut dyn FnMut(Entry<'_>, u64) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let mut reader = BufReader::with_capacity(256 << 10, reader);
    let mut line = Vec::new();
    let mut number = 0u64;
    loop {
        line.clear();
        let n = match reader.by_ref().take(limit.saturating_add(1)).read_until(b'\n', &mut line) {
            Ok(n) => n as u64,
            Err(e) => return damaged(e, place, number + 1, visit),
        };
        if n == 0 {
            return Ok(());
        }
        number += 1;
        if n > limit && line.last() != Some(&b'\n') {
            let mut skipped = n;
            loop {
                let (used, done) = match reader.fill_buf() {
                    Ok([]) => (0, true),
                    Ok(buffer) => memchr::memchr(b'\n', buffer).map_or((buffer.len(), false), |i| (i + 1, true)),
                    Err(e) => return damaged(e, place, number, visit),
                };
                reader.consume(used);
                skipped += used as u64;
                if done {
                    break;
                }
            }
            visit(Entry::Bad(number, "line_too_long"), skipped)?;
            continue;
        }
        let text = match number {
            1 => line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line),
            _ => &line,
        };
        match std::str::from_utf8(text).map(str::trim_ascii) {
            Ok(text) => visit(Entry::Line(number, text), n)?,
            Err(_) => visit(Entry::Bad(number, "invalid_utf8"), n)?,
        }
    }
}

fn damaged(
    error: std::io::Error,
    place: &str,
    number: u64,
    visit: &mut dyn FnMut(Entry<'_>, u64) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    if matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof) {
        return visit(Entry::Bad(number, "damaged_entry"), 0);
    }
    Err(FormatError::io(place, error))
}
