//! Completes a JSON text that ends too early, so that its complete parts can be read.

/// Nesting above which a text is not closed, because the parser would not accept the result.
const MAX_DEPTH: usize = 127;

/// An object or array that is still open at the end of the text.
struct OpenValue {
    closing: u8,
    /// Number of complete objects and arrays that this value contains directly.
    children: usize,
    /// Position after the last complete object or array that this value contains directly.
    end: usize,
}

/// Closes a JSON object or array whose end is missing, and keeps as many complete entries as possible.
///
/// Several objects and arrays are still open at the end. The one that contains the most complete objects and arrays is
/// assumed to be the list of entries (for example, of messages). The text is closed after the last complete entry of
/// this list, so that no half entry is left. None if there is no complete entry, if the value is complete, or if its
/// brackets do not match. Nothing else in the result is validated.
///
/// ```
/// let cut = br#"{"id":1,"messages":[{"text":"a"},{"text":"b"},{"text":"c"#;
/// let closed = mementory_json::close_truncated(cut).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
/// assert_eq!(closed.as_deref(), Some(r#"{"id":1,"messages":[{"text":"a"},{"text":"b"}]}"#));
/// ```
pub fn close_truncated(bytes: &[u8]) -> Option<Vec<u8>> {
    let open_values = open_at_end(bytes)?;
    // If several objects or arrays have the same number of entries, the outermost is used.
    let (list_index, longest_list) = open_values.iter().enumerate().rev().max_by_key(|(_, frame)| frame.children)?;
    if longest_list.children == 0 {
        return None;
    }
    let mut closed_text = bytes[..longest_list.end].to_vec();
    closed_text.extend(open_values[..=list_index].iter().rev().map(|frame| frame.closing));
    Some(closed_text)
}

/// The objects and arrays that are open at the end of the text, the outermost first. None if all are closed, if
/// brackets do not match, or if the nesting is deeper than `MAX_DEPTH`.
fn open_at_end(bytes: &[u8]) -> Option<Vec<OpenValue>> {
    let mut open_values: Vec<OpenValue> = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' if open_values.len() >= MAX_DEPTH => return None,
            b'{' => open_values.push(OpenValue { closing: b'}', children: 0, end: 0 }),
            b'[' => open_values.push(OpenValue { closing: b']', children: 0, end: 0 }),
            b'}' | b']' => {
                open_values.pop().filter(|frame| frame.closing == *byte)?;
                let parent = open_values.last_mut()?;
                parent.children += 1;
                parent.end = at + 1;
            }
            _ => {}
        }
    }
    (!open_values.is_empty()).then_some(open_values)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::close_truncated;

    fn closed_text(text: &str) -> Option<String> {
        close_truncated(text.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn every_cut_of_a_conversation_is_json_or_nothing() {
        let whole = r#"{"id":"a \" } b","m":{"1":{"p":[{"t":"x"}]},"2":{"p":[{"t":"y\\"}]},"3":{"p":[]}},"end":true}"#;
        let mut most_entries = 0;
        for length in 0..whole.len() {
            if let Some(text) = closed_text(&whole[..length]) {
                let value: serde_json::Value = serde_json::from_str(&text).unwrap();
                let entries = value["m"].as_object().map_or(0, serde_json::Map::len);
                assert!(entries >= most_entries, "{length} bytes hold {entries} entries, fewer than a shorter text");
                most_entries = entries;
            }
        }
        assert_eq!(most_entries, 3);
        assert_eq!(closed_text(whole), None, "a complete value is not cut");
    }

    #[test]
    fn brackets_that_do_not_match_are_not_closed() {
        assert_eq!(closed_text(r#"{"a":[{"b":1}},{"c""#), None);
        assert_eq!(closed_text(&"[".repeat(100_000)), None);
    }
}
