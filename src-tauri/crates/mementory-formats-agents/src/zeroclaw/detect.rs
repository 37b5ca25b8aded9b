//! Detects a home by ZeroClaw's settings file, and a workspace by its database. In both cases, the content of the file
//! must match, not only its name.
use super::database;
use crate::openclaw::files::{self, FileRole};
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_formats_shared::sqlite_rows::Schema;
use mementory_model::Limits;

/// Number of bytes of a settings file that detection reads.
const SETTINGS_HEAD_BYTES: usize = 256 << 10;

/// One claim for each home or workspace.
pub(super) fn claims(catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    let mut out: Vec<Claim> = Vec::new();
    let mut claimed: Vec<(usize, Option<usize>, String)> = Vec::new();
    // Homes, which have settings, are claimed first, so that the workspace inside a home gets no claim of its own.
    for settings in [true, false] {
        for manifest in catalog.members() {
            let folder = manifest.name.rfind('/').map_or("", |at| &manifest.name[..=at]);
            let folder = if settings { folder } else { folder.strip_suffix("memory/").unwrap_or(folder) };
            let is_in_claimed = |(r, a, f): &(usize, Option<usize>, String)| {
                *r == manifest.root && *a == manifest.archive && folder.starts_with(f.as_str())
            };
            if settings && manifest.is_selected_alone() || claimed.iter().any(is_in_claimed) {
                continue;
            }
            let in_folder =
                |m: &&Member| m.root == manifest.root && m.archive == manifest.archive && m.name.starts_with(folder);
            let reason = match settings {
                true if is_settings(catalog, manifest, folder) => {
                    "ZeroClaw's settings beside a workspace or a memory database"
                }
                false if is_database(catalog, manifest) => "a ZeroClaw memory database",
                _ => continue,
            };
            let role = |m: &Member| match files::role(m.name.strip_prefix(folder).unwrap_or(&m.name)) {
                _ if m.id == manifest.id => Role::Manifest,
                FileRole::Junk => Role::Junk,
                FileRole::Profile(_) | FileRole::Memory(_) => Role::Memories,
                _ => Role::Sidecar,
            };
            // If the user selected a single database file, the claim does not include other selected files.
            let is_single_database = manifest.is_selected_alone();
            let parts =
                catalog.members().iter().filter(in_folder).filter(|m| !is_single_database || m.id == manifest.id);
            out.push(Claim {
                version: None,
                confidence: 1.0,
                reason: reason.into(),
                parts: parts.map(|m| Part { member: m.id, role: role(m) }).collect(),
                missing_parts: vec![],
            });
            claimed.push((manifest.root, manifest.archive, folder.to_owned()));
        }
    }
    Ok(out)
}

fn is_settings(catalog: &Catalog, member: &Member, folder: &str) -> bool {
    if member.file_name() != "config.toml" {
        return false;
    }
    let Ok(head) = catalog.head(member, SETTINGS_HEAD_BYTES) else { return false };
    let settings = super::settings::Settings::parse(&String::from_utf8_lossy(&head));
    let is_workspace_file = |m: &Member| {
        let path = m.name.strip_prefix(folder).unwrap_or_default();
        m.root == member.root
            && m.archive == member.archive
            && (path.starts_with("workspace/")
                || database::is_database_name(m.file_name())
                || path == "SOUL.md"
                || path == "IDENTITY.md")
    };
    settings.is_zeroclaw() && catalog.members().iter().any(is_workspace_file)
}

/// True for a database with a table of memories. A file with a name that ZeroClaw uses need not have the column `key`.
fn is_database(catalog: &Catalog, member: &Member) -> bool {
    let Some(schema) = Schema::of(catalog, member) else { return false };
    schema.has_table("memories", &["key", "content", "category"])
        || database::is_database_name(member.file_name()) && schema.has_table("memories", &["content", "category"])
}
