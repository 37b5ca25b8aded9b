//! Keys and tokens without a known shape: a value that looks random, given to a name that says what it is.
use crate::entropy::{is_hex, is_random, is_uuid};
use crate::password_words::GLUED;
use crate::placeholder::{is_fake_token, is_placeholder};
use crate::secret_words::{DIGESTS, NOT, OF_API, QUALIFIERS, SURE, is_link};
use crate::value::{Join, LONGEST_NAME, after_name, blanks, inflected, name_around, read};
use crate::{Class, Confidence, Finding};

/// A secret given to the name around `start..end`, or standing in the same sentence after it.
pub(crate) fn at(text: &str, start: usize, end: usize) -> Option<Finding> {
    let (from, to) = name_around(text, start, end);
    // A line of base64 may hold a name by chance.
    if to - from > LONGEST_NAME || to - from > 24 && is_random(&text[from..to], false) {
        return None;
    }
    // An identifier made of a public key: `did:key:z6M…`.
    if text[..from].ends_with("did:") {
        return None;
    }
    let to = inflected(text, to);
    let plain: String = text[from..to].chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if NOT.iter().any(|word| plain.contains(word)) || plain.ends_with("id") && !plain.ends_with("secretid") {
        return None;
    }
    // "monkey", "hockey", "turkey": the word is not the end of a longer one.
    let before = text.as_bytes()[..start].last();
    let glued = before.is_some_and(u8::is_ascii_lowercase) && !text.as_bytes()[start].is_ascii_uppercase();
    if glued && !SURE.iter().any(|word| plain.contains(word)) {
        return None;
    }
    let phrase = words_before(text, from) + &plain;
    if NOT.iter().any(|word| phrase.contains(word)) {
        return None;
    }
    let (to, of_api) = after_api(text, to);
    let sure = of_api || SURE.iter().chain(QUALIFIERS).any(|word| phrase.contains(word));
    let name = |sure| {
        if phrase.contains("aws") && phrase.contains("secret") {
            "aws_secret_access_key"
        } else if sure {
            "named_secret"
        } else {
            "entropy"
        }
    };
    if let Some(value) = after_name(text, from, to)
        && (value.join != Join::Space || value.quoted)
        && let Some((start, end)) = accept(text, value.start, value.end, sure, true)
    {
        let confidence = if sure { Confidence::VeryLikely } else { Confidence::Likely };
        let (class, detector) = if is_private(&phrase, &text[start..end]) {
            (Class::PrivateKey, "raw_private_key")
        } else {
            (Class::AccessKey, name(sure))
        };
        return Some(Finding { class, detector, start, end, confidence });
    }
    let near = nearby(text, to, sure || phrase.contains("key"), sure);
    near.or_else(|| backwards(text, from).filter(|_| sure)).map(|(start, end)| {
        let private = is_private(&phrase, &text[start..end]);
        let (class, detector) =
            if private { (Class::PrivateKey, "raw_private_key") } else { (Class::AccessKey, name(false)) };
        Finding { class, detector, start, end, confidence: Confidence::Likely }
    })
}

/// A private key as bare digits: 64 hexadecimal ones, or 32 bytes in base64.
fn is_private(phrase: &str, value: &str) -> bool {
    let digits = value.strip_prefix("0x").unwrap_or(value);
    phrase.contains("privatekey") && (digits.len() == 64 && is_hex(digits) || value.len() == 44 && value.ends_with('='))
}

/// The two words before a name, joined: the "api" of "api key", the "public" of "public key".
fn words_before(text: &str, from: usize) -> String {
    let floor = text.ceil_char_boundary(from.saturating_sub(24));
    let line = &text[floor..from];
    let line = &line[line.rfind('\n').map_or(0, |n| n + 1)..];
    let mut words: Vec<&str> = line.split(' ').rev().filter(|word| !word.is_empty()).take(2).collect();
    words.reverse();
    words.concat().chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The part of `start..end` that is a secret, if it looks like one.
fn accept(text: &str, start: usize, end: usize, sure: bool, assigned: bool) -> Option<(usize, usize)> {
    let mut value = &text[start..end];
    let mut start = start;
    for scheme in ["Bearer ", "bearer ", "Token ", "token ", "Basic ", "ApiKey ", "Key "] {
        if let Some(rest) = value.strip_prefix(scheme) {
            start += scheme.len();
            value = rest;
        }
    }
    // A call, a path of code, a number of code.
    let code = value.contains("::") || value.contains('(') || value.starts_with("0x") && value.contains('_');
    if value.len() > 256
        || code
        || value.contains(char::is_whitespace)
        || is_placeholder(value)
        || is_fake_token(value)
        || !harmful(value)
    {
        return None;
    }
    if is_hex(value.strip_prefix("0x").unwrap_or(value)) {
        // Half of all keys are 32 or 64 hexadecimal digits, and so is every hash: the name must be sure and near.
        return (sure && assigned && value.len() >= 20 && is_random(value, true)).then_some((start, end));
    }
    let random = is_random(value, sure) || (sure && assigned && mixed(value));
    random.then_some((start, end))
}

/// Marks among letters and digits: `django-insecure-x#9…`, keys that are drawn from all of the keyboard.
fn mixed(value: &str) -> bool {
    let marks = value.bytes().filter(|b| b"!@#$%^&*()+~".contains(b)).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    value.len() >= 16 && marks >= 2 && digits >= 1 && !value.contains("://") && !value.contains("(") && value.is_ascii()
}

/// Not an id, a digest with its name, a public key, an address or a path.
fn harmful(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    const STARTS: &[&str] = &[
        "sha1",
        "sha256",
        "sha384",
        "sha512",
        "md5:",
        "md5-",
        "aaaab3",
        "aaaac3",
        "aaaae2",
        "pk_",
        "pk-",
        "pk.",
        "http",
        "data:",
        "ssh-",
        "urn:",
        "arn:",
        "$2a$",
        "$2b$",
        "$2y$",
        "$argon2",
        "$6$",
        "$5$",
        "./",
        "../",
        "~/",
        "file:",
        "ghp_example",
        "cus_",
        "price_",
        "prod_",
        "sub_",
        "evt_",
        "req_",
        "msg_",
        "chatcmpl-",
        "call_",
        "run_",
        "thread_",
        "asst_",
        "file-",
        "miibij",
        "xchacha",
        "ed25519",
        "aes-",
        "aes2",
        "rsa-",
        "hmac",
        "uuid:",
        "ca-pub",
        "ua-",
        "gtm-",
        "appl_",
        "publishable",
        "public",
        "pub",
        "0x0000",
    ];
    let path = value.matches('/').count() > 1 && value.split('/').all(|part| !is_random(part, true));
    let address = value.contains("://") || value.starts_with('/') && path;
    let named = STARTS.iter().any(|start| lower.starts_with(start));
    !(is_uuid(value) || named || address || path && value.contains('.'))
}

/// Past the words that say of what the key is, where they follow it: "clé d'API", "klucz API", "clave de la API".
fn after_api(text: &str, to: usize) -> (usize, bool) {
    let rest = &text[to..text.floor_char_boundary((to + 24).min(text.len()))];
    let lower = rest.to_lowercase();
    // A capital that is longer or shorter than its small letter would shift the places.
    let found = OF_API.iter().find(|words| lower.len() == rest.len() && lower.starts_with(**words));
    let end = found.map_or(to, |words| to + words.len());
    let whole = !text[end..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if found.is_some() && whole { (end, true) } else { (to, false) }
}

/// A random-looking word within the next few on the same line. `sure`: the name leaves no doubt; then plain
/// hexadecimal digits count as well, if nothing but words such as "is" stand between.
fn nearby(text: &str, from: usize, key: bool, sure: bool) -> Option<(usize, usize)> {
    let line = &text[from..text.floor_char_boundary((from + 400).min(text.len()))];
    let line = &line[..line.find('\n').unwrap_or(line.len())];
    let mut at = GLUED.iter().find(|mark| line.starts_with(**mark)).map_or(0, |mark| mark.len());
    let mut words = 0;
    // Right behind the name, or behind a word that links the two.
    let mut linked = true;
    // Of a digest, or of another sentence.
    let mut doubt = false;
    while words < 8 && at < line.len() {
        let rest = &line[at..];
        let skip =
            rest.find(|c: char| !c.is_whitespace() && !"\"'`:=>([{*,。：|“„«»「".contains(c)).unwrap_or(rest.len());
        linked |= rest[..skip].contains([':', '：', '=']);
        at += skip;
        let rest = &line[at..];
        let length =
            rest.find(|c: char| c.is_whitespace() || "\"'`<>)]},;*|。，“”»」".contains(c)).unwrap_or(rest.len());
        let word = rest[..length].trim_end_matches(['.', ':', '!', '?']);
        let (start, end) = (from + at, from + at + word.len());
        // Further on the line the name may be about something else: only what is plainly random counts.
        if at > 120 {
            return None;
        }
        // What goes on where the name ends is a part of the same word.
        let apart = at > 0 && word.len() >= 20;
        if apart && (key || !word.contains(['/', '='])) && accept(text, start, end, false, false).is_some() {
            return Some((start, end));
        }
        if apart
            && sure
            && linked
            && !doubt
            && matches!(word.len(), 32..=128)
            && accept(text, start, end, true, true).is_some()
        {
            return Some((start, end));
        }
        // What stands behind the end of a sentence is about something else.
        let stop = rest[..length].ends_with(['.', '!', '?']);
        if stop && words > 2 {
            return None;
        }
        let lower = word.to_lowercase();
        linked = is_link(&lower) || rest[..length].ends_with([':', '：']);
        doubt |= stop || lower == "id" || DIGESTS.iter().any(|name| lower.contains(name));
        at = line.ceil_char_boundary(at + length.max(1));
        words += 1;
    }
    None
}

/// "use X as the API key": the value stands before the name.
fn backwards(text: &str, from: usize) -> Option<(usize, usize)> {
    let floor = text.ceil_char_boundary(from.saturating_sub(200));
    let line = &text[floor..from];
    let line = &line[line.rfind('\n').map_or(0, |n| n + 1)..];
    let mut words = line.split_whitespace().rev().take(5);
    words.by_ref().find(|word| matches!(*word, "as" | "als" | "como" | "comme" | "come" | "som" | "jako"))?;
    let raw = words.next()?;
    if words.next().is_some_and(|word| DIGESTS.iter().any(|name| word.to_lowercase().contains(name))) {
        return None;
    }
    let value = raw.trim_matches(['"', '\'', '`', ',', '(', ')', '“', '”', '„', '«', '»']);
    let start = floor + text[floor..from].rfind(raw)? + raw.find(value)?;
    (value.len() >= 20).then(|| accept(text, start, start + value.len(), true, value.len() >= 32)).flatten()
}

/// A token after `Bearer ` or another scheme of a header that ends at `end`.
pub(crate) fn bearer(text: &str, end: usize) -> Option<Finding> {
    let at = end + blanks(text.as_bytes(), end);
    let value = read(text, at, Join::Space)?;
    let token = &text[value.start..value.end];
    let inside = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b);
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let real = token.len() >= 12 && token.bytes().all(inside) && (digits >= 2 || is_random(token, true));
    if !real || is_placeholder(token) || is_fake_token(token) || !harmful(token) {
        return None;
    }
    Some(Finding {
        class: Class::AccessKey,
        detector: "authorization_header",
        start: value.start,
        end: value.end,
        confidence: Confidence::VeryLikely,
    })
}
