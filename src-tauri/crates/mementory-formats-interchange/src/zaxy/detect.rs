//! Detects bundles by the version strings of the format, anywhere in the first bytes of the file.
use mementory_format::{Catalog, Claim, FormatError, Part, Role, json_keys};
use mementory_model::Limits;

/// Number of bytes at the start of a file that are examined.
const HEAD_BYTES: usize = 64 << 10;

/// Claims each bundle separately.
pub(super) fn detect(catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    let _ = limits;
    let mut claims = Vec::new();
    for member in catalog.members() {
        let name = member.file_name().to_ascii_lowercase();
        if name.ends_with(".jsonl") || name.ends_with(".ndjson") {
            continue;
        }
        let Some(keys) = json_keys(catalog, member)? else { continue };
        let list = ["entries", "disclosed"].into_iter().find(|l| keys.has(l));
        if list.is_none() && !keys.has("version") {
            continue;
        }
        let head = catalog.head(member, HEAD_BYTES)?;
        let contains = |marker: &str| memchr::memmem::find(&head, marker.as_bytes()).is_some();
        let (version, reason) = if contains("\"zaxy.export.unsigned.") {
            (Some(version_string(&head, "zaxy.export.unsigned.")), "an unsigned Zaxy bundle")
        } else if contains("\"zaxy.portable.") {
            let is_subset = keys.has("disclosed");
            let reason = if is_subset { "a disclosed part of a Zaxy bundle" } else { "a signed Zaxy bundle" };
            (Some(version_string(&head, "zaxy.portable.")), reason)
        } else if list.is_some() && contains("\"zaxy.export.") && keys.has_at_any_level("schema_version") {
            // The version of the bundle comes after the entries, outside the examined bytes.
            (None, "Zaxy entries in a bundle")
        } else {
            continue;
        };
        claims.push(Claim {
            confidence: if version.is_some() { 1.0 } else { 0.95 },
            version,
            reason: reason.to_owned(),
            parts: vec![Part { member: member.id, role: Role::Records }],
            missing_parts: vec![],
        });
    }
    Ok(claims)
}

/// The version string that starts with `prefix`.
fn version_string(head: &[u8], prefix: &str) -> String {
    let at = memchr::memmem::find(head, prefix.as_bytes()).unwrap_or_default();
    let from_version = &head[at..];
    let end = from_version.iter().take(64).position(|b| *b == b'"').unwrap_or(prefix.len());
    String::from_utf8_lossy(&from_version[..end]).into_owned()
}
