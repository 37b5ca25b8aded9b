//! Forms of texts: platform names, tags, hashes, versions, times.

/// A form that a text has to have.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// `1.0`, `1.1-rc1`.
    Version,
    /// `name/1.2.3`.
    System,
    /// `did:method:…`.
    Did,
    /// Lower-case ASCII, 2 to 32 characters.
    Platform,
    /// `sha256:` and 64 hex digits.
    Hash,
    /// Lower-case ASCII that starts with a letter or digit.
    Tag,
    /// BCP 47, language, script, region.
    Language,
}

impl Form {
    /// Has the text this form?
    pub fn fits(self, text: &str) -> bool {
        match self {
            Form::Version => version(text).is_some(),
            Form::System => system(text),
            Form::Did => did(text),
            Form::Platform => (2..=32).contains(&text.len()) && text.bytes().all(word),
            Form::Hash => text.strip_prefix("sha256:").is_some_and(|hex| {
                hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
            }),
            Form::Tag => {
                text.bytes().next().is_some_and(|b| word(b) && b != b'_' && b != b'-') && text.bytes().all(word)
            }
            Form::Language => language(text),
        }
    }
}

fn word(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-'
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Major and minor of a version.
pub(super) fn version(text: &str) -> Option<(u64, u64)> {
    let (numbers, pre) = text.split_once('-').map_or((text, None), |(n, p)| (n, Some(p)));
    if let Some(pre) = pre {
        let rest = ["rc", "alpha", "beta"].iter().find_map(|p| pre.strip_prefix(p))?;
        if !(rest.is_empty() || digits(rest)) {
            return None;
        }
    }
    let (major, minor) = numbers.split_once('.')?;
    (digits(major) && digits(minor)).then_some(())?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn system(text: &str) -> bool {
    let Some((name, version)) = text.split_once('/') else { return false };
    let parts: Vec<&str> = version.split('.').collect();
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        && parts.len() == 3
        && parts.into_iter().all(digits)
}

fn did(text: &str) -> bool {
    let Some((method, rest)) = text.strip_prefix("did:").and_then(|t| t.split_once(':')) else { return false };
    !method.is_empty() && method.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()) && !rest.is_empty()
}

fn language(text: &str) -> bool {
    let mut parts = text.split('-').peekable();
    let all = |part: &str, upper: bool| {
        part.bytes().all(|b| if upper { b.is_ascii_uppercase() } else { b.is_ascii_lowercase() })
    };
    if !parts.next().is_some_and(|p| (2..=3).contains(&p.len()) && all(p, false)) {
        return false;
    }
    parts.next_if(|p| p.len() == 4 && all(&p[..1], true) && all(&p[1..], false));
    parts.next_if(|p| p.len() == 2 && all(p, true));
    parts.next().is_none()
}

/// What is wrong with a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeFault {
    /// Not a point in time of RFC 3339.
    Bad,
    /// A date and time without a zone: readers take it as UTC.
    NoZone,
}

/// Checks a time by RFC 3339.
pub(super) fn time(text: &str) -> Result<(), TimeFault> {
    let bad = Err(TimeFault::Bad);
    let bytes = text.as_bytes();
    if !text.is_ascii() || bytes.len() < 19 || !matches!(bytes[10], b'T' | b't' | b' ') {
        return bad;
    }
    if mementory_model::Timestamp::parse(text).is_none() || bytes[13] != b':' || bytes[16] != b':' {
        return bad;
    }
    let rest = match text[19..].strip_prefix('.') {
        Some(rest) => {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            if end == 0 {
                return bad;
            }
            &rest[end..]
        }
        None => &text[19..],
    };
    match rest {
        "" => Err(TimeFault::NoZone),
        "Z" | "z" => Ok(()),
        zone => {
            let form = zone.len() == 6 && zone.starts_with(['+', '-']) && &zone[3..4] == ":";
            if form && digits(&zone[1..3]) && digits(&zone[4..]) { Ok(()) } else { bad }
        }
    }
}

/// A text as a word of letters, digits, `-` and `_` in lower case; empty when nothing of it is left.
pub(super) fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in mementory_model::fold(text).chars() {
        match c {
            c if c.is_ascii() && word(c as u8) => out.push(c),
            _ if !out.is_empty() && !out.ends_with('-') => out.push('-'),
            _ => {}
        }
    }
    out.trim_matches(['-', '_']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let good = [
            (Form::Version, "1.0"),
            (Form::Version, "1.12-rc"),
            (Form::System, "my-tool/0.5.0"),
            (Form::Did, "did:web:example.com:user:alice"),
            (Form::Platform, "chatgpt"),
            (Form::Tag, "web-scraping_2"),
            (Form::Language, "zh-Hant-TW"),
            (Form::Language, "pt-BR"),
        ];
        for (form, text) in good {
            assert!(form.fits(text), "{text}");
        }
        let bad = [
            (Form::Version, "1"),
            (Form::Version, "1.0.0"),
            (Form::Version, "1.0-final"),
            (Form::System, "tool/1.0"),
            (Form::Did, "did:Web:x"),
            (Form::Platform, "x"),
            (Form::Platform, "ChatGPT"),
            (Form::Hash, "sha256:ABC"),
            (Form::Tag, "-x"),
            (Form::Tag, "Work"),
            (Form::Tag, ""),
            (Form::Language, "english"),
            (Form::Language, "en-us"),
        ];
        for (form, text) in bad {
            assert!(!form.fits(text), "{text}");
        }
    }

    #[test]
    fn times() {
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
