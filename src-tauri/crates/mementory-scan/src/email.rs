//! Finds e-mail addresses. Name and host may contain letters of any script (RFC 6531).
use memchr::memchr_iter;

use crate::{Class, Confidence, Finding};

/// Hosts reserved for documentation (RFC 2606), and hosts that are common in templates.
const SAMPLE_HOSTS: &[&str] = &[
    "example.com",
    "example.org",
    "example.net",
    "example.edu",
    "domain.com",
    "domain.tld",
    "yourdomain.com",
    "your-domain.com",
    "yourcompany.com",
    "your-company.com",
    "mydomain.com",
    "mycompany.com",
    "host.com",
    "test.com",
    "email.tld",
    "mail.tld",
];
/// Host endings that rule out an address: top-level domains that do not exist (RFC 2606, RFC 6761), and file
/// extensions, as in `icon@2x.png`.
const NON_TOP_LEVEL_DOMAINS: &[&str] = &[
    "test",
    "invalid",
    "example",
    "localhost",
    "local",
    "png",
    "jpg",
    "jpeg",
    "gif",
    "svg",
    "webp",
    "ico",
    "css",
    "scss",
    "html",
    "js",
    "mjs",
    "cjs",
    "ts",
    "tsx",
    "jsx",
    "json",
    "yml",
    "yaml",
    "toml",
    "exe",
    "dll",
    "service",
    "timer",
    "socket",
    "internal",
    "lan",
    "localdomain",
    "txt",
    "pdf",
    "zip",
    "tgz",
];

/// Finds the addresses in `text`. Sample addresses, paths on servers and message ids are left out.
pub(crate) fn find_addresses(text: &str, findings: &mut Vec<Finding>) {
    for position in memchr_iter(b'@', text.as_bytes()) {
        findings.extend(address_around(text, position));
    }
}

/// The e-mail address around the `@` at `position`. None if there is no valid address, or only a sample address, a path
/// on a server or a message id.
fn address_around(text: &str, position: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    // In scripts without spaces, an address may directly follow a sentence. So letters of these scripts belong to the
    // name only if it also ends with such a letter.
    let is_unspaced = text[..position].chars().next_back().is_some_and(is_unspaced_script);
    let is_name_char =
        |c: char| c.is_alphanumeric() && (is_unspaced || !is_unspaced_script(c)) || "._%+-'&/=?^{}~!#$*".contains(c);
    let search_start = text.ceil_char_boundary(position.saturating_sub(65));
    let mut start = position;
    for (index, c) in text[search_start..position].char_indices().rev() {
        if !is_name_char(c) {
            break;
        }
        start = search_start + index;
    }
    let name = text[start..position].trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
    // These characters are allowed in a name, but more often they precede it: `to=a@b.de`, `{a@b.de}`, `'a@b.de'`.
    let name = &name[name.rfind(['=', '/', '{', '}', '?', '!', '*', '$', '#', '&']).map_or(0, |n| n + 1)..];
    let name = name.trim_start_matches('\'');
    if name.is_empty() || name.len() > 64 || name.ends_with('.') || name.contains("..") {
        return None;
    }
    start = position - name.len();
    let host_end = end_of_host(text, position + 1);
    let host = &text[position + 1..host_end];
    let labels: Vec<&str> = host.split('.').collect();
    let last_label = labels.last()?.to_lowercase();
    let has_letters_only = last_label.chars().all(char::is_alphabetic) || last_label.starts_with("xn--");
    if labels.len() < 2
        || last_label.chars().count() < 2
        || !has_letters_only
        || labels.iter().any(|label| label.is_empty())
    {
        return None;
    }
    let lower = host.to_lowercase();
    let is_sample_host = SAMPLE_HOSTS
        .iter()
        .any(|host| lower == *host || lower.strip_suffix(host).is_some_and(|head| head.ends_with('.')));
    if is_sample_host
        || NON_TOP_LEVEL_DOMAINS.contains(&last_label.as_str())
        || labels[0].starts_with("2x")
        || labels[0].starts_with("3x")
    {
        return None;
    }
    let name = name.to_lowercase();
    if name.starts_with("your") && !name.starts_with("yours")
        || ["git", "hg", "svn"].contains(&name.as_str())
            && bytes.get(host_end).is_some_and(|b| matches!(b, b':' | b'/'))
    {
        return None;
    }
    // `user@host.tld:path` is a path on a server, `//user@host` is part of a URL, and `@user@host` is a social media
    // account.
    let bytes_before = &bytes[..start];
    let is_remote_path = match bytes.get(host_end) {
        Some(b':') => {
            bytes.get(host_end + 1).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'~' | b'.'))
                && !bytes[host_end + 1..].iter().take(6).any(|b| *b == b' ')
        }
        Some(b'/') => true,
        Some(b'@') => true,
        _ => false,
    };
    let is_in_url_or_account = bytes_before.ends_with(b"//")
        || bytes_before.ends_with(b":")
            && bytes_before[..bytes_before.len() - 1]
                .iter()
                .rev()
                .take(64)
                .take_while(|b| b.is_ascii_graphic())
                .any(|b| *b == b'/')
        || bytes_before.ends_with(b"@");
    if is_remote_path || is_in_url_or_account || is_message_id(text, start, host_end) {
        return None;
    }
    Some(Finding { class: Class::Email, detector: "email", start, end: host_end, confidence: Confidence::VeryLikely })
}

/// End of the host that starts at `from`.
fn end_of_host(text: &str, from: usize) -> usize {
    let window = &text[from..text.floor_char_boundary((from + 254).min(text.len()))];
    let is_unspaced = window.chars().next().is_some_and(is_unspaced_script);
    let is_host_char = |c: char| c.is_alphanumeric() && (is_unspaced || !is_unspaced_script(c)) || c == '-' || c == '.';
    let mut host = &window[..window.find(|c| !is_host_char(c)).unwrap_or(window.len())];
    host = host.trim_end_matches(['.', '-']);
    // In `a@b.com.Then`, the space after the full stop is missing; the next sentence is not part of the host.
    if let Some(dot) = host.rfind('.')
        && host[dot + 1..].starts_with(|c: char| c.is_uppercase())
        && host[..dot].contains('.')
        && host[..dot].chars().any(char::is_lowercase)
    {
        host = &host[..dot];
    }
    from + host.len()
}

/// Whether a character is at U+2E80 or above, as in Chinese and Japanese. These scripts have no spaces, so an address
/// may directly follow other letters.
fn is_unspaced_script(c: char) -> bool {
    c as u32 >= 0x2E80
}

/// Whether the value is in a header such as `Message-ID: <…@…>`.
fn is_message_id(text: &str, start: usize, end: usize) -> bool {
    let is_in_angle_brackets = text[..start].ends_with('<') && text[end..].starts_with('>');
    let search_start = text.ceil_char_boundary(start.saturating_sub(40));
    let head = text[search_start..start].to_ascii_lowercase();
    is_in_angle_brackets && ["message-id:", "in-reply-to:", "references:"].iter().any(|header| head.contains(header))
}
