//! Detects logs: the first line that is JSON must have the fields of an event, including the hash of the event.
use crate::zaxy::log_event::{EventVersion, version_of};
use mementory_format::{Catalog, Claim, FormatError, Part, Role};
use mementory_json::Tree;
use mementory_model::Limits;

/// Number of bytes at the start of a file that are examined. The payload of an event is at most 1 MiB.
const HEAD_BYTES: usize = 2 << 20;
/// Number of lines that are examined until one of them can be parsed.
const MAX_LINES: usize = 16;
const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";

/// Claims each log separately.
pub(super) fn detect(catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    let mut claims = Vec::new();
    for member in catalog.members() {
        let start = catalog.head(member, 4096)?;
        let start = start.strip_prefix(UTF8_BOM).unwrap_or(&start);
        let member_names = [&b"\"integrity\""[..], b"\"prev_hash\"", b"\"threadId\"", b"\"actor\""];
        let is_plausible = start.trim_ascii_start().starts_with(b"{")
            && member_names.iter().any(|m| memchr::memmem::find(start, m).is_some());
        if !is_plausible {
            continue;
        }
        let head = catalog.head(member, HEAD_BYTES)?;
        let lines = head.strip_prefix(UTF8_BOM).unwrap_or(&head).split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
        // A damaged line must not hide the events after it.
        let tree = lines.filter(|line| !line.is_empty()).take(MAX_LINES).find_map(|line| {
            let text = std::str::from_utf8(line).ok()?;
            Tree::parse(text, limits.json_depth).ok()
        });
        let (version, reason) = match tree.as_ref().and_then(version_of) {
            Some(EventVersion::V1) => ("eventloom.v1", "an Eventloom log"),
            Some(EventVersion::Legacy) => ("zaxy.legacy", "an Eventloom log in Zaxy's older form"),
            None => continue,
        };
        claims.push(Claim {
            version: Some(version.to_owned()),
            confidence: 1.0,
            reason: reason.to_owned(),
            parts: vec![Part { member: member.id, role: Role::Records }],
            missing_parts: vec![],
        });
    }
    Ok(claims)
}
