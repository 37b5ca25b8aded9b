//! Reads the value that is assigned to a name: `name = value`, `"name": "value"`, `<name>value</name>`, `--name value`.

/// Length of the longest value that is read, in bytes.
const MAX_VALUE_BYTES: usize = 512;

/// Largest length of a name, in bytes. A longer one is data that happens to contain a word for a secret.
pub(crate) const MAX_NAME_BYTES: usize = 80;

/// The sign between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// An equals sign or a similar sign (`:=`, `->`, the `>` of a tag) without spaces around it, as in shells and URLs.
    TightEquals,
    /// The same signs with a space beside them, or after a quoted name or a type.
    Equals,
    /// A colon, or the border of a table cell.
    Colon,
    /// A space without any sign, as in `--password x` and `WITH PASSWORD 'x'`.
    Space,
}

/// A value found after a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value {
    pub start: usize,
    pub end: usize,
    pub is_quoted: bool,
    pub join: Join,
    /// True if nothing but punctuation follows the value on its line. A comment may also follow, unless the value is
    /// quoted.
    pub ends_line: bool,
}

/// Start and end of the complete name around the word at `start..end`. A name consists of letters, digits, `_` and `-`,
/// and may also have dots before the word.
pub(crate) fn name_around(text: &str, start: usize, end: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let is_name_byte = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let length_before = bytes[..start].iter().rev().take(64).take_while(|b| is_name_byte(b) || **b == b'.').count();
    let length_after = bytes[end..].iter().take(64).take_while(|b| is_name_byte(b)).count();
    (start - length_before, end + length_after)
}

/// The end of the word that ends at `end`, including the inflectional ending that may follow, as in `пароля`,
/// `şifresi`, `parolası` and `ключа`. Scripts without spaces have no such endings.
pub(crate) fn end_of_inflection(text: &str, end: usize) -> usize {
    let is_inflected_letter = |c: char| c.is_alphabetic() && (c as u32) < 0x2E80;
    if !text[..end].chars().next_back().is_some_and(is_inflected_letter) {
        return end;
    }
    end + text[end..].chars().take(6).take_while(|c| is_inflected_letter(*c)).map(char::len_utf8).sum::<usize>()
}

/// The value that is assigned to the name at `name_start..end`.
pub(crate) fn value_after_name(text: &str, name_start: usize, end: usize) -> Option<Value> {
    let bytes = text.as_bytes();
    let mut position = end;
    // Skips quotes, brackets and emphasis that close the name.
    while matches!(bytes.get(position), Some(b'"' | b'\'' | b'`' | b']' | b')' | b'*' | b'\\')) && position < end + 6 {
        position += 1;
    }
    let has_closing_sign = position > end;
    let is_tag = bytes.get(position) == Some(&b'>') && name_start > 0 && bytes[name_start - 1] == b'<';
    let spaces = count_blanks(bytes, position);
    position += spaces;
    let rest = &bytes[position.min(bytes.len())..];
    let mut join = Join::Equals;
    let sign_len = match rest {
        _ if is_tag => 1,
        [b'=', b'=', b'=', ..] | [b'!', b'=', b'=', ..] => 3,
        [b':', b'=', ..] | [b'=', b'>', ..] | [b'-', b'>', ..] | [b'=', b'=', ..] | [b'!', b'=', ..] => 2,
        [b'?', b'=', ..] => 2,
        [b'=', ..] => 1,
        [b':', b':', ..] => return None,
        [b':' | b'|', ..] => {
            join = Join::Colon;
            1
        }
        [0xEF, 0xBC, 0x9A | 0x9D, ..] => {
            join = Join::Colon;
            3
        }
        [b',', ..] | [b'\n', ..] | [b'\r', ..] => return value_of_pair(text, position),
        _ if spaces > 0 => {
            join = Join::Space;
            0
        }
        _ => return None,
    };
    let is_comparison = sign_len > 1 && matches!(rest, [b'=' | b'!', b'=', ..]);
    position += sign_len;
    let gap = count_blanks(bytes, position);
    if join == Join::Equals && spaces == 0 && gap == 0 && !has_closing_sign {
        join = Join::TightEquals;
    }
    position += gap;
    // Skips a type, as in `password: str = "x"`.
    if join == Join::Colon
        && let Some(after) = position_after_type(bytes, position)
    {
        position = after;
        join = Join::Equals;
    }
    let value = read_value(text, position, join)?;
    (value.is_quoted || !is_comparison).then_some(value)
}

/// The value of a pair in which name and value have separate keys, as in `name: API_KEY` followed by `value: x`.
fn value_of_pair(text: &str, position: usize) -> Option<Value> {
    let bytes = text.as_bytes();
    let mut position = position;
    let end = (position + 48).min(bytes.len());
    while position < end
        && (bytes[position].is_ascii_whitespace() || matches!(bytes[position], b',' | b'"' | b'\'' | b'-'))
    {
        position += 1;
    }
    let word = bytes.get(position..position + 5)?;
    if !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    position += 5;
    while matches!(bytes.get(position), Some(b'"' | b'\'' | b' ')) && position < end + 8 {
        position += 1;
    }
    if !matches!(bytes.get(position), Some(b':' | b'=')) {
        return None;
    }
    position += 1 + count_blanks(bytes, position + 1);
    read_value(text, position, Join::Colon)
}

/// Reads the value at `position`. The value is quoted, or ends before a space or punctuation.
pub(crate) fn read_value(text: &str, position: usize, join: Join) -> Option<Value> {
    let bytes = text.as_bytes();
    let mut position = position;
    while bytes.get(position..position + 2) == Some(b"**") || bytes.get(position..position + 2) == Some(b"__") {
        position += 2;
        position += count_blanks(bytes, position);
    }
    // String prefixes, as in b"…", r"…", f"…" and @"…".
    if matches!(bytes.get(position), Some(b'b' | b'r' | b'f' | b'u' | b'@'))
        && matches!(bytes.get(position + 1), Some(b'"' | b'\''))
    {
        position += 1;
    }
    let window = text.get(position..text.floor_char_boundary((position + MAX_VALUE_BYTES).min(text.len())))?;
    if let Some((open, close)) = opening_quote(window) {
        let inner = &window[open..];
        let line = inner.find('\n').unwrap_or(inner.len());
        let length = length_to_closing(&inner[..line], close)?;
        let text_after = &inner[length..line];
        let ends_line = text_after.len() < 8 && !text_after.bytes().any(|b| b.is_ascii_alphanumeric());
        return Some(Value { start: position + open, end: position + open + length, is_quoted: true, join, ends_line });
    }
    let is_value_end =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '，' | '。' | '、' | '」' | '”');
    let mut length = window.find(is_value_end).unwrap_or(window.len());
    // A placeholder such as `<your key>` is read up to its closing bracket, so that it can be recognised.
    if window.starts_with('<') {
        length = window.find('>').map_or(0, |n| n + 1);
    }
    if length == window.len() && length + 4 > MAX_VALUE_BYTES {
        return None;
    }
    if matches!(join, Join::TightEquals | Join::Equals | Join::Colon)
        && let Some(cut) = window[..length].find(';').or_else(|| window[..length].find("\\n"))
    {
        length = cut;
    }
    if join == Join::TightEquals
        && let Some(cut) = window[..length].find('&')
        && window[cut + 1..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count() > 0
        && window[cut + 1..length].contains('=')
    {
        length = cut;
    }
    if let Some(cut) = window[..length].find(',')
        && (join == Join::TightEquals || cut + 1 == length)
        && (cut + 1 == length || window[cut + 1..length].contains([':', '=']))
    {
        length = cut;
    }
    let value = trim_punctuation(&window[..length]);
    let rest = &window[value.len()..];
    let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
    let is_comment = line.trim_start().starts_with(['#', ';']) || line.trim_start().starts_with("//");
    let ends_line = is_comment || !line.bytes().any(|b| b.is_ascii_alphanumeric() || b == b'(');
    (!value.is_empty()).then_some(Value {
        start: position,
        end: position + value.len(),
        is_quoted: false,
        join,
        ends_line,
    })
}

/// The length of the opening quote at the start of a text, and the closing quote for it.
fn opening_quote(text: &str) -> Option<(usize, &'static str)> {
    const QUOTES: &[(&str, &str)] = &[
        ("\\\"", "\\\""),
        ("\"\"\"", "\"\"\""),
        ("\"", "\""),
        ("'", "'"),
        ("`", "`"),
        ("“", "”"),
        ("„", "“"),
        ("«", "»"),
        ("‘", "’"),
        ("「", "」"),
        ("『", "』"),
        ("&quot;", "&quot;"),
        ("”", "”"),
    ];
    let (open, close) = QUOTES.iter().find(|(open, _)| text.starts_with(open))?;
    let pad = if *open == "«" { text[open.len()..].bytes().take_while(|b| *b == b' ').count() } else { 0 };
    Some((open.len() + pad, close))
}

/// The length of the text before the closing quote. An escaped quote is not a closing quote.
fn length_to_closing(quoted_text: &str, close: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let position = from + quoted_text.get(from..)?.find(close)?;
        let is_escaped =
            close.len() == 1 && quoted_text[..position].bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1;
        if !is_escaped {
            return Some(if close == "»" || close == "“" {
                quoted_text[..position].trim_end().len()
            } else {
                position
            });
        }
        from = position + 1;
    }
}

/// Removes trailing punctuation that belongs to the sentence: closing brackets that were not opened in the value, full
/// stops and similar signs, and emphasis markup.
fn trim_punctuation(value: &str) -> &str {
    let mut value = value;
    while let Some(last) = value.chars().next_back() {
        let is_opened = |open: char, close: char| value.matches(open).count() >= value.matches(close).count();
        let cut = match last {
            ')' => !is_opened('(', ')'),
            ']' => !is_opened('[', ']'),
            '}' => !is_opened('{', '}'),
            '.' | ',' | ';' | ':' | '…' | '|' | '\\' => true,
            '*' | '_' => value.len() > 2 && value.ends_with("**") && value.chars().any(|c| c != '*'),
            _ => false,
        };
        if !cut {
            break;
        }
        value = &value[..value.len() - last.len_utf8()];
    }
    value
}

/// The position after a type and an equals sign at `position`, as in `string = `.
fn position_after_type(bytes: &[u8], position: usize) -> Option<usize> {
    let word = bytes[position..]
        .iter()
        .take(40)
        .take_while(|b| {
            b.is_ascii_alphanumeric()
                || matches!(b, b'&' | b'_' | b'<' | b'>' | b'[' | b']' | b'|' | b'?' | b'.' | b'\'')
        })
        .count();
    let mut next = position + word;
    next += count_blanks(bytes, next);
    if word == 0 || bytes.get(next) != Some(&b'=') || bytes.get(next + 1) == Some(&b'=') || next == position + word {
        return None;
    }
    Some(next + 1 + count_blanks(bytes, next + 1))
}

/// Number of spaces and tabs at `position`, at most 64.
pub(crate) fn count_blanks(bytes: &[u8], position: usize) -> usize {
    bytes.get(position..).map_or(0, |rest| rest.iter().take(64).take_while(|b| matches!(b, b' ' | b'\t')).count())
}
