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

/// True for a URI with a scheme (RFC 3986 §3). After the scheme, it must not be empty.
pub fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let (hierarchy, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (hierarchy, query) = hierarchy.split_once('?').unwrap_or((hierarchy, ""));
    let (authority, path) = match hierarchy.strip_prefix("//") {
        Some(hierarchy) => hierarchy.split_at(hierarchy.find('/').unwrap_or(hierarchy.len())),
        None => ("", hierarchy),
    };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
        && !rest.is_empty()
        && is_authority(authority)
        && has_only(path, b":@/")
        && [query, fragment].into_iter().all(|part| has_only(part, b":@/?"))
}

/// True for `userinfo@host:port` (RFC 3986 §3.2). Each of the three may be missing or empty.
fn is_authority(text: &str) -> bool {
    let (user, address) = text.split_once('@').unwrap_or(("", text));
    let (is_host, port) = match address.strip_prefix('[').map(|literal| literal.split_once(']')) {
        Some(Some((literal, port))) => {
            (is_ip_literal(literal), port.strip_prefix(':').or(port.is_empty().then_some("")))
        }
        Some(None) => return false,
        None => {
            let (host, port) = address.split_once(':').unwrap_or((address, ""));
            (has_only(host, b""), Some(port))
        }
    };
    is_host && has_only(user, b":") && port.is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
}

/// True for the text between the brackets of a host: an IPv6 address, or an address of a later version.
fn is_ip_literal(text: &str) -> bool {
    let later = text.strip_prefix(['v', 'V']).and_then(|text| text.split_once('.'));
    let is_later = later.is_some_and(|(version, address)| {
        let is_hex = !version.is_empty() && version.bytes().all(|b| b.is_ascii_hexdigit());
        is_hex && !address.is_empty() && !address.contains('%') && has_only(address, b":")
    });
    is_later || text.parse::<std::net::Ipv6Addr>().is_ok()
}

/// True if a part of a URI has only percent-encoded bytes, unreserved characters, `sub-delims` (RFC 3986 §2) and the
/// characters in `more`.
fn has_only(part: &str, more: &[u8]) -> bool {
    let bytes = part.as_bytes();
    bytes.iter().enumerate().all(|(i, b)| match b {
        b'%' => bytes.get(i + 1..i + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)),
        b => b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(b) || more.contains(b),
    })
}

/// True for a UUID as in RFC 9562 §4, with 36 characters including hyphens.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}
