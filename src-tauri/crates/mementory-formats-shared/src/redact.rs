//! Removes secrets from settings files and similar texts. The files may be TOML, JSON, YAML or lines of `KEY=value`.
//! They are searched as text and not parsed. A value is replaced if the name of its key indicates a secret, or if it
//! looks like a secret itself (private keys, tokens of known services, passwords in URLs). Values that the agent has
//! already encrypted stay unchanged.
use mementory_scan::{PrefixEvidence, token_prefix};

/// Text that replaces a secret.
pub const REDACTED: &str = "<redacted>";

/// Words in the name of a key that indicate a secret.
const SECRET_WORDS: [&str; 13] = [
    "apikey",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "privatekey",
    "accesskey",
    "credential",
    "credentials",
    "webhook",
    "cookie",
    "bearer",
];

/// Prefix of JSON Web Tokens whose header begins with the algorithm. The scanner recognises such a token by its three
/// parts, but here a part of one is also replaced.
const JSON_WEB_TOKEN_PREFIX: &str = "eyJhbGciOi";
/// Shortest token of a known service in bytes.
const MIN_TOKEN_BYTES: usize = 20;

/// Prefixes of URLs whose last part is a secret.
const WEBHOOK_PREFIXES: [&str; 4] =
    ["hooks.slack.com/services/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "webhook.office.com/"];

/// Replaces the secrets in a text. Returns the new text and the number of secrets.
pub fn redact(text: &str) -> (String, u32) {
    let (text, private_keys) = redact_private_keys(text);
    let (text, keys) = redact_values(&text);
    let (text, tokens) = redact_tokens(&text);
    (text, private_keys + tokens + u32::try_from(keys.len()).unwrap_or(u32::MAX))
}

/// Like [`redact`], but for source code: replaces only private keys and tokens of known services, because the value
/// after a key is usually an expression.
pub fn redact_in_program(text: &str) -> (String, u32) {
    let (text, private_keys) = redact_private_keys(text);
    let (text, tokens) = redact_tokens(&text);
    (text, private_keys + tokens)
}

/// True if `now` equals `before` except for removed secrets, and at least one secret was removed.
pub fn differs_only_by_secrets(before: &[u8], now: &[u8]) -> bool {
    let redacted = std::str::from_utf8(before).ok().map(redact).filter(|(_, n)| *n > 0);
    redacted.is_some_and(|(redacted, _)| redacted.as_bytes() == now)
}

/// Names of the keys with unencrypted secrets, in the order of the text.
pub fn secret_keys(text: &str) -> Vec<String> {
    redact_values(text).1
}

/// True if a text contains an unencrypted secret.
pub fn has_secrets(text: &str) -> bool {
    redact(text).1 > 0
}

fn redact_private_keys(text: &str) -> (String, u32) {
    let (mut out, mut remainder, mut n) = (String::with_capacity(text.len()), text, 0);
    while let Some(start) = remainder.find("-----BEGIN ") {
        let block = &remainder[start..];
        let head = block[11..].find("-----").map(|at| &block[11..11 + at]);
        let end = block.find("-----END ").and_then(|at| block[at + 9..].find("-----").map(|e| at + 9 + e + 5));
        if !head.is_some_and(|h| h.contains("PRIVATE KEY")) {
            out.push_str(&remainder[..start + 11]);
            remainder = &remainder[start + 11..];
            continue;
        }
        out.push_str(&remainder[..start]);
        out.push_str(REDACTED);
        n += 1;
        // Without an end marker, all text after the start is treated as the key.
        remainder = end.map_or("", |end| &block[end..]);
    }
    out.push_str(remainder);
    (out, n)
}

/// Replaces the secrets in `key = value` and `key: value`, even inside inline tables and objects. Also returns the keys
/// of these secrets.
fn redact_values(text: &str) -> (String, Vec<String>) {
    let bytes = text.as_bytes();
    let (mut out, mut copied_until, mut at, mut keys) = (String::with_capacity(text.len()), 0, 0, Vec::new());
    // In a TOML table whose name indicates a secret, every value is treated as a secret.
    let mut is_secret_section = false;
    while at < bytes.len() {
        let line_start = at == 0 || bytes[at - 1] == b'\n';
        if line_start && bytes[at] == b'[' {
            let end = text[at..].find('\n').map_or(bytes.len(), |e| at + e);
            is_secret_section = is_secret_name(&text[at..end]);
            at = end;
            continue;
        }
        if bytes[at] == b'=' || bytes[at] == b':' {
            let key = key_before(&text[..at]);
            if !key.is_empty()
                && (is_secret_section || is_secret_name(key))
                && let Some((start, end)) = value_after(text, at + 1)
            {
                if !is_not_secret(&text[start..end]) {
                    out.push_str(&text[copied_until..start]);
                    out.push_str(REDACTED);
                    copied_until = end;
                    keys.push(key.to_owned());
                }
                at = end;
                continue;
            }
        }
        at += 1;
    }
    out.push_str(&text[copied_until..]);
    (out, keys)
}

fn key_before(text: &str) -> &str {
    let text = text.trim_end_matches([' ', '\t']);
    let text = text.strip_suffix(['"', '\'']).unwrap_or(text);
    let start = text
        .rfind(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)))
        .map_or(0, |i| i + text[i..].chars().next().map_or(1, char::len_utf8));
    &text[start..]
}

/// Start and end of the value of a key, without quotes. None for a list or table without text.
fn value_after(text: &str, from: usize) -> Option<(usize, usize)> {
    let remainder = &text[from..];
    let start = from + remainder.len() - remainder.trim_start_matches([' ', '\t']).len();
    let value = &text[start..];
    for quote in ["\"\"\"", "'''"] {
        if let Some(inner) = value.strip_prefix(quote) {
            return Some((start + 3, start + 3 + inner.find(quote).unwrap_or(inner.len())));
        }
    }
    let first_char = value.chars().next()?;
    if first_char == '"' || first_char == '\'' {
        let mut is_escaped = false;
        let end = value[1..].char_indices().find(|(_, c)| {
            let is_end = *c == first_char && !is_escaped;
            is_escaped = first_char == '"' && *c == '\\' && !is_escaped;
            is_end
        });
        return Some((start + 1, start + 1 + end.map_or(value.len() - 1, |(i, _)| i)));
    }
    if matches!(first_char, '[' | '{' | '\n' | '\r' | '#' | '|' | '>' | '=') {
        return list_value(text, start, first_char);
    }
    let end = value.find(['\n', '\r', ',', '}', ']']).unwrap_or(value.len());
    let value = value[..end].split(" #").next().unwrap_or_default().trim_end();
    Some((start, start + value.len()))
}

/// Start and end of the content of a list of strings (`tokens = ["a", "b"]`) or of a YAML block scalar, which is
/// replaced as a whole. None for a list without strings and for any other value.
fn list_value(text: &str, start: usize, first: char) -> Option<(usize, usize)> {
    match first {
        '[' => {
            let end = text[start..].find(']')?;
            let list_content = &text[start + 1..start + end];
            list_content.contains(['"', '\'']).then(|| {
                let leading_space = list_content.len() - list_content.trim_start().len();
                // Keeps the outermost quotes, so that the file stays valid.
                let trimmed = list_content.trim();
                let from = start + 1 + leading_space + 1;
                (from, from + trimmed.len().saturating_sub(2))
            })
        }
        '|' | '>' => {
            let from = start + text[start..].find('\n')? + 1;
            let mut end = from;
            for line in text[from..].split_inclusive('\n') {
                if !line.starts_with([' ', '\t']) && !line.trim().is_empty() {
                    break;
                }
                end += line.len();
            }
            let block_text = text[from..end].trim_end();
            let leading_space = block_text.len() - block_text.trim_start().len();
            (!block_text.trim().is_empty()).then_some((from + leading_space, from + block_text.len()))
        }
        _ => None,
    }
}

/// True for a value that is not a secret: an empty value, a boolean, a number, a reference such as `${NAME}`, a value
/// that was already replaced, or a value that the agent has encrypted.
fn is_not_secret(value: &str) -> bool {
    let value = value.trim();
    value.is_empty()
        || value == REDACTED
        || value.parse::<f64>().is_ok()
        || matches!(value, "true" | "false" | "null" | "none" | "~")
        || value.starts_with("enc:")
        || value.starts_with("enc2:")
        || (value.starts_with("${") && value.ends_with('}'))
}

fn is_secret_name(key: &str) -> bool {
    let mut words: Vec<String> = vec![String::new()];
    let mut after_small_letter = false;
    for c in key.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && after_small_letter) {
            words.push(String::new());
        }
        after_small_letter = c.is_lowercase();
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|w| !w.is_empty());
    let is_secret_word =
        |w: &str| SECRET_WORDS.contains(&w) || w.strip_suffix('s').is_some_and(|w| SECRET_WORDS.contains(&w));
    let has_key_pair = words.windows(2).any(|w| {
        matches!(
            (w[0].as_str(), w[1].trim_end_matches('s')),
            ("api" | "private" | "access" | "signing" | "encryption" | "auth", "key")
        )
    });
    // Names such as `max_tokens` and `token_limit` are those of token counts, not of secrets.
    let is_count = words.iter().any(|w| matches!(w.as_str(), "max" | "limit" | "count" | "budget" | "usage"));
    !is_count && (has_key_pair || words.iter().any(|w| is_secret_word(w)))
}

/// Replaces words that look like a secret, regardless of their key.
fn redact_tokens(text: &str) -> (String, u32) {
    let (mut out, mut n) = (String::with_capacity(text.len()), 0);
    let is_word = |c: char| c.is_alphanumeric() || "-_.:/@%+=~?&".contains(c);
    let mut remainder = text;
    while let Some(c) = remainder.chars().next() {
        let end = remainder.find(|c: char| !is_word(c)).unwrap_or(remainder.len());
        if end == 0 {
            out.push(c);
            remainder = &remainder[c.len_utf8()..];
            continue;
        }
        let word = &remainder[..end];
        match secret_range(word) {
            Some((start, stop)) => {
                out.push_str(&word[..start]);
                out.push_str(REDACTED);
                out.push_str(&word[stop..]);
                n += 1;
            }
            None => out.push_str(word),
        }
        remainder = &remainder[end..];
    }
    (out, n)
}

/// Start and end of the secret in a word: the end of a webhook URL, a password in a URL, or a known token.
fn secret_range(word: &str) -> Option<(usize, usize)> {
    for prefix in WEBHOOK_PREFIXES {
        if let Some(at) = word.find(prefix) {
            let start = at + prefix.len();
            return (start < word.len()).then_some((start, word.len()));
        }
    }
    if let Some(at) = word.find("://") {
        // The part of the URL that can contain `user:password@host`.
        let authority = word[at + 3..].split('/').next().unwrap_or_default();
        if let Some((credentials, _)) = authority.rsplit_once('@')
            && let Some(colon) = credentials.find(':').filter(|c| c + 1 < credentials.len())
        {
            return Some((at + 3 + colon + 1, at + 3 + credentials.len()));
        }
    }
    let value_at = word.rfind(['=', ':']).map_or(0, |i| i + 1);
    [0, value_at].into_iter().find_map(|from| {
        let value = &word[from..];
        (value.len() >= MIN_TOKEN_BYTES && begins_like_token(value)).then_some((from, word.len()))
    })
}

fn begins_like_token(value: &str) -> bool {
    value.starts_with(JSON_WEB_TOKEN_PREFIX) || token_prefix(value, PrefixEvidence::Alone).is_some()
}
