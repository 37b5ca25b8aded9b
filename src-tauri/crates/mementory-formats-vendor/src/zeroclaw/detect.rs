//! A home with ZeroClaw's settings, or a workspace with its database. Both by content.
use super::database;
use crate::openclaw::files::{self, FileRole};
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_model::Limits;

/// Settings larger than this are looked at no further.
const SETTINGS_BYTES: usize = 256 << 10;

/// One claim for each home or workspace.
pub(super) fn claims(catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    let mut out: Vec<Claim> = Vec::new();
    let mut taken: Vec<(usize, Option<usize>, String)> = Vec::new();
    // settings first: a home is more than the workspace in it
    for settings in [true, false] {
        for mark in catalog.members() {
            let folder = mark.name.rfind('/').map_or("", |at| &mark.name[..=at]);
            let folder = if settings { folder } else { folder.strip_suffix("memory/").unwrap_or(folder) };
            let inside = |(r, a, f): &(usize, Option<usize>, String)| {
                *r == mark.root && *a == mark.archive && folder.starts_with(f.as_str())
            };
            let loose = mark.archive.is_none() && mark.place == mark.name && settings;
            if loose || taken.iter().any(inside) {
                continue;
            }
            let own = |m: &&Member| m.root == mark.root && m.archive == mark.archive && m.name.starts_with(folder);
            let reason = match settings {
                true if is_settings(catalog, mark, folder) => {
                    "ZeroClaw's settings beside a workspace or a memory database"
                }
                false if is_database(catalog, mark) => "a ZeroClaw memory database",
                _ => continue,
            };
            let role = |m: &Member| match files::role(m.name.strip_prefix(folder).unwrap_or(&m.name)) {
                _ if m.id == mark.id => Role::Manifest,
                FileRole::Junk => Role::Junk,
                FileRole::Profile(_) | FileRole::Memory(_) => Role::Memories,
                _ => Role::Sidecar,
            };
            // a database that was given alone brings nothing else of the folder it lies in
            let alone = mark.archive.is_none() && mark.place == mark.name;
            let parts = catalog.members().iter().filter(own).filter(|m| !alone || m.id == mark.id);
            out.push(Claim {
                version: None,
                confidence: 1.0,
                reason: reason.into(),
                parts: parts.map(|m| Part { member: m.id, role: role(m) }).collect(),
                missing_parts: vec![],
            });
            taken.push((mark.root, mark.archive, folder.to_owned()));
        }
    }
    Ok(out)
}

fn is_settings(catalog: &Catalog, member: &Member, folder: &str) -> bool {
    if member.file_name() != "config.toml" {
        return false;
    }
    let Ok(head) = catalog.head(member, SETTINGS_BYTES) else { return false };
    let settings = super::read::Settings::parse(&String::from_utf8_lossy(&head));
    let beside = |m: &Member| {
        let path = m.name.strip_prefix(folder).unwrap_or_default();
        m.root == member.root
            && m.archive == member.archive
            && (path.starts_with("workspace/")
                || database::is_named(m.file_name())
                || path == "SOUL.md"
                || path == "IDENTITY.md")
    };
    settings.is_ours() && catalog.members().iter().any(beside)
}

fn is_database(catalog: &Catalog, member: &Member) -> bool {
    let Ok(head) =
        (if database::is_named(member.file_name()) { catalog.head(member, 64 << 10) } else { return false })
    else {
        return false;
    };
    let has = |word: &[u8]| memchr::memmem::find(&head, word).is_some();
    head.starts_with(database::MAGIC) && has(b"memories") && has(b"category") && has(b"content")
}
