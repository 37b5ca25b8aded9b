//! Finds keys and tokens without a known format: values that look random and are assigned to a name for a secret.
use crate::entropy::{MIN_RANDOM_BYTES, is_hex, is_random, is_uuid};
use crate::placeholder::{is_fake_token, is_placeholder};
use crate::value::{Join, MAX_NAME_BYTES, count_blanks, end_of_inflection, name_around, read_value, value_after_name};
use crate::word_lists::{grammar, secret};
use crate::{Class, Confidence, Finding};
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

static NOT_SECRETS: LazyLock<WordSearcher> = LazyLock::new(|| WordSearcher::new(&[secret::NOT_SECRETS]));
static HIGH_CONFIDENCE: LazyLock<WordSearcher> = LazyLock::new(|| WordSearcher::new(&[secret::HIGH_CONFIDENCE]));
static CLEAR_NAMES: LazyLock<WordSearcher> =
    LazyLock::new(|| WordSearcher::new(&[secret::HIGH_CONFIDENCE, secret::QUALIFIED_NAMES]));

/// Searches for many words at once. "key" is a frequent word, and comparing each name that contains it with one word
/// after the other took more time than the remainder of the scan.
struct WordSearcher {
    words: Vec<&'static str>,
    /// None if the automaton could not be built. Then the words are searched for one by one.
    automaton: Option<AhoCorasick>,
}

impl WordSearcher {
    fn new(lists: &[&[&'static str]]) -> Self {
        let words = lists.concat();
        Self { automaton: AhoCorasick::new(&words).ok(), words }
    }

    /// Whether `text` contains one of the words.
    fn is_in(&self, text: &str) -> bool {
        self.automaton.as_ref().map_or_else(|| contains_any(text, &self.words), |automaton| automaton.is_match(text))
    }
}

/// The secret that belongs to the name with the word at `start..end`. The secret is assigned to the name, or comes
/// before or after it on the same line. With `only_very_likely`, a secret that is merely likely is not searched for.
pub(crate) fn secret_for_name(text: &str, start: usize, end: usize, only_very_likely: bool) -> Option<Finding> {
    let (from, to) = name_around(text, start, end);
    // A long base64 value may contain a word for a secret by chance.
    if to - from > MAX_NAME_BYTES || to - from > 24 && is_random(&text[from..to], false) {
        return None;
    }
    // An identifier such as `did:key:z6M…` contains a public key.
    if text[..from].ends_with("did:") {
        return None;
    }
    let to = end_of_inflection(text, to);
    let (after_suffix, has_api_suffix) = position_after_api_suffix(text, to);
    let assigned_value = || {
        let value = value_after_name(text, from, after_suffix)?;
        let is_long_enough = value.end - value.start >= MIN_RANDOM_BYTES;
        (is_long_enough && (value.join != Join::Space || value.is_quoted)).then_some(value)
    };
    // A value that is not assigned to the name is no more than likely. Most names have none, and finding out what the
    // name means takes longer.
    if only_very_likely && assigned_value().is_none() {
        return None;
    }
    let name: String = text[from..to].chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if NOT_SECRETS.is_in(&name) || name.ends_with("id") && !name.ends_with("secretid") {
        return None;
    }
    // The word must not be the end of another word, as in "monkey", "hockey" and "turkey".
    let byte_before = text.as_bytes()[..start].last();
    let follows_small_letter =
        byte_before.is_some_and(u8::is_ascii_lowercase) && !text.as_bytes()[start].is_ascii_uppercase();
    if follows_small_letter && !HIGH_CONFIDENCE.is_in(&name) {
        return None;
    }
    let phrase = words_before(text, from) + &name;
    if NOT_SECRETS.is_in(&phrase) {
        return None;
    }
    let has_clear_name = has_api_suffix || CLEAR_NAMES.is_in(&phrase);
    // Without a clear name, a secret is no more than likely.
    if only_very_likely && !has_clear_name {
        return None;
    }
    let detector = |has_clear_name| {
        if phrase.contains("aws") && phrase.contains("secret") {
            "aws_secret_access_key"
        } else if has_clear_name {
            "named_secret"
        } else {
            "entropy"
        }
    };
    if let Some(value) = assigned_value()
        && let Some((start, end)) = range_if_secret(text, value.start, value.end, has_clear_name, true)
    {
        let confidence = if has_clear_name { Confidence::VeryLikely } else { Confidence::Likely };
        let (class, detector) = if is_private_key(&phrase, &text[start..end]) {
            (Class::PrivateKey, "raw_private_key")
        } else {
            (Class::AccessKey, detector(has_clear_name))
        };
        return Some(Finding { class, detector, start, end, confidence });
    }
    if only_very_likely {
        return None;
    }
    let range_after = value_in_sentence(text, after_suffix, has_clear_name || phrase.contains("key"), has_clear_name);
    range_after.or_else(|| value_before_name(text, from).filter(|_| has_clear_name)).map(|(start, end)| {
        let is_private = is_private_key(&phrase, &text[start..end]);
        let (class, detector) =
            if is_private { (Class::PrivateKey, "raw_private_key") } else { (Class::AccessKey, detector(false)) };
        Finding { class, detector, start, end, confidence: Confidence::Likely }
    })
}

/// Whether `text` contains one of `words`.
fn contains_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// Whether the value is a private key without a known format: `phrase`, its name, contains `privatekey`, and the value
/// has 64 hexadecimal digits or is 32 bytes in base64.
fn is_private_key(phrase: &str, value: &str) -> bool {
    let digits = value.strip_prefix("0x").unwrap_or(value);
    phrase.contains("privatekey") && (digits.len() == 64 && is_hex(digits) || value.len() == 44 && value.ends_with('='))
}

/// The two words before a name, in lower case and without a space between them. Before "key", they may end in "api" or
/// "public".
fn words_before(text: &str, from: usize) -> String {
    let floor = text.ceil_char_boundary(from.saturating_sub(24));
    let line = &text[floor..from];
    let line = &line[line.rfind('\n').map_or(0, |n| n + 1)..];
    let mut words: Vec<&str> = line.split(' ').rev().filter(|word| !word.is_empty()).take(2).collect();
    words.reverse();
    words.concat().chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The range of the secret in `start..end`, if the value there looks like one. `has_clear_name` is true if the name can
/// only mean a secret, and `is_assigned` is true if the value is assigned to the name.
fn range_if_secret(
    text: &str,
    start: usize,
    end: usize,
    has_clear_name: bool,
    is_assigned: bool,
) -> Option<(usize, usize)> {
    let mut value = &text[start..end];
    let mut start = start;
    for scheme in ["Bearer ", "bearer ", "Token ", "token ", "Basic ", "ApiKey ", "Key "] {
        if let Some(rest) = value.strip_prefix(scheme) {
            start += scheme.len();
            value = rest;
        }
    }
    // Calls, paths and numbers in code are not secrets.
    let is_code = value.contains("::") || value.contains('(') || value.starts_with("0x") && value.contains('_');
    if value.len() > 256
        || is_code
        || value.contains(char::is_whitespace)
        || is_placeholder(value)
        || is_fake_token(value)
        || is_not_secret(value)
    {
        return None;
    }
    if is_hex(value.strip_prefix("0x").unwrap_or(value)) {
        // Many keys have 32 or 64 hexadecimal digits, but so do hashes, so such a value is accepted only with a clear
        // name and an assignment.
        return (has_clear_name && is_assigned && value.len() >= 20 && is_random(value, true)).then_some((start, end));
    }
    let looks_random =
        is_random(value, has_clear_name) || (has_clear_name && is_assigned && has_special_characters(value));
    looks_random.then_some((start, end))
}

/// Whether a long value contains special characters, as in keys such as `django-insecure-x#9…`.
fn has_special_characters(value: &str) -> bool {
    let signs = value.bytes().filter(|b| b"!@#$%^&*()+~".contains(b)).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    value.len() >= 16 && signs >= 2 && digits >= 1 && !value.contains("://") && !value.contains("(") && value.is_ascii()
}

/// Whether the value is an id, a digest that names its algorithm, the name of an algorithm, a public key, an address or
/// a path, and therefore not a secret.
fn is_not_secret(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    const NON_SECRET_PREFIXES: &[&str] = &[
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
    let is_path = value.matches('/').count() > 1 && value.split('/').all(|part| !is_random(part, true));
    let is_address = value.contains("://") || value.starts_with('/') && is_path;
    let has_known_prefix = NON_SECRET_PREFIXES.iter().any(|start| lower.starts_with(start));
    is_uuid(value) || has_known_prefix || is_address || is_path && value.contains('.')
}

/// Skips words after the name that mean "of the API", as in "clé d'API", "klucz API" and "clave de la API". Returns the
/// position after them, and whether there were any.
fn position_after_api_suffix(text: &str, to: usize) -> (usize, bool) {
    let rest = &text[to..text.floor_char_boundary((to + 24).min(text.len()))];
    let lower = rest.to_lowercase();
    // If lower-casing changes the number of bytes, the positions would be wrong.
    let after_space = lower.strip_prefix(' ').filter(|_| lower.len() == rest.len());
    let found_suffix =
        after_space.and_then(|lower| secret::API_SUFFIXES.iter().find(|suffix| lower.starts_with(**suffix)));
    let end = found_suffix.map_or(to, |suffix| to + 1 + suffix.len());
    let ends_word = !text[end..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if found_suffix.is_some() && ends_word { (end, true) } else { (to, false) }
}

/// A value that looks random, among the next words on the line. If `has_clear_name` is true, the name can only mean a
/// secret. Then hexadecimal digits are accepted too, provided that the name, a colon or a word such as "is" comes
/// directly before them.
fn value_in_sentence(text: &str, from: usize, may_name_key: bool, has_clear_name: bool) -> Option<(usize, usize)> {
    let line = &text[from..text.floor_char_boundary((from + 400).min(text.len()))];
    let line = &line[..line.find('\n').unwrap_or(line.len())];
    let particle = grammar::PARTICLES.iter().find(|particle| line.starts_with(**particle));
    let mut position = particle.map_or(0, |particle| particle.len());
    let mut words = 0;
    // True if the previous word was the name, or links the name to its value.
    let mut is_linked = true;
    // True once a value may be a digest or belong to another sentence.
    let mut is_doubtful = false;
    while words < 8 && position < line.len() {
        let rest = &line[position..];
        let skip =
            rest.find(|c: char| !c.is_whitespace() && !"\"'`:=>([{*,。：|“„«»「".contains(c)).unwrap_or(rest.len());
        is_linked |= rest[..skip].contains([':', '：', '=']);
        position += skip;
        let rest = &line[position..];
        let length =
            rest.find(|c: char| c.is_whitespace() || "\"'`<>)]},;*|。，“”»」".contains(c)).unwrap_or(rest.len());
        let word = rest[..length].trim_end_matches(['.', ':', '!', '?']);
        let (start, end) = (from + position, from + position + word.len());
        // A value more than 120 bytes away does not belong to the name.
        if position > 120 {
            return None;
        }
        // Without a space before it, the word is part of the name.
        let is_separate_word = position > 0 && word.len() >= 20;
        if is_separate_word
            && (may_name_key || !word.contains(['/', '=']))
            && range_if_secret(text, start, end, false, false).is_some()
        {
            return Some((start, end));
        }
        if is_separate_word
            && has_clear_name
            && is_linked
            && !is_doubtful
            && matches!(word.len(), 32..=128)
            && range_if_secret(text, start, end, true, true).is_some()
        {
            return Some((start, end));
        }
        // A value in the next sentence does not belong to the name.
        let ends_sentence = rest[..length].ends_with(['.', '!', '?']);
        if ends_sentence && words > 2 {
            return None;
        }
        let lower = word.to_lowercase();
        is_linked = is_link(&lower) || rest[..length].ends_with([':', '：']);
        is_doubtful |= ends_sentence || lower == "id" || contains_any(&lower, secret::DIGESTS);
        position = line.ceil_char_boundary(position + length.max(1));
        words += 1;
    }
    None
}

/// Whether `word`, in lower case, links a name to its value. In Chinese, Japanese and Korean, a particle does this,
/// either alone or at the end of a short word.
fn is_link(word: &str) -> bool {
    let has_link_ending = grammar::LINK_ENDINGS.iter().any(|end| word.ends_with(end));
    secret::LINKS.contains(&word) || has_link_ending && word.chars().count() < 9
}

/// The value before its name, as in "use X as the API key".
fn value_before_name(text: &str, from: usize) -> Option<(usize, usize)> {
    let floor = text.ceil_char_boundary(from.saturating_sub(200));
    let line = &text[floor..from];
    let line = &line[line.rfind('\n').map_or(0, |n| n + 1)..];
    let mut words = line.split_whitespace().rev().take(5);
    words.by_ref().find(|word| secret::AS_WORDS.contains(word))?;
    let last_word = words.next()?;
    if words.next().is_some_and(|word| contains_any(&word.to_lowercase(), secret::DIGESTS)) {
        return None;
    }
    let value = last_word.trim_matches(['"', '\'', '`', ',', '(', ')', '“', '”', '„', '«', '»']);
    let start = floor + text[floor..from].rfind(last_word)? + last_word.find(value)?;
    (value.len() >= 20).then(|| range_if_secret(text, start, start + value.len(), true, value.len() >= 32)).flatten()
}

/// The token after a header or scheme, such as `Bearer `, that ends at `end`.
pub(crate) fn token_after_scheme(text: &str, end: usize) -> Option<Finding> {
    let position = end + count_blanks(text.as_bytes(), end);
    let value = read_value(text, position, Join::Space)?;
    let token = &text[value.start..value.end];
    let is_token_byte = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b);
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let looks_real = token.len() >= 12 && token.bytes().all(is_token_byte) && (digits >= 2 || is_random(token, true));
    if !looks_real || is_placeholder(token) || is_fake_token(token) || is_not_secret(token) {
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
