//! Finds the keys at the start of a JSON file, even if the text is truncated. Values are not parsed.
use crate::tool_result::text_start;
use memchr::memchr2;
use mementory_model::is_damage;
use std::{borrow::Cow, collections::HashSet, io::Read};

/// Reading stops after this many bytes. Leading white space is not counted.
const HEAD_BYTES: usize = 64 << 10;
/// Largest number of key paths that are collected from a file.
const MAX_PATHS: usize = 2000;
/// Largest number of keys in one path.
const MAX_PATH_DEPTH: usize = 4;

/// Key paths at the start of a file (`chat_messages.sender`). Arrays are not part of a path.
#[derive(Debug, Default)]
pub struct Keys {
    paths: HashSet<String>,
    /// The last name of each path. Most lookups are for names that no path has, and this set answers such lookups
    /// quickly.
    names: HashSet<String>,
}

impl Keys {
    /// True if this path was found at the top or inside `conversations`, `projects` or `data`.
    pub fn has(&self, path: &str) -> bool {
        let is_below =
            |wrapper: &str| self.paths.contains(wrapper) && self.paths.contains(&format!("{wrapper}.{path}"));
        self.has_name(name_of(path))
            && (self.paths.contains(path) || ["conversations", "projects", "data"].into_iter().any(is_below))
    }

    /// True if a path ends with this name. `name` contains no `.`. This lookup is faster than the lookup of a path, so
    /// a format with many paths first looks up a name that all of them need.
    pub fn has_name(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// True if this path was found at any level.
    pub fn has_at_any_level(&self, path: &str) -> bool {
        self.paths.iter().any(|p| p.strip_suffix(path).is_some_and(|above| above.is_empty() || above.ends_with('.')))
    }

    /// Approximate number of bytes in memory.
    pub fn memory_bytes(&self) -> usize {
        self.paths.iter().chain(&self.names).map(|text| text.len() + 2 * size_of::<String>()).sum()
    }

    /// True if no key was found.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    fn add(&mut self, path: &str) {
        if self.paths.len() < MAX_PATHS && !self.paths.contains(path) {
            self.paths.insert(path.to_owned());
            let name = name_of(path);
            if !self.names.contains(name) {
                self.names.insert(name.to_owned());
            }
        }
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(_, name)| name)
}

/// The keys at the start of a file. None if the file does not look like JSON.
pub fn keys(reader: &mut dyn Read) -> std::io::Result<Option<Keys>> {
    let head = read_head(reader)?;
    let text = decode_text(&head);
    let text = text_without_bom(&text);
    let keys_inside = |start: usize| {
        let inner = text.get(start..)?.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\");
        inner.trim_start().starts_with(['{', '[']).then(|| scan_keys(inner.trim_start()))
    };
    Ok(match text.as_bytes().first() {
        Some(b'{' | b'[') => match text_start(text.as_bytes()) {
            Some(start) => keys_inside(start),
            None => Some(scan_keys(text)),
        },
        // The JSON is inside a JSON string.
        Some(b'"') => keys_inside(1),
        _ => None,
    })
}

/// Skips white space of any length and returns the bytes after it. If the input is damaged, returns the bytes before
/// the damage.
fn read_head(reader: &mut dyn Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut buffer = vec![0; HEAD_BYTES];
    loop {
        let n = match reader.read(&mut buffer) {
            Ok(0) => return Ok(head),
            Ok(n) => n,
            Err(e) if is_damage(&e) => return Ok(head),
            Err(e) => return Err(e),
        };
        let chunk = &buffer[..n];
        let from = if head.is_empty() { chunk.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(n) } else { 0 };
        head.extend_from_slice(&chunk[from..]);
        if head.len() >= HEAD_BYTES {
            return Ok(head);
        }
    }
}

fn decode_text(head: &[u8]) -> Cow<'_, str> {
    let utf16 = match head {
        [0xff, 0xfe, ..] | [_, 0, _, 0, ..] => Some(encoding_rs::UTF_16LE),
        [0xfe, 0xff, ..] | [0, _, 0, _, ..] => Some(encoding_rs::UTF_16BE),
        _ => None,
    };
    match (utf16, std::str::from_utf8(head)) {
        (Some(encoding), _) => encoding.decode_with_bom_removal(head).0,
        (None, Ok(text)) => Cow::Borrowed(text),
        (None, Err(_)) => String::from_utf8_lossy(head),
    }
}

fn text_without_bom(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim_start()
}

/// The keys in the first bytes of a file.
pub fn keys_of(head: &[u8]) -> Keys {
    scan_keys(text_without_bom(&decode_text(head)))
}

/// An object or array that is open at the current position.
struct Open {
    is_object: bool,
    /// Length of the path of the enclosing object or array, in bytes and in keys.
    outer: (usize, usize),
}

/// Scans the text once. A string directly before a `:` inside an object is a key.
fn scan_keys(text: &str) -> Keys {
    let bytes = text.as_bytes();
    let mut keys = Keys::default();
    let mut open_values: Vec<Open> = Vec::new();
    // The path of the innermost open object or array, with a `.` after each key, and the number of its keys.
    let (mut path, mut depth) = (String::new(), 0);
    let mut pending: Option<&str> = None;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let start = at + 1;
                at = end_of_string(bytes, start);
                let mut next = at + 1;
                while bytes.get(next).is_some_and(u8::is_ascii_whitespace) {
                    next += 1;
                }
                // If none of these bytes follows, this quote opens the next string: the string before it has lost its
                // closing quote.
                if bytes.get(next).is_some_and(|byte| !matches!(byte, b',' | b':' | b'}' | b']')) {
                    pending = None;
                    continue;
                }
                let is_key = bytes.get(next) == Some(&b':') && open_values.last().is_some_and(|open| open.is_object);
                pending = is_key.then(|| text.get(start..at)).flatten();
                if let Some(key) = pending.filter(|key| depth < MAX_PATH_DEPTH && key.len() < 100) {
                    let outer = path.len();
                    path.push_str(key);
                    keys.add(&path);
                    path.truncate(outer);
                }
            }
            b'{' | b'[' => {
                if open_values.len() > 64 {
                    break;
                }
                open_values.push(Open { is_object: *byte == b'{', outer: (path.len(), depth) });
                if let Some(key) = pending.take().filter(|key| !key.is_empty()) {
                    path.push_str(key);
                    path.push('.');
                    depth += 1;
                }
            }
            b'}' | b']' => {
                pending = None;
                if let Some(Open { outer: (path_bytes, path_keys), .. }) = open_values.pop() {
                    path.truncate(path_bytes);
                    depth = path_keys;
                }
            }
            b',' => pending = None,
            _ => {}
        }
        at += 1;
    }
    keys
}

/// Index of the `"` that closes a string, or an index after the end of the text if none does.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    bytes.len()
}
