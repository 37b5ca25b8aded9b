//! Reads `chat.html`, a page for browsers with all conversations in a script (`var jsonData = [...]`). Many people keep
//! only this page, so it is read if the export has no conversations as JSON. The script alone is read too.
use super::head;
use encoding_rs::{Decoder, Encoding, UTF_8};
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::json_head::has_json_name;
use mementory_formats_shared::text_head::page_text;
use std::io::Read;

/// Number of bytes at the beginning of a page that detection examines.
const HEAD_BYTES: usize = 256 << 10;
/// Number of bytes at the beginning of a script that are enough to find its first variable.
const SCRIPT_HEAD_BYTES: usize = 256;
/// Name of the script variable that contains the conversations.
const CONVERSATIONS: &str = "jsonData";
/// Name of the script variable that maps files to their names.
pub(super) const FILE_NAMES: &str = "assetsJson";

/// True for a page with ChatGPT's conversations.
pub(super) fn has_conversations(catalog: &Catalog, member: &Member) -> Result<bool, FormatError> {
    let start = head_text(catalog, member, HEAD_BYTES)?;
    if !start.contains(CONVERSATIONS) {
        return Ok(false);
    }
    let mut bytes = start.as_bytes();
    let mut json = Vec::new();
    let is_read = ScriptValue::conversations(&mut bytes).read_to_end(&mut json).is_ok();
    Ok(is_read && head::has_conversations(&json) == Some(true))
}

/// Returns the text in the first `count` bytes of a page. The text is empty if the page cannot be read.
pub(super) fn head_text(catalog: &Catalog, member: &Member, count: usize) -> Result<String, FormatError> {
    match catalog.head(member, count) {
        Err(e @ FormatError::Limit { .. }) => Err(e),
        head => Ok(page_text(&head.unwrap_or_default()).into_owned()),
    }
}

/// True if the name of a file is that of a web page.
pub(super) fn has_page_name(member: &Member) -> bool {
    let name = member.file_name().to_ascii_lowercase();
    name.ends_with(".html") || name.ends_with(".htm")
}

/// True for a page, or for the script of a page.
pub(super) fn is_page(catalog: &Catalog, member: &Member) -> bool {
    has_page_name(member) || is_script(catalog, member)
}

/// True for a file that begins with the variable of the conversations. Some people save only the script of the page, or
/// copy it out of the page's source.
pub(super) fn is_script(catalog: &Catalog, member: &Member) -> bool {
    if !has_json_name(member) && !member.file_name().to_ascii_lowercase().ends_with(".js") {
        return false;
    }
    let head = catalog.head(member, SCRIPT_HEAD_BYTES).unwrap_or_default();
    let text = page_text(&head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let text = text.strip_prefix("<script>").unwrap_or(text).trim_start();
    let declared = ["var ", "let ", "const ", "window."].iter().find_map(|start| text.strip_prefix(start));
    let value = declared.unwrap_or(text).trim_start().strip_prefix(CONVERSATIONS);
    value.is_some_and(|value| value.trim_start().starts_with('='))
}

/// Position of the reader relative to the value of the variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the variable. The number is how many bytes of the variable's name match so far.
    Name(usize),
    /// Between the name of the variable and its value.
    Assignment,
    /// Inside the value. `depth` is the number of open brackets, `in_string` is true inside a string, and `is_escaped`
    /// is true after a backslash.
    Value {
        depth: u64,
        in_string: bool,
        is_escaped: bool,
    },
    Done,
}

/// A reader of the value of a script variable: the array or object in `var name = […];`. It ends after the value.
pub(super) struct ScriptValue<'r> {
    reader: &'r mut dyn Read,
    name: &'static str,
    open: u8,
    state: State,
    /// Decodes a page in UTF-16; the inner `None` is a page that needs no decoding. The outer `None` means that no
    /// bytes were read yet.
    decoder: Option<Option<Decoder>>,
    buffer: Vec<u8>,
    at: usize,
}

impl<'r> ScriptValue<'r> {
    /// Returns a reader of the list of conversations in a page.
    pub(super) fn conversations(reader: &'r mut dyn Read) -> Self {
        Self::new(reader, CONVERSATIONS, b'[')
    }

    pub(super) fn file_names(reader: &'r mut dyn Read) -> Self {
        Self::new(reader, FILE_NAMES, b'{')
    }

    fn new(reader: &'r mut dyn Read, name: &'static str, open: u8) -> Self {
        Self { reader, name, open, state: State::Name(0), decoder: None, buffer: Vec::new(), at: 0 }
    }

    /// Processes one byte of the page. Returns true if the byte belongs to the value.
    fn accept(&mut self, byte: u8) -> bool {
        let name = self.name.as_bytes();
        match &mut self.state {
            State::Name(seen) => {
                let is_match = name.get(*seen) == Some(&byte);
                let next = if is_match { *seen + 1 } else { usize::from(name.first() == Some(&byte)) };
                self.state = if next == name.len() { State::Assignment } else { State::Name(next) };
                false
            }
            State::Assignment if byte == b'=' || byte.is_ascii_whitespace() => false,
            State::Assignment if byte == self.open => {
                self.state = State::Value { depth: 1, in_string: false, is_escaped: false };
                true
            }
            // The name occurs here without an assignment, so the search for the name continues.
            State::Assignment => {
                self.state = State::Name(0);
                false
            }
            State::Value { is_escaped: is_escaped @ true, .. } => {
                *is_escaped = false;
                true
            }
            State::Value { in_string, is_escaped, depth } => {
                match byte {
                    b'"' => *in_string = !*in_string,
                    b'\\' if *in_string => *is_escaped = true,
                    b'[' | b'{' if !*in_string => *depth += 1,
                    b']' | b'}' if !*in_string => *depth -= 1,
                    _ => {}
                }
                if *depth == 0 {
                    self.state = State::Done;
                }
                true
            }
            State::Done => false,
        }
    }
}

impl Read for ScriptValue<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let mut written = 0;
        while written == 0 && !out.is_empty() {
            if self.at == self.buffer.len() {
                if self.state == State::Done {
                    return Ok(0);
                }
                self.buffer.resize(64 << 10, 0);
                let count = self.reader.read(&mut self.buffer)?;
                self.buffer.truncate(count);
                self.at = 0;
                if count == 0 {
                    return Ok(0);
                }
                let encoding = Encoding::for_bom(&self.buffer).filter(|(encoding, _)| *encoding != UTF_8);
                let decoder = self.decoder.get_or_insert_with(|| encoding.map(|(encoding, _)| encoding.new_decoder()));
                if let Some(decoder) = decoder {
                    let mut text = String::with_capacity(decoder.max_utf8_buffer_length(count).unwrap_or(count * 3));
                    let _ = decoder.decode_to_string(&self.buffer, &mut text, false);
                    self.buffer = text.into_bytes();
                }
            }
            while written < out.len()
                && let Some(byte) = self.buffer.get(self.at).copied()
            {
                self.at += 1;
                if self.accept(byte)
                    && let Some(slot) = out.get_mut(written)
                {
                    *slot = byte;
                    written += 1;
                }
            }
            if self.state == State::Done && written == 0 {
                return Ok(0);
            }
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_value_of_a_variable_ends_with_its_bracket() {
        let page = r#"<script>if (!jsonData) {} var jsonData = [{"a":"]\"}","b":[1]}];
            var assetsJson = {"x": "y"}; function f() { return jsonData[0] }</script>"#;
        let read = |value: &mut ScriptValue<'_>| {
            let mut out = String::new();
            value.read_to_string(&mut out).unwrap();
            out
        };
        assert_eq!(read(&mut ScriptValue::conversations(&mut page.as_bytes())), r#"[{"a":"]\"}","b":[1]}]"#);
        assert_eq!(read(&mut ScriptValue::file_names(&mut page.as_bytes())), r#"{"x": "y"}"#);
        assert_eq!(read(&mut ScriptValue::file_names(&mut "none".as_bytes())), "");
    }
}
