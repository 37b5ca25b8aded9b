//! Decides whether a value is only a placeholder for a secret: a sample, a variable, a type or a mask.
use crate::word_lists::placeholder;

/// Parts of sample values that are common in documentation. Only parts are listed, so that this repository contains no
/// complete key.
const SAMPLE_PARTS: &[&str] = &[
    "4eC39HqLyj",
    "BQokikJOvBi",
    "26PHem9AhJ",
    "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9l",
    "Eby8vdM02xNOcqF",
    "16C7e42F292c6912",
    "aGmWKa4JsXZ-HjGw7",
    "-zyx57W2v1u123ew11",
    "AAHdqTcvCH1vGWJx",
    "AAFD39kkdpWt3yw",
    "eW5rVHlKS2ZG",
    "tGzv3JOkF0XG5Qx2TlKWIA",
    "mF_9.B5f-4.1JqM",
    "QWxhZGRpbjpvcGVuIHNlc2FtZQ",
    "dXNlcm5hbWU6cGFzc3dvcmQ",
    "dXNlcjpwYXNz",
];

/// Whether `value` is a placeholder rather than a secret.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_lowercase();
    // A list entry that ends with `_` or `-`, such as "tu_", only matches at the beginning of a word.
    let starts_word = |position: usize| !lower[..position].ends_with(|c: char| c.is_alphanumeric());
    let contains_word = |word: &str| match word.ends_with(['_', '-']) {
        true => lower.match_indices(word).any(|(position, _)| starts_word(position)),
        false => lower.contains(word),
    };
    if placeholder::WHOLE_VALUES.contains(&lower.as_str())
        || placeholder::FRAGMENTS.iter().any(|word| contains_word(word))
        || is_sample(value)
    {
        return true;
    }
    is_variable(value) || is_mask(value)
}

/// Whether the value is a sample from documentation, or contains an ascending series of digits or letters.
pub(crate) fn is_sample(value: &str) -> bool {
    SAMPLE_PARTS.iter().any(|sample| value.contains(sample)) || is_counting_up(value, 8)
}

/// Whether a token is a sample, contains a word such as "example", or repeats one character many times.
pub(crate) fn is_fake_token(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    is_sample(value)
        || placeholder::TOKEN_FRAGMENTS.iter().any(|word| lower.contains(word))
        || longest_repeat(value) >= 6
}

/// Whether the value is a variable: `$NAME`, `%NAME%`, `{name}`, `[name]`, `!Ref`, `&name`.
fn is_variable(value: &str) -> bool {
    let bytes = value.as_bytes();
    let is_name = |part: &[u8]| !part.is_empty() && part.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_');
    match bytes {
        // A password may also begin with a dollar sign. The name of a variable does not contain both digits and small
        // letters.
        [b'$', rest @ ..] => {
            is_name(rest) && !(rest.iter().any(u8::is_ascii_digit) && rest.iter().any(u8::is_ascii_lowercase))
        }
        [b'%', rest @ .., b'%'] | [b'{', rest @ .., b'}'] => is_name(rest),
        [b'{', rest @ ..] => rest.contains(&b'}'),
        // A reference to a type, as in `&str` and `&'static str`.
        [b'&', ..] => true,
        [b'[', .., b']'] => true,
        [b'!', rest @ ..] => {
            [&b"Ref"[..], b"Sub", b"vault", b"secret", b"GetAtt"].iter().any(|tag| rest.starts_with(tag))
        }
        _ => false,
    }
}

/// Whether the value has at most two different characters (`****`, `xxxx`, `------`), or only typical mask characters.
/// A number such as `112211` is not a mask, nor is a value of 64 bytes or more with only one or two characters.
fn is_mask(value: &str) -> bool {
    let mut distinct_chars: Vec<char> = Vec::new();
    for c in value.chars() {
        if !distinct_chars.contains(&c) {
            distinct_chars.push(c);
        }
        if distinct_chars.len() > 2 {
            return value.chars().all(|c| "*xX•●·.-_?# ".contains(c));
        }
    }
    value.len() < 64 && !(value.chars().all(|c| c.is_ascii_digit()) && distinct_chars.len() == 2 && value.len() >= 6)
}

/// Whether `value` contains `length` consecutive characters in ascending order, as in `12345678` and `abcdefgh`.
fn is_counting_up(value: &str, length: usize) -> bool {
    let mut run = 1;
    value.as_bytes().windows(2).any(|pair| {
        let is_next = pair[0].to_ascii_lowercase().wrapping_add(1) == pair[1].to_ascii_lowercase();
        run = if is_next && pair[1].is_ascii_alphanumeric() { run + 1 } else { 1 };
        run >= length
    })
}

fn longest_repeat(value: &str) -> usize {
    let (mut run, mut best) = (1, 1);
    for pair in value.as_bytes().windows(2) {
        run = if pair[0] == pair[1] { run + 1 } else { 1 };
        best = best.max(run);
    }
    best
}
