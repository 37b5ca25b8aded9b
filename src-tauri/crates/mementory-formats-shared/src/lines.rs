//! Reads JSON Lines one line at a time, so that a damaged line does not affect others. [`FileReader::objects`] also
//! reads JSON Lines, but loses the line after a truncated line.
use super::jsonl_session::{Line, Lines};
use super::reader::{FileReader, ObjectElement};
use mementory_format::{FormatError, Member};
use mementory_model::{DroppedAs, Kind};
use std::io::BufRead;

/// Calls `read` for the object in each line of a file in UTF-8, or in UTF-16 with a byte order mark. A line that is not
/// an object is reported as a dropped record of `kind`. The pointer of an element is `line N`, counted from 1.
pub fn line_objects(
    reader: &mut FileReader<'_>,
    member: &Member,
    kind: Kind,
    mut read: impl FnMut(&mut FileReader<'_>, &ObjectElement<'_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let (catalog, limit) = (reader.catalog, reader.context.limits.line_bytes);
    catalog.read(member, |bytes| {
        let mut lines = Lines::new(bytes, limit);
        let mut number = 0_u64;
        while let Some(line) = lines.next().map_err(|e| FormatError::io(&member.place, e))? {
            number += 1;
            let pointer = format!("line {number}");
            match line {
                Line::TooLong => {
                    let place = format!("{}#{pointer}", member.place);
                    let reason = "too_large: this line is larger than the limit";
                    reader.report_dropped(place, DroppedAs::Failed, reason, Some(kind));
                }
                Line::Text(text) if text.trim_ascii().is_empty() => {}
                Line::Text(text) => reader.object(member, pointer, text.trim_ascii(), kind, &mut read)?,
            }
        }
        Ok(())
    })
}

/// Reads a line, including its line break, into `line`. Returns the size of the line. A line above the limit is
/// skipped, and only its size is returned.
pub fn next_line(lines: &mut impl BufRead, line: &mut Vec<u8>, limit: u64) -> std::io::Result<u64> {
    line.clear();
    let mut size = 0_u64;
    loop {
        let buffer = match lines.fill_buf() {
            Ok(buffer) => buffer,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        let end = memchr::memchr(b'\n', buffer).map(|at| at + 1);
        let taken_length = end.unwrap_or(buffer.len());
        size += taken_length as u64;
        if size > limit {
            *line = Vec::new();
        } else {
            line.extend_from_slice(buffer.get(..taken_length).unwrap_or_default());
        }
        lines.consume(taken_length);
        if end.is_some() || taken_length == 0 {
            return Ok(size);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::next_line;

    #[test]
    fn a_line_above_the_limit_is_skipped_in_bounded_memory() {
        let text = format!("short\n{}\nlast", "x".repeat(100_000));
        let mut lines = std::io::BufReader::with_capacity(16, text.as_bytes());
        let mut line = Vec::new();
        assert_eq!((next_line(&mut lines, &mut line, 100).unwrap(), line.as_slice()), (6, &b"short\n"[..]));
        assert_eq!((next_line(&mut lines, &mut line, 100).unwrap(), line.capacity()), (100_001, 0));
        assert_eq!((next_line(&mut lines, &mut line, 100).unwrap(), line.as_slice()), (4, &b"last"[..]));
        assert_eq!(next_line(&mut lines, &mut line, 100).unwrap(), 0);
    }
}
