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
    // RFC 3339 §1 includes the year 0, which most programs cannot represent. The year 0 has the same days as the year
    // 2000.
    if let Some(day) = text.strip_prefix("0000-") {
        return rfc3339(&format!("2000-{day}"));
    }
    let bad_time = Err(TimeFault::Bad);
    let bytes = text.as_bytes();
    if !text.is_ascii() || bytes.len() < 19 || !matches!(bytes[10], b'T' | b't' | b' ') {
        return bad_time;
    }
    // Without the zone, because at the ends of the years 1 and 9999, the time in UTC may be of another year.
    if bytes[13] != b':' || bytes[16] != b':' || mementory_model::Timestamp::parse(&text[..19]).is_none() {
        return bad_time;
    }
    let zone = match text[19..].strip_prefix('.') {
        Some(fraction) => {
            let zone = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if zone.len() == fraction.len() {
                return bad_time;
            }
            zone
        }
        None => &text[19..],
    };
    let offset = match zone.as_bytes() {
        [] => return Err(TimeFault::NoZone),
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), hour @ .., b':', ten, one] if hour.len() == 2 => {
            let digits = hour.iter().chain([ten, one]).all(u8::is_ascii_digit);
            // In an offset, hours go up to 23 and minutes up to 59 (RFC 3339 §5.6).
            if !digits || hour > b"23".as_slice() || *ten > b'5' {
                return bad_time;
            }
            let minutes = minutes_of([hour[0], hour[1], *ten, *one]);
            if *sign == b'-' { -minutes } else { minutes }
        }
        _ => return bad_time,
    };
    // A leap second is the last second of a day in UTC (RFC 3339 §5.7).
    let minute = minutes_of([bytes[11], bytes[12], bytes[14], bytes[15]]) - offset;
    let is_leap_second = &bytes[17..19] == b"60";
    if is_leap_second && minute.rem_euclid(MINUTES_OF_DAY) != MINUTES_OF_DAY - 1 { bad_time } else { Ok(()) }
}

const MINUTES_OF_DAY: i32 = 24 * 60;

/// Minutes of a time with these digits, `HHMM`.
fn minutes_of(digits: [u8; 4]) -> i32 {
    let [ten_hours, hours, ten, one] = digits.map(|digit| i32::from(digit) - i32::from(b'0'));
    60 * (10 * ten_hours + hours) + 10 * ten + one
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
