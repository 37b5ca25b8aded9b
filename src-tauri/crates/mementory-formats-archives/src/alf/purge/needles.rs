//! Searches for the text of deleted records, ignoring letter case, white space and JSON escapes. Findings are reported
//! to the user, so a false alarm is better than a missed text.
use super::super::wire;
use mementory_format::FormatError;
use mementory_json::write_string;
use std::collections::BTreeSet;
use std::io::Read;

/// Smallest number of characters of a content line that is also searched for separately from the whole content.
const MIN_PART_CHARS: usize = 16;
/// Number of bytes of a stream that are read at a time.
const READ_BUFFER_BYTES: usize = 256 << 10;

/// Texts to search for.
#[derive(Default)]
pub(super) struct Needles {
    contents: BTreeSet<Vec<u8>>,
    content_lines: BTreeSet<Vec<u8>>,
}

impl Needles {
    /// Adds the content of a memory line as a whole, and each line of it with at least [`MIN_PART_CHARS`] characters.
    pub(super) fn add_line(&mut self, line: &str) {
        let Some(m) = wire::members(line) else { return };
        let Some(content) = wire::get(&m, "content").and_then(wire::string) else { return };
        add_spellings(&mut self.contents, content.trim());
        for part in content.lines() {
            let part = part.trim_matches(|c: char| c.is_whitespace() || "#*->|`_".contains(c));
            if part.chars().count() >= MIN_PART_CHARS {
                add_spellings(&mut self.content_lines, part);
            }
        }
    }

    /// Builds a finder for these texts and for ids.
    pub(super) fn finder(&self, ids: &BTreeSet<String>) -> Finder {
        let find = |set: &BTreeSet<Vec<u8>>| set.iter().map(|n| memchr::memmem::Finder::new(n).into_owned()).collect();
        let ids: BTreeSet<Vec<u8>> = ids.iter().map(|id| id.to_ascii_lowercase().into_bytes()).collect();
        let longest_bytes =
            self.contents.iter().chain(&self.content_lines).chain(&ids).map(Vec::len).max().unwrap_or(0);
        Finder {
            contents: find(&self.contents),
            content_lines: find(&self.content_lines),
            ids: find(&ids),
            longest_bytes,
        }
    }
}

/// Adds a text in three forms: unescaped, JSON-escaped, and JSON-escaped to ASCII.
fn add_spellings(set: &mut BTreeSet<Vec<u8>>, text: &str) {
    if text.is_empty() {
        return;
    }
    set.insert(fold_case_and_space(text.as_bytes(), &mut true));
    let mut json = String::new();
    write_string(text, &mut json);
    let json = json[1..json.len() - 1].to_owned();
    set.insert(fold_case_and_space(json.as_bytes(), &mut true));
    let mut ascii = String::new();
    for unit in json.encode_utf16() {
        match u8::try_from(unit).ok().filter(u8::is_ascii) {
            Some(byte) => ascii.push(char::from(byte)),
            None => ascii.push_str(&format!("\\u{unit:04x}")),
        }
    }
    set.insert(fold_case_and_space(ascii.as_bytes(), &mut true));
}

/// Converts letters to lower case, and each run of white space to one space. `was_blank` is true if the previous byte
/// was white space; passing it to the next call allows a text to be converted in chunks.
fn fold_case_and_space(bytes: &[u8], was_blank: &mut bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for byte in bytes {
        let is_space = byte.is_ascii_whitespace();
        if !(is_space && *was_blank) {
            out.push(if is_space { b' ' } else { byte.to_ascii_lowercase() });
        }
        *was_blank = is_space;
    }
    out
}

/// Searches streams for all texts and ids.
pub(super) struct Finder {
    contents: Vec<memchr::memmem::Finder<'static>>,
    content_lines: Vec<memchr::memmem::Finder<'static>>,
    ids: Vec<memchr::memmem::Finder<'static>>,
    longest_bytes: usize,
}

impl Finder {
    /// The code of the most serious finding in a stream. Searches for ids only if `include_ids` is true.
    pub(super) fn search(&self, bytes: &mut dyn Read, include_ids: bool) -> Result<Option<&'static str>, FormatError> {
        let (mut buffer, mut text, mut was_blank) = (vec![0u8; READ_BUFFER_BYTES], Vec::new(), false);
        let (mut has_part, mut has_id, mut is_compressed, mut is_first) = (false, false, false, true);
        loop {
            let mut n = 0;
            while n < buffer.len() {
                match bytes.read(&mut buffer[n..]).map_err(|e| FormatError::io("entry", e))? {
                    0 => break,
                    more => n += more,
                }
            }
            if n == 0 {
                break;
            }
            if std::mem::take(&mut is_first) {
                is_compressed = COMPRESSED_MAGIC.iter().any(|magic| buffer[..n].starts_with(magic));
            }
            text.extend(fold_case_and_space(&buffer[..n], &mut was_blank));
            let finds_any =
                |finders: &[memchr::memmem::Finder<'static>]| finders.iter().any(|f| f.find(&text).is_some());
            if finds_any(&self.contents) {
                return Ok(Some("holds_text"));
            }
            has_part |= finds_any(&self.content_lines);
            has_id |= include_ids && finds_any(&self.ids);
            // Keeps the end of the text, so that a match that crosses the boundary of two chunks is found.
            let keep_from = text.len().saturating_sub(self.longest_bytes);
            text.drain(..keep_from);
        }
        Ok(match (has_part, has_id, is_compressed) {
            (true, ..) => Some("holds_part_of_text"),
            (_, true, _) => Some("names_record"),
            (_, _, true) => Some("cannot_be_searched"),
            _ => None,
        })
    }
}

/// First bytes of compressed files: ZIP, gzip, zstd, bzip2, xz, 7-Zip.
const COMPRESSED_MAGIC: [&[u8]; 6] =
    [b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf\x27\x1c"];
