//! Finds the keys at the start of a JSON file, even if the text is truncated. Values are not parsed.
use mementory_model::is_damage;
use std::{collections::HashSet, io::Read};

/// Reading stops after this many bytes. Leading white space is not counted.
const HEAD_BYTES: usize = 64 << 10;
/// Largest number of key paths.
const MAX_PATHS: usize = 2000;
/// Largest number of keys in one path.
const MAX_PATH_DEPTH: usize = 4;

/// Key paths at the start of a file (`chat_messages.sender`). Arrays are not part of a path.
#[derive(Debug, Default)]
pub struct Keys(HashSet<String>);

impl Keys {
    /// True if this path was found at the top or inside `conversations`, `projects` or `data`.
    pub fn has(&self, path: &str) -> bool {
        self.0.contains(path)
            || ["conversations", "projects", "data"].iter().any(|w| self.0.contains(&format!("{w}.{path}")))
    }

    /// True if this path was found at any level.
    pub fn has_below(&self, path: &str) -> bool {
        self.0.iter().any(|p| p.strip_suffix(path).is_some_and(|above| above.is_empty() || above.ends_with('.')))
    }

    /// True if no key was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The keys at the start of a file. None if the file does not look like JSON.
pub fn keys(reader: &mut dyn Read) -> std::io::Result<Option<Keys>> {
    let head = read_head(reader)?;
    let text = decode_text(&head);
    let text = text.trim_start();
    Ok(match text.as_bytes().first() {
        Some(b'{' | b'[') => Some(scan_keys(text)),
        // The JSON is inside a JSON string.
        Some(b'"') => {
            let inner = text[1..].replace("\\\"", "\"").replace("\\\\", "\\");
            inner.trim_start().starts_with(['{', '[']).then(|| scan_keys(inner.trim_start()))
        }
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

fn decode_text(head: &[u8]) -> String {
    let utf16 = match head {
        [0xff, 0xfe, ..] | [_, 0, _, 0, ..] => Some(encoding_rs::UTF_16LE),
        [0xfe, 0xff, ..] | [0, _, 0, _, ..] => Some(encoding_rs::UTF_16BE),
        _ => None,
    };
    let text = match utf16 {
        Some(encoding) => encoding.decode_with_bom_removal(head).0.into_owned(),
        None => String::from_utf8_lossy(head).into_owned(),
    };
    text.trim_start_matches('\u{feff}').to_owned()
}

/// The keys in the first bytes of a file.
pub fn keys_of(head: &[u8]) -> Keys {
    scan_keys(decode_text(head).trim_start())
}

/// Scans the text once. A string directly before a `:` inside an object is a key.
fn scan_keys(text: &str) -> Keys {
    let bytes = text.as_bytes();
    let mut keys = Keys::default();
    // For each open bracket: true if it is that of an object, and the key whose value it opens (empty if there is
    // none).
    let mut open: Vec<(bool, String)> = Vec::new();
    let mut pending: Option<String> = None;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let start = at + 1;
                at = start;
                while let Some(b) = bytes.get(at).filter(|b| **b != b'"') {
                    at += if *b == b'\\' { 2 } else { 1 };
                }
                let mut next = at + 1;
                while bytes.get(next).is_some_and(u8::is_ascii_whitespace) {
                    next += 1;
                }
                let is_key = bytes.get(next) == Some(&b':') && open.last().is_some_and(|(object, _)| *object);
                pending = is_key.then(|| text.get(start..at)).flatten().map(str::to_owned);
                if let Some(key) = &pending {
                    add_path(&mut keys, &open, key);
                }
            }
            b'{' | b'[' => {
                if open.len() > 64 {
                    break;
                }
                open.push((*byte == b'{', pending.take().unwrap_or_default()));
            }
            b'}' | b']' => {
                pending = None;
                open.pop();
            }
            b',' => pending = None,
            _ => {}
        }
        at += 1;
    }
    keys
}

fn add_path(keys: &mut Keys, open: &[(bool, String)], key: &str) {
    let mut path: Vec<&str> = open.iter().map(|(_, k)| k.as_str()).filter(|k| !k.is_empty()).collect();
    path.push(key);
    if path.len() <= MAX_PATH_DEPTH && keys.0.len() < MAX_PATHS && key.len() < 100 {
        keys.0.insert(path.join("."));
    }
}
