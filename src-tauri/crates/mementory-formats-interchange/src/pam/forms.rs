//! Syntax of the texts that the format defines: names of platforms, tags, hashes, versions and so on.
use mementory_json::schema::{TextForm, is_uri};

/// A version such as `1.0` or `1.1-rc1`.
pub(super) const VERSION_FORM: TextForm =
    TextForm { expected: "a version such as 1.0", fit: |t| version(t).is_some().into() };
/// A program with its version, `name/1.2.3`.
pub(super) const SYSTEM_FORM: TextForm =
    TextForm { expected: "a program such as name/1.2.3", fit: |t| is_system(t).into() };
/// A decentralized identifier, `did:method:…`.
pub(super) const DID_FORM: TextForm = TextForm { expected: "an identifier did:method:…", fit: |t| is_did(t).into() };
/// Name of a platform: lower-case ASCII letters, digits, `_` and `-`, 2 to 32 characters.
pub(super) const PLATFORM_FORM: TextForm = TextForm {
    expected: "a platform's name: 2 to 32 of a-z, 0-9, _ and -",
    fit: |t| ((2..=32).contains(&t.len()) && t.bytes().all(is_word_byte)).into(),
};
/// A URI with its scheme.
pub(super) const URI_FORM: TextForm = TextForm { expected: "a URI", fit: |t| is_uri(t).into() };
/// A hash: `sha256:` and 64 hex digits.
pub(super) const HASH_FORM: TextForm =
    TextForm { expected: "sha256: and 64 hex digits in lower case", fit: |t| is_hash(t).into() };
/// A tag: lower-case ASCII that starts with a letter or digit.
pub(super) const TAG_FORM: TextForm = TextForm { expected: "a tag of a-z, 0-9, _ and -", fit: |t| is_tag(t).into() };
/// A language tag according to BCP 47, with optional script and region.
pub(super) const LANGUAGE_FORM: TextForm =
    TextForm { expected: "a language such as pt-BR", fit: |t| is_language(t).into() };

fn is_hash(text: &str) -> bool {
    text.strip_prefix("sha256:")
        .is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
}

fn is_tag(text: &str) -> bool {
    text.bytes().next().is_some_and(|b| is_word_byte(b) && b != b'_' && b != b'-') && text.bytes().all(is_word_byte)
}

fn is_word_byte(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-'
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Major and minor number of a version.
pub(super) fn version(text: &str) -> Option<(u64, u64)> {
    let (numbers, pre) = text.split_once('-').map_or((text, None), |(n, p)| (n, Some(p)));
    if let Some(pre) = pre {
        let number = ["rc", "alpha", "beta"].iter().find_map(|p| pre.strip_prefix(p))?;
        if !(number.is_empty() || is_digits(number)) {
            return None;
        }
    }
    let (major, minor) = numbers.split_once('.')?;
    (is_digits(major) && is_digits(minor)).then_some(())?;
    // A number that does not fit into 64 bits is later than any version that is known here.
    let number = |digits: &str| digits.parse().unwrap_or(u64::MAX);
    Some((number(major), number(minor)))
}

fn is_system(text: &str) -> bool {
    let Some((name, version)) = text.split_once('/') else { return false };
    let parts: Vec<&str> = version.split('.').collect();
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        && parts.len() == 3
        && parts.into_iter().all(is_digits)
}

fn is_did(text: &str) -> bool {
    let Some((method, rest)) = text.strip_prefix("did:").and_then(|t| t.split_once(':')) else { return false };
    // `.` in the schema's pattern is any character but these.
    let is_line_end = |c: char| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
    let is_method =
        |method: &str| !method.is_empty() && method.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    is_method(method) && !rest.is_empty() && !rest.contains(is_line_end)
}

fn is_language(text: &str) -> bool {
    let mut parts = text.split('-').peekable();
    let has_case = |part: &str, upper: bool| {
        part.bytes().all(|b| if upper { b.is_ascii_uppercase() } else { b.is_ascii_lowercase() })
    };
    if !parts.next().is_some_and(|p| (2..=3).contains(&p.len()) && has_case(p, false)) {
        return false;
    }
    let is_script = |part: &str| {
        part.len() == 4 && part.split_at_checked(1).is_some_and(|(a, b)| has_case(a, true) && has_case(b, false))
    };
    parts.next_if(|p| is_script(p));
    parts.next_if(|p| p.len() == 2 && has_case(p, true));
    parts.next().is_none()
}

/// Converts a text to one word of lower-case ASCII letters, digits, `-` and `_`. The result may be empty.
pub(super) fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in mementory_model::fold(text).chars() {
        match c {
            c if c.is_ascii() && is_word_byte(c as u8) => out.push(c),
            _ if !out.is_empty() && !out.ends_with('-') => out.push('-'),
            _ => {}
        }
    }
    out.trim_matches(['-', '_']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mementory_json::schema::{TimeFault, rfc3339 as time};

    #[test]
    fn text_forms_accept_and_reject_examples() {
        let accepted = [
            (VERSION_FORM, "1.0"),
            (VERSION_FORM, "1.12-rc"),
            (VERSION_FORM, "99999999999999999999.0"),
            (SYSTEM_FORM, "my-tool/0.5.0"),
            (DID_FORM, "did:web:example.com:user:alice"),
            (PLATFORM_FORM, "chatgpt"),
            (TAG_FORM, "web-scraping_2"),
            (LANGUAGE_FORM, "zh-Hant-TW"),
            (LANGUAGE_FORM, "pt-BR"),
        ];
        for (form, text) in accepted {
            assert!(form.matches_exactly(text), "{text}");
        }
        let rejected = [
            (VERSION_FORM, "1"),
            (VERSION_FORM, "1.0.0"),
            (VERSION_FORM, "1.0-final"),
            (SYSTEM_FORM, "tool/1.0"),
            (DID_FORM, "did:Web:x"),
            (DID_FORM, "did:web:x\ny"),
            (PLATFORM_FORM, "x"),
            (PLATFORM_FORM, "ChatGPT"),
            (HASH_FORM, "sha256:ABC"),
            (TAG_FORM, "-x"),
            (TAG_FORM, "Work"),
            (TAG_FORM, ""),
            (LANGUAGE_FORM, "english"),
            (LANGUAGE_FORM, "en-us"),
            (LANGUAGE_FORM, "zh-éé"),
        ];
        for (form, text) in rejected {
            assert!(!form.matches_exactly(text), "{text}");
        }
    }

    #[test]
    fn times_follow_rfc_3339() {
        for text in ["2026-02-15T22:00:00Z", "2026-02-15T22:00:00.123456789+05:30", "2024-02-29t00:00:00z"] {
            assert_eq!(time(text), Ok(()), "{text}");
        }
        assert_eq!(time("2026-02-15T22:00:00"), Err(TimeFault::NoZone));
        for text in
            ["2026-02-30T00:00:00Z", "2026-02-15", "yesterday", "", "2026-02-15T22:00:00.Z", "2026-02-15T25:00:00Z"]
        {
            assert_eq!(time(text), Err(TimeFault::Bad), "{text}");
        }
        assert_eq!(slug("  Größe & Gewicht "), "grosse-gewicht");
    }
}
