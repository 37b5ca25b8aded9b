//! Secrets in settings files, left out on the way out. Text in any of TOML, JSON, YAML or `KEY=value`: values of keys
//! that name a secret, and what shows itself to be one (private keys, tokens of known makers, passwords in addresses).
//! What a runtime has encrypted itself is no secret in the clear and stays.

/// Stands where a secret was.
pub const REDACTED: &str = "<redacted>";

/// Words of a key that mean a secret.
const WORDS: [&str; 13] = [
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

/// Starts of tokens, by their makers.
const STARTS: [&str; 18] = [
    "sk-",
    "sk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "AIza",
    "hf_",
    "gsk_",
    "eyJhbGciOi",
    "ya29.",
];

/// Addresses whose last part is the secret.
const HOOKS: [&str; 4] =
    ["hooks.slack.com/services/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "webhook.office.com/"];

/// The text without its secrets, and how many there were.
pub fn redact(text: &str) -> (String, u32) {
    let (text, a) = private_keys(text);
    let (text, keys) = values(&text);
    let (text, c) = shapes(&text);
    (text, a + c + u32::try_from(keys.len()).unwrap_or(u32::MAX))
}

/// Is `now` what is left of `before` when its secrets are taken out? Then it says nothing new.
pub fn lacks_only_secrets(before: &[u8], now: &[u8]) -> bool {
    let clean = std::str::from_utf8(before).ok().map(redact).filter(|(_, n)| *n > 0);
    clean.is_some_and(|(clean, _)| clean.as_bytes() == now)
}

/// Names of the keys that hold secrets in the clear, in the order of the text.
pub fn keys(text: &str) -> Vec<String> {
    values(text).1
}

/// Does a text hold a secret in the clear?
pub fn has_secrets(text: &str) -> bool {
    redact(text).1 > 0
}

fn private_keys(text: &str) -> (String, u32) {
    let (mut out, mut rest, mut n) = (String::with_capacity(text.len()), text, 0);
    while let Some(start) = rest.find("-----BEGIN ") {
        let block = &rest[start..];
        let head = block[11..].find("-----").map(|at| &block[11..11 + at]);
        let end = block.find("-----END ").and_then(|at| block[at + 9..].find("-----").map(|e| at + 9 + e + 5));
        if !head.is_some_and(|h| h.contains("PRIVATE KEY")) {
            out.push_str(&rest[..start + 11]);
            rest = &rest[start + 11..];
            continue;
        }
        out.push_str(&rest[..start]);
        out.push_str(REDACTED);
        n += 1;
        // a block without an end: nothing behind its start is shown
        rest = end.map_or("", |end| &block[end..]);
    }
    out.push_str(rest);
    (out, n)
}

/// `key = value` and `key: value` in all forms, also inside inline tables and objects.
fn values(text: &str) -> (String, Vec<String>) {
    let bytes = text.as_bytes();
    let (mut out, mut copied, mut at, mut found) = (String::with_capacity(text.len()), 0, 0, Vec::new());
    // inside a TOML table or a YAML block whose own name means a secret, every value is one
    let mut section = false;
    while at < bytes.len() {
        let line_start = at == 0 || bytes[at - 1] == b'\n';
        if line_start && bytes[at] == b'[' {
            let end = text[at..].find('\n').map_or(bytes.len(), |e| at + e);
            section = is_secret(&text[at..end]);
            at = end;
            continue;
        }
        if bytes[at] == b'=' || bytes[at] == b':' {
            let key = key_before(&text[..at]);
            if !key.is_empty()
                && (section || is_secret(key))
                && let Some((start, end)) = value_after(text, at + 1)
            {
                if !harmless(&text[start..end]) {
                    out.push_str(&text[copied..start]);
                    out.push_str(REDACTED);
                    copied = end;
                    found.push(key.to_owned());
                }
                at = end;
                continue;
            }
        }
        at += 1;
    }
    out.push_str(&text[copied..]);
    (out, found)
}

fn key_before(text: &str) -> &str {
    let text = text.trim_end_matches([' ', '\t']);
    let text = text.strip_suffix(['"', '\'']).unwrap_or(text);
    let start = text
        .rfind(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)))
        .map_or(0, |i| i + text[i..].chars().next().map_or(1, char::len_utf8));
    &text[start..]
}

/// Where the value of a key lies, without its quotes. None = a number, a list, a table.
fn value_after(text: &str, from: usize) -> Option<(usize, usize)> {
    let rest = &text[from..];
    let start = from + rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let value = &text[start..];
    for quote in ["\"\"\"", "'''"] {
        if let Some(inner) = value.strip_prefix(quote) {
            return Some((start + 3, start + 3 + inner.find(quote).unwrap_or(inner.len())));
        }
    }
    let first = value.chars().next()?;
    if first == '"' || first == '\'' {
        let mut escaped = false;
        let end = value[1..].char_indices().find(|(_, c)| {
            let is_end = *c == first && !escaped;
            escaped = first == '"' && *c == '\\' && !escaped;
            is_end
        });
        return Some((start + 1, start + 1 + end.map_or(value.len() - 1, |(i, _)| i)));
    }
    if matches!(first, '[' | '{' | '\n' | '\r' | '#' | '|' | '>' | '=') {
        return list_value(text, start, first);
    }
    let end = value.find(['\n', '\r', ',', '}', ']']).unwrap_or(value.len());
    let value = value[..end].split(" #").next().unwrap_or_default().trim_end();
    Some((start, start + value.len()))
}

/// A list of secrets (`tokens = ["a", "b"]`) or a YAML block text goes as one piece.
fn list_value(text: &str, start: usize, first: char) -> Option<(usize, usize)> {
    match first {
        '[' => {
            let end = text[start..].find(']')?;
            let inner = &text[start + 1..start + end];
            inner.contains(['"', '\'']).then(|| {
                let lead = inner.len() - inner.trim_start().len();
                // the quotes of the first and the last entry stay, so that the file can still be read
                let trimmed = inner.trim();
                let from = start + 1 + lead + 1;
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
            let inner = text[from..end].trim_end();
            let lead = inner.len() - inner.trim_start().len();
            (!inner.trim().is_empty()).then_some((from + lead, from + inner.len()))
        }
        _ => None,
    }
}

/// Empty, a switch, a number, a reference, or encrypted by the runtime itself.
fn harmless(value: &str) -> bool {
    let value = value.trim();
    value.is_empty()
        || value == REDACTED
        || value.parse::<f64>().is_ok()
        || matches!(value, "true" | "false" | "null" | "none" | "~")
        || value.starts_with("enc:")
        || value.starts_with("enc2:")
        || (value.starts_with("${") && value.ends_with('}'))
}

fn is_secret(key: &str) -> bool {
    let mut words: Vec<String> = vec![String::new()];
    let mut lower = false;
    for c in key.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && lower) {
            words.push(String::new());
        }
        lower = c.is_lowercase();
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|w| !w.is_empty());
    let single = |w: &str| WORDS.contains(&w) || w.strip_suffix('s').is_some_and(|w| WORDS.contains(&w));
    let pairs = words.windows(2).any(|w| {
        matches!(
            (w[0].as_str(), w[1].trim_end_matches('s')),
            ("api" | "private" | "access" | "signing" | "encryption" | "auth", "key")
        )
    });
    // `max_tokens`, `token_limit` count tokens; they keep no secret
    let counted = words.iter().any(|w| matches!(w.as_str(), "max" | "limit" | "count" | "budget" | "usage"));
    !counted && (pairs || words.iter().any(|w| single(w)))
}

/// What shows itself to be a secret, whatever its key is called.
fn shapes(text: &str) -> (String, u32) {
    let (mut out, mut n) = (String::with_capacity(text.len()), 0);
    let is_word = |c: char| c.is_alphanumeric() || "-_.:/@%+=~?&".contains(c);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        if end == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let word = &rest[..end];
        match secret_part(word) {
            Some((start, stop)) => {
                out.push_str(&word[..start]);
                out.push_str(REDACTED);
                out.push_str(&word[stop..]);
                n += 1;
            }
            None => out.push_str(word),
        }
        rest = &rest[end..];
    }
    (out, n)
}

fn secret_part(word: &str) -> Option<(usize, usize)> {
    for hook in HOOKS {
        if let Some(at) = word.find(hook) {
            let start = at + hook.len();
            return (start < word.len()).then_some((start, word.len()));
        }
    }
    if let Some(at) = word.find("://") {
        // user:password@host
        let authority = word[at + 3..].split('/').next().unwrap_or_default();
        if let Some((who, _)) = authority.rsplit_once('@')
            && let Some(colon) = who.find(':').filter(|c| c + 1 < who.len())
        {
            return Some((at + 3 + colon + 1, at + 3 + who.len()));
        }
    }
    let value_at = word.rfind(['=', ':']).map_or(0, |i| i + 1);
    [0, value_at].into_iter().find_map(|from| {
        let value = &word[from..];
        let known = STARTS.iter().any(|s| value.starts_with(s)) && value.len() >= 20;
        known.then_some((from, word.len()))
    })
}
