//! The result of a tool in the Model Context Protocol, `{"content": [{"type": "text", "text": "…"}]}`, whose texts
//! contain JSON. Source: the protocol's schema, `CallToolResult`, also inside a response of JSON-RPC.

/// Members of a result, and of the response around it, that may come before its content.
const MEMBERS_BEFORE: [&[u8]; 3] = [b"jsonrpc", b"id", b"isError"];

/// What comes after a text of a result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A further text begins after this number of bytes.
    Text(usize),
    /// There is no further text.
    End,
    /// More bytes are needed.
    Unknown,
}

/// The number of bytes before the JSON in the first text of a result. None if the bytes are not the start of a result,
/// or if its first text is not JSON.
pub(super) fn text_start(bytes: &[u8]) -> Option<usize> {
    let mut cursor = Cursor { bytes, at: 0 };
    cursor.take(b'{')?;
    loop {
        let key = cursor.string()?;
        cursor.take(b':')?;
        match key {
            b"content" => break,
            b"result" => cursor.take(b'{')?,
            _ if MEMBERS_BEFORE.contains(&key) => {
                cursor.scalar()?;
                cursor.take(b',')?;
            }
            _ => return None,
        }
    }
    cursor.take(b'[')?;
    cursor.take(b'{')?;
    loop {
        let key = cursor.string()?;
        cursor.take(b':')?;
        match key {
            b"type" if cursor.string()? == b"text" => cursor.take(b',')?,
            b"text" => break,
            _ => return None,
        }
    }
    cursor.take(b'"')?;
    begins_like_json(bytes.get(cursor.at..)?).then_some(cursor.at)
}

/// Finds the next text after the quote that ends a text. Parts of other types have no text.
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
                let mut cursor = Cursor { bytes, at: end };
                if is_key && cursor.take(b':').is_some() {
                    match cursor.take(b'"') {
                        Some(()) => return Next::Text(cursor.at),
                        None if cursor.is_at_end() => return Next::Unknown,
                        None => {}
                    }
                } else if is_key && cursor.is_at_end() {
                    return Next::Unknown;
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

/// True if the content of a JSON string begins like JSON. The string may have escaped white space before it.
fn begins_like_json(content: &[u8]) -> bool {
    let mut rest = content.trim_ascii_start();
    while let [b'\\', b'n' | b'r' | b't', after @ ..] = rest {
        rest = after.trim_ascii_start();
    }
    matches!(rest, [b'{' | b'[', ..])
}

struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Cursor<'b> {
    fn skip_space(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.at >= self.bytes.len()
    }

    /// Skips a sign and the white space before it. None if another sign is there.
    fn take(&mut self, sign: u8) -> Option<()> {
        self.skip_space();
        (self.bytes.get(self.at) == Some(&sign)).then(|| self.at += 1)
    }

    /// The content of a string. None if there is no complete string.
    fn string(&mut self) -> Option<&'b [u8]> {
        self.skip_space();
        let start = self.at;
        if self.bytes.get(start) != Some(&b'"') {
            return None;
        }
        self.at = string_end(self.bytes, start)?;
        self.bytes.get(start + 1..self.at - 1)
    }

    /// Skips a string, a number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Option<()> {
        if self.string().is_some() {
            return Some(());
        }
        let word = self.bytes.get(self.at..)?.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-');
        let size = word.count();
        self.at += size;
        (size > 0).then_some(())
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
