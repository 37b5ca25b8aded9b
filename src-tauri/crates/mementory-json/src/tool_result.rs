//! The result of a tool in the Model Context Protocol, `{"content": [{"type": "text", "text": "…"}]}`, whose texts
//! contain JSON. Source: the protocol's schema, `CallToolResult`, also inside a response of JSON-RPC.

/// Members of a result, and of the response around it, that may come before its content.
const MEMBERS_BEFORE: [&[u8]; 3] = [b"jsonrpc", b"id", b"isError"];

/// Largest number of bytes before the JSON in a result.
const MAX_START: usize = 4 << 10;

/// The part of a result after one of its texts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Another text begins after this number of bytes.
    Text(usize),
    /// There is no more text.
    End,
    /// More bytes are needed.
    Unknown,
}

/// Whether the bytes are the start of a result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The first text is JSON, which begins after this number of bytes.
    Text(usize),
    /// The value is not a result, or its first text is not JSON.
    Other,
    /// More bytes are needed.
    Unknown,
}

/// Finds the JSON in the first text of a result.
pub(super) fn result_start(bytes: &[u8]) -> Start {
    let mut cursor = Cursor { bytes, at: 0, ran_out: false };
    match find_first_text(&mut cursor) {
        Some(at) => Start::Text(at),
        None if cursor.ran_out && bytes.len() <= MAX_START => Start::Unknown,
        None => Start::Other,
    }
}

/// Like [`result_start`], for bytes after which no more are read. None if they are not the start of a result.
pub(super) fn text_start(bytes: &[u8]) -> Option<usize> {
    match result_start(bytes) {
        Start::Text(at) => Some(at),
        Start::Other | Start::Unknown => None,
    }
}

fn find_first_text(cursor: &mut Cursor<'_>) -> Option<usize> {
    cursor.skip_sign(b'{')?;
    loop {
        let key = cursor.read_string()?;
        cursor.skip_sign(b':')?;
        match key {
            b"content" => break,
            b"result" => cursor.skip_sign(b'{')?,
            _ if MEMBERS_BEFORE.contains(&key) => {
                cursor.skip_scalar()?;
                cursor.skip_sign(b',')?;
            }
            _ => return None,
        }
    }
    cursor.skip_sign(b'[')?;
    cursor.skip_sign(b'{')?;
    loop {
        let key = cursor.read_string()?;
        cursor.skip_sign(b':')?;
        match key {
            b"type" if cursor.read_string()? == b"text" => cursor.skip_sign(b',')?,
            b"text" => break,
            _ => return None,
        }
    }
    cursor.skip_sign(b'"')?;
    let start = cursor.at;
    // The content may have escaped white space before the JSON.
    loop {
        match cursor.peek()? {
            b'{' | b'[' => return Some(start),
            b'\\' => {
                cursor.at += 1;
                let is_space = matches!(cursor.read_byte()?, b'n' | b'r' | b't');
                is_space.then_some(())?;
            }
            _ => return None,
        }
    }
}

/// Finds the next text after the quote that ends a text. Only parts of the type `text` have a text.
pub(super) fn next_text(bytes: &[u8]) -> Next {
    let mut depth = 1_u32;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            // This bracket ends the list of parts.
            b']' if depth == 0 => return Next::End,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let Some(end) = string_end(bytes, at) else { return Next::Unknown };
                let is_key = depth == 1 && bytes.get(at..end) == Some(b"\"text\"");
                if is_key {
                    let mut cursor = Cursor { bytes, at: end, ran_out: false };
                    match cursor.skip_sign(b':').and_then(|()| cursor.skip_sign(b'"')) {
                        Some(()) => return Next::Text(cursor.at),
                        None if cursor.ran_out => return Next::Unknown,
                        None => {}
                    }
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    Next::Unknown
}

/// The position after the quote that ends the string at `start`. None if the string is not complete.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
    /// True if the parser needed more bytes than there are.
    ran_out: bool,
}

impl<'b> Cursor<'b> {
    /// The next byte.
    fn read_byte(&mut self) -> Option<u8> {
        let found = self.bytes.get(self.at).copied();
        self.ran_out |= found.is_none();
        self.at += usize::from(found.is_some());
        found
    }

    /// Skips white space and returns the byte after it, which is not skipped.
    fn peek(&mut self) -> Option<u8> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        let found = self.bytes.get(self.at).copied();
        self.ran_out |= found.is_none();
        found
    }

    /// Skips the character `sign` and the white space before it. None if the next character is another one.
    fn skip_sign(&mut self, sign: u8) -> Option<()> {
        (self.peek()? == sign).then(|| self.at += 1)
    }

    /// The content of a string. None if there is no complete string.
    fn read_string(&mut self) -> Option<&'b [u8]> {
        let start = self.at_sign(b'"')?;
        let Some(end) = string_end(self.bytes, start) else {
            self.ran_out = true;
            return None;
        };
        self.at = end;
        self.bytes.get(start + 1..end - 1)
    }

    /// The position of the character `sign` after white space. None if the next character is another one.
    fn at_sign(&mut self, sign: u8) -> Option<usize> {
        (self.peek()? == sign).then_some(self.at)
    }

    /// Skips a string, a number, `true`, `false` or `null`.
    fn skip_scalar(&mut self) -> Option<()> {
        if self.peek()? == b'"' {
            return self.read_string().map(drop);
        }
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_result_is_recognised_by_a_first_text_that_is_json() {
        for (start, is_result) in [
            (r#"{"content":[{"type":"text","text":"{"#, true),
            (r#" { "content" : [ { "type" : "text" , "text" : "\n [{"#, true),
            (r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"text":"{"#, true),
            (r#"{"isError":false,"content":[{"type":"text","text":"["#, true),
            (r#"{"content":[{"type":"text","text":"Found 3"#, false),
            (r#"{"content":[{"type":"image","data":"{"#, false),
            (r#"{"role":"user","content":[{"type":"text","text":"{"#, false),
            (r#"{"content":"{"#, false),
            (r#"[{"content":[{"type":"text","text":"{"#, false),
            (r#"{"content":[{"type":"te"#, false),
            ("", false),
        ] {
            assert_eq!(text_start(start.as_bytes()).is_some(), is_result, "{start}");
        }
        let start = r#"{"content":[{"type":"text","text":""#;
        assert_eq!(text_start(format!("{start}{{").as_bytes()), Some(start.len()));
        // Every shorter beginning may still be that of a result, so the answer is unknown.
        for end in 0..=start.len() {
            assert_eq!(result_start(&start.as_bytes()[..end]), Start::Unknown, "{end}");
        }
        assert_eq!(result_start(br#"{"name":"x","#), Start::Other);
        assert_eq!(result_start(format!(r#"{{"id":"{}"#, "x".repeat(MAX_START)).as_bytes()), Start::Other);
    }

    #[test]
    fn the_next_text_is_one_of_a_further_part() {
        let further = r#"},{"type":"text","text":""#;
        for (after, next) in [
            (further, Next::Text(further.len())),
            (r#"}],"structuredContent":{"text":"x"}}"#, Next::End),
            (r#","annotations":{"text":"x"}}]}"#, Next::End),
            (r#"},{"type":"image","data":"\"text\""}]}"#, Next::End),
            (r#"},{"type":"text","te"#, Next::Unknown),
            (r#"},{"type":"text","text""#, Next::Unknown),
            (r#"},{"type":"text","text": "#, Next::Unknown),
            ("", Next::Unknown),
        ] {
            assert_eq!(next_text(after.as_bytes()), next, "{after}");
        }
    }
}
