//! Text syntaxes that several formats share.

/// Fault of a date and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeFault {
    /// Not a date and time by RFC 3339.
    Bad,
    /// Only the time zone is missing.
    NoZone,
}

/// Checks a date and time by RFC 3339 §5.6. A space instead of `T` is allowed, as the note in §5.6 says.
pub fn rfc3339(text: &str) -> Result<(), TimeFault> {
    if mementory_model::Timestamp::parse_plain(text).is_some() {
        return Ok(());
    }
    // RFC 3339 §1 includes the year 0, which most programs cannot represent. It has the days of the year 2000.
    if let Some(day) = text.strip_prefix("0000-") {
        return rfc3339(&format!("2000-{day}"));
    }
    let bad = Err(TimeFault::Bad);
    let bytes = text.as_bytes();
    if !text.is_ascii() || bytes.len() < 19 || !matches!(bytes[10], b'T' | b't' | b' ') {
        return bad;
    }
    if bytes[13] != b':' || bytes[16] != b':' || mementory_model::Timestamp::parse(text).is_none() {
        return bad;
    }
    let zone = match text[19..].strip_prefix('.') {
        Some(fraction) => {
            let zone = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if zone.len() == fraction.len() {
                return bad;
            }
            zone
        }
        None => &text[19..],
    };
    match zone.as_bytes() {
        [] => Err(TimeFault::NoZone),
        [b'Z' | b'z'] => Ok(()),
        [b'+' | b'-', hour @ .., b':', ten, one] if hour.len() == 2 => {
            let digits = hour.iter().chain([ten, one]).all(u8::is_ascii_digit);
            // In an offset, hours go up to 23 and minutes up to 59 (RFC 3339 §5.6).
            if digits && hour <= b"23".as_slice() && *ten <= b'5' { Ok(()) } else { bad }
        }
        _ => bad,
    }
}

/// True for a URI with a scheme and only characters that are allowed in it (RFC 3986 §3).
pub fn is_uri(text: &str) -> bool {
    iri_string::types::UriStr::new(text).is_ok()
}

/// True for a UUID as in RFC 9562 §4, with 36 characters including hyphens.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}
