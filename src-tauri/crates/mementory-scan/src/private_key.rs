//! Finds private keys: PEM and PGP blocks, PuTTY files, age keys, extended keys of crypto wallets, and Nostr keys.
use memchr::memmem;

use crate::{Class, Confidence, Finding};

/// Largest length of a block in bytes. An RSA key of 16,384 bits takes 13 kB in PEM, and even a PGP key with subkeys is
/// smaller than this limit.
const MAX_BLOCK_BYTES: usize = 64 * 1024;
/// Shortest run of base64 in a key. A block without such a run is a sample.
const MIN_BASE64_RUN_BYTES: usize = 24;

/// The private key that starts at `start`.
pub(crate) fn private_key_at(text: &str, start: usize) -> Option<Finding> {
    let rest = &text[start..text.floor_char_boundary((start + MAX_BLOCK_BYTES).min(text.len()))];
    let (length, detector) = if rest.starts_with('-') {
        (block_length(rest)?, "pem")
    } else if rest.starts_with("PuTTY") {
        (putty_length(rest)?, "putty")
    } else if rest.starts_with("AGE") {
        (one_word_key_length(rest, 16, |b| b.is_ascii_uppercase() || b.is_ascii_digit(), 58)?, "age")
    } else if rest.starts_with("xprv") {
        (one_word_key_length(rest, 4, |b| b.is_ascii_alphanumeric(), 107)?, "bip32")
    } else {
        (one_word_key_length(rest, 5, |b| b.is_ascii_lowercase() || b.is_ascii_digit(), 58)?, "nostr")
    };
    let is_separate_word = rest.starts_with('-') || start == 0 || !text.as_bytes()[start - 1].is_ascii_alphanumeric();
    is_separate_word.then_some(Finding {
        class: Class::PrivateKey,
        detector,
        start,
        end: start + length,
        confidence: Confidence::VeryLikely,
    })
}

/// The length of a one-word key: `prefix` bytes, and then a run of `length` bytes of the key's alphabet, which may be
/// one byte longer or shorter.
fn one_word_key_length(rest: &str, prefix: usize, is_key_byte: fn(u8) -> bool, length: usize) -> Option<usize> {
    let run = rest.bytes().skip(prefix).take(length + 1).take_while(|b| is_key_byte(*b)).count();
    let body = rest.get(prefix..prefix + run)?;
    (run.abs_diff(length) <= 1 && !crate::placeholder::is_fake_token(body)).then_some(prefix + run)
}

/// The length of a block from `-----BEGIN` to the end of its END line. Without an END line, the block ends with the
/// last line of its body.
fn block_length(rest: &str) -> Option<usize> {
    let title = rest.get(5..rest.len().min(80)).or_else(|| rest.get(5..rest.floor_char_boundary(80)))?;
    let title = title.find("----").map(|position| &title[..position]).unwrap_or("");
    let title = title.trim_start_matches('-').trim();
    if !(title.starts_with("BEGIN") && title.contains("PRIVATE KEY")) {
        return None;
    }
    let head = rest.find("PRIVATE KEY")? + "PRIVATE KEY".len();
    let head = head + rest[head..].find("----")?;
    let head = head + rest[head..].bytes().take_while(|b| *b == b'-').count();
    let body = &rest[head..];
    let next = memmem::find(body.as_bytes(), b"-----BEGIN").unwrap_or(body.len());
    let end_line_at =
        ["-----END", "---- END"].iter().filter_map(|end| memmem::find(&body.as_bytes()[..next], end.as_bytes())).min();
    let (inner, length) = match end_line_at {
        Some(position) => (position, position + end_line_length(&body[position..])),
        None => {
            let length = unterminated_body_length(&body[..next]);
            (length, length)
        }
    };
    let longest = body.as_bytes()[..inner].split(|b| !is_base64(*b)).map(<[u8]>::len).max().unwrap_or(0);
    (longest >= MIN_BASE64_RUN_BYTES && !is_masked(&body[..inner])).then_some(head + length)
}

/// Whether the body has only a few different characters (`xxxx`), as in a sample.
fn is_masked(body: &str) -> bool {
    let mut seen_bytes = [false; 256];
    body.bytes().filter(|b| b.is_ascii_alphanumeric()).for_each(|b| seen_bytes[b as usize] = true);
    seen_bytes.iter().filter(|occurs| **occurs).count() < 10
}

fn end_line_length(end: &str) -> usize {
    let title = end.find("KEY").map_or(8, |position| position + 3);
    let dashes = end[title..].find("----").filter(|position| *position < 16).map_or(title, |position| title + position);
    dashes + end[dashes..].bytes().take_while(|b| *b == b'-').count()
}

/// Length of the body of a block without an END line: headers and lines of base64. Line breaks may be written as
/// escapes.
fn unterminated_body_length(body: &str) -> usize {
    let mut position = 0;
    let mut good_end = 0;
    let mut has_seen_body = false;
    while position < body.len() {
        let rest = &body.as_bytes()[position..];
        let line = rest.iter().take_while(|b| !matches!(b, b'\n' | b'\\' | b'"')).count();
        let words = rest[..line].trim_ascii();
        let is_header = words.windows(2).any(|pair| pair == b": ") && words.len() < 80;
        // An empty line may separate headers from the body. An empty line after the body ends the key.
        if words.is_empty() && has_seen_body {
            break;
        }
        has_seen_body |= words.len() >= MIN_BASE64_RUN_BYTES && !is_header;
        if !words.is_empty() && !is_header && !words.iter().all(|b| is_base64(*b)) {
            // If other text follows base64 on the same line, only the base64 is part of the key.
            let run = rest.iter().take_while(|b| is_base64(**b)).count();
            good_end = if run >= MIN_BASE64_RUN_BYTES { position + run } else { good_end };
            break;
        }
        if !words.is_empty() {
            good_end = position + line - (rest[..line].len() - rest[..line].trim_ascii_end().len());
        }
        position += line;
        match body.as_bytes().get(position) {
            Some(b'\n') => position += 1,
            Some(b'\\') if matches!(body.as_bytes().get(position + 1), Some(b'n' | b'r')) => position += 2,
            Some(b'\\') if body[position..].starts_with("\\\\n") => position += 3,
            _ => break,
        }
    }
    body[..good_end].trim_end().len()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// The length of a PuTTY key file.
fn putty_length(rest: &str) -> Option<usize> {
    let lines = memmem::find(rest.as_bytes(), b"Private-Lines:")?;
    let mac = memmem::find(&rest.as_bytes()[lines..], b"Private-MAC:").map(|position| lines + position);
    let from = mac.unwrap_or(lines);
    let line = rest[from..].find('\n').unwrap_or(rest.len() - from);
    Some(if mac.is_some() {
        from + rest[from..from + line].trim_end().len()
    } else {
        from + line + unterminated_body_length(&rest[from + line..])
    })
}
