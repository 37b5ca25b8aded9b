//! Finds passwords in URLs: `scheme://user:password@host`.
use crate::placeholder::is_placeholder;
use crate::{Class, Confidence, Finding};

/// The password in the URL whose `://` is at `start..end`.
pub(crate) fn password_at(text: &str, start: usize, end: usize) -> Option<Finding> {
    let scheme = text.as_bytes()[..start].last()?;
    if !scheme.is_ascii_alphanumeric() {
        return None;
    }
    let window = &text[end..text.floor_char_boundary((end + 320).min(text.len()))];
    let is_url_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | '|' | '\\');
    let after_scheme = &window[..window.find(is_url_end).unwrap_or(window.len())];
    // A slash in a password should be written as %2F. If it is not, the authority (user, password and host) does not
    // end at the first slash.
    let authority = &after_scheme[..after_scheme.find(['/', '?', '#']).unwrap_or(after_scheme.len())];
    let authority = if authority.contains('@') { authority } else { authority_with_raw_slash(after_scheme)? };
    let user = &authority[..authority.rfind('@')?];
    let colon = user.find(':')?;
    let password = &user[colon + 1..];
    let host = authority[user.len() + 1..].bytes().next();
    if password.len() < 3 || !host.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'[' | b'$' | b'{')) {
        return None;
    }
    if is_placeholder(password)
        || password.starts_with(['$', '<', '{', '%', '[']) && password.ends_with(['}', '>', '%', ']', ')'])
    {
        return None;
    }
    let start = end + colon + 1;
    Some(Finding {
        class: Class::Password,
        detector: "url_password",
        start,
        end: start + password.len(),
        confidence: Confidence::VeryLikely,
    })
}

/// Returns all of `after_scheme` if it contains a password with an unescaped `/`, `?` or `#`. The password ends at the
/// last `@`.
fn authority_with_raw_slash(after_scheme: &str) -> Option<&str> {
    let position = after_scheme.rfind('@')?;
    let colon = after_scheme.find(':')?;
    let first = after_scheme.find(['/', '?', '#'])?;
    // In `host:8080/@name`, for example, a port and a path precede the `@`, not a password.
    let port = after_scheme.get(colon + 1..first)?;
    (colon < first
        && first < position
        && !port.bytes().all(|b| b.is_ascii_digit())
        && !after_scheme[..colon].contains('.'))
    .then_some(after_scheme)
}
