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

/// True for a URI with a scheme (RFC 3986 §3). It must not contain white space or any other character that is not
/// allowed in a URI, and its authority must have the form of §3.2.
pub fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let (before_fragment, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (hierarchy, query) = before_fragment.split_once('?').unwrap_or((before_fragment, ""));
    let (authority, path) = match hierarchy.strip_prefix("//") {
        Some(after) => after.split_at(after.find('/').unwrap_or(after.len())),
        None => ("", hierarchy),
    };
    is_scheme
        && !rest.is_empty()
        && is_authority(authority)
        && has_uri_characters(path, b":@/")
        && [query, fragment].into_iter().all(|part| has_uri_characters(part, b":@/?"))
}

/// True for the part of a URI between `//` and the path (RFC 3986 §3.2): a host with user information and a port.
fn is_authority(text: &str) -> bool {
    let (user, host_and_port) = text.split_once('@').unwrap_or(("", text));
    let (is_host, port) = match host_and_port.strip_prefix('[') {
        Some(literal) => {
            let Some((address, after)) = literal.split_once(']') else { return false };
            (is_ip_literal(address), after)
        }
        None => {
            let (name, port) = host_and_port.split_at(host_and_port.find(':').unwrap_or(host_and_port.len()));
            (has_uri_characters(name, b""), port)
        }
    };
    let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    is_host && is_port && has_uri_characters(user, b":")
}

/// True for an IPv6 address, or an address of a later version such as `v1.a` (RFC 3986 §3.2.2).
fn is_ip_literal(address: &str) -> bool {
    match address.strip_prefix(['v', 'V']).and_then(|rest| rest.split_once('.')) {
        Some((version, rest)) => {
            let is_version = !version.is_empty() && version.bytes().all(|b| b.is_ascii_hexdigit());
            is_version && !rest.is_empty() && !rest.contains('%') && has_uri_characters(rest, b":")
        }
        None => address.parse::<std::net::Ipv6Addr>().is_ok(),
    }
}

/// True for a text of unreserved characters, escaped bytes (`%20`), sub-delimiters and the characters `more` (RFC 3986
/// §2, §3.3).
fn has_uri_characters(text: &str, more: &[u8]) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().all(|(at, b)| match b {
        b'%' => bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)),
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
