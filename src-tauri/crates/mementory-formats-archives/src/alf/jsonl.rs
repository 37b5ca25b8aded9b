//! Reads a JSONL entry line by line with a length limit. Each line is one object; blank lines and CRLF are accepted
//! (spec §4.1.1).
use mementory_format::FormatError;
use std::io::{BufRead, BufReader, Read};

/// One line of a JSONL entry.
pub(super) enum JsonLine<'a> {
    /// Line number (from 1), and the line's text without its line end. The text of a blank line is empty.
    Text(u64, &'a str),
    /// Line number of a line that cannot be read, and the code of the error.
    Unreadable(u64, &'static str),
}

/// Calls `visit` with each line and its size in the file, including the line end. A line is `Unreadable` if it is
/// longer than `limit` bytes, not UTF-8, or damaged. Reading stops after a damaged line. Fails if `visit` or a read
/// fails.
pub(super) fn each_line(
    reader: &mut dyn Read,
    place: &str,
    limit: u64,
    visit: &mut dyn FnMut(JsonLine<'_>, u64) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let mut reader = BufReader::with_capacity(256 << 10, reader);
    let mut line = Vec::new();
    let mut number = 0u64;
    loop {
        // Most lines are whole in the buffer and need not be copied.
        let whole_line = match reader.fill_buf() {
            Ok(buffer) => memchr::memchr(b'\n', buffer).map(|end| &buffer[..=end]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => return report_damage(e, place, number + 1, visit),
        };
        if let Some(whole_line) = whole_line.filter(|whole_line| whole_line.len() as u64 <= limit) {
            number += 1;
            let n = whole_line.len();
            visit_line(whole_line, number, visit)?;
            reader.consume(n);
            continue;
        }
        line.clear();
        let n = match reader.by_ref().take(limit.saturating_add(1)).read_until(b'\n', &mut line) {
            Ok(n) => n as u64,
            Err(e) => return report_damage(e, place, number + 1, visit),
        };
        if n == 0 {
            return Ok(());
        }
        number += 1;
        if n > limit && line.last() != Some(&b'\n') {
            let mut skipped_bytes = n;
            loop {
                let (used, done) = match reader.fill_buf() {
                    Ok([]) => (0, true),
                    Ok(buffer) => memchr::memchr(b'\n', buffer).map_or((buffer.len(), false), |i| (i + 1, true)),
                    Err(e) => return report_damage(e, place, number, visit),
                };
                reader.consume(used);
                skipped_bytes += used as u64;
                if done {
                    break;
                }
            }
            visit(JsonLine::Unreadable(number, "line_too_long"), skipped_bytes)?;
            continue;
        }
        visit_line(&line, number, visit)?;
    }
}

/// Visits a line that was read whole, with its line end if it has one.
fn visit_line(
    line: &[u8],
    number: u64,
    visit: &mut dyn FnMut(JsonLine<'_>, u64) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let bytes = line.len() as u64;
    let text = match number {
        1 => line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line),
        _ => line,
    };
    match std::str::from_utf8(text).map(str::trim_ascii) {
        Ok(text) => visit(JsonLine::Text(number, text), bytes),
        Err(_) => visit(JsonLine::Unreadable(number, "invalid_utf8"), bytes),
    }
}

fn report_damage(
    error: std::io::Error,
    place: &str,
    number: u64,
    visit: &mut dyn FnMut(JsonLine<'_>, u64) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    if matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof) {
        return visit(JsonLine::Unreadable(number, "damaged_entry"), 0);
    }
    Err(FormatError::io(place, error))
}
