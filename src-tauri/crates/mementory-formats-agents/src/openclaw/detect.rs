//! Detects a workspace by files that only OpenClaw and similar runtimes have. `AGENTS.md` alone is not enough, because
//! any coding project may contain it.
use super::files::{self, FileRole};
use super::marks;
use crate::agent_rules::is_of_hermes;
use mementory_format::{Catalog, Claim, Detected, Member, Part, Role};
use mementory_model::Limits;
use std::collections::{BTreeMap, HashSet};

/// Location of a workspace in a catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Common prefix of the names of the files in the workspace. It is empty, or ends with `/`.
    pub prefix: String,
    /// Name of the folder, which identifies the workspace if no file states an id.
    pub name: String,
}

impl Root {
    /// The workspace of a claim: the folder of the claim's manifest file, or its parent if the manifest file is in
    /// `memory/`.
    pub fn of_claim(catalog: &Catalog, detected: &Detected) -> Self {
        let manifest = detected.claim.parts.iter().find(|p| p.role == Role::Manifest);
        let member = manifest.or_else(|| detected.claim.parts.first()).and_then(|p| catalog.members().get(p.member));
        let Some(member) = member else { return Self { prefix: String::new(), name: String::new() } };
        let mut prefix = marks::folder_of(&member.name).to_owned();
        if prefix.ends_with("memory/") {
            prefix.truncate(prefix.len() - "memory/".len());
        }
        Self { name: workspace_name(catalog, member, &prefix), prefix }
    }

    /// Path of a member inside the workspace.
    pub fn path<'m>(&self, member: &'m Member) -> Option<&'m str> {
        member.name.strip_prefix(self.prefix.as_str()).filter(|p| !p.is_empty())
    }
}

fn workspace_name(catalog: &Catalog, member: &Member, prefix: &str) -> String {
    let folder = prefix.trim_end_matches('/').rsplit('/').next().filter(|n| !n.is_empty());
    let root_name = catalog.roots().get(member.root).map(String::as_str);
    folder.or(root_name).unwrap_or("workspace").to_owned()
}

/// The files of a claim except bookkeeping files, in the order of the catalog.
pub fn claimed_files<'c>(catalog: &'c Catalog, detected: &Detected, root: &Root) -> Vec<&'c Member> {
    let members =
        detected.claim.parts.iter().filter(|p| p.role != Role::Junk).filter_map(|p| catalog.members().get(p.member));
    members.filter(|m| root.path(m).is_some()).collect()
}

/// One claim for each workspace. If the user chose this format (`is_selected`), any folder of Markdown files is
/// accepted.
pub(super) fn claims(catalog: &Catalog, _limits: &Limits, is_selected: bool) -> Vec<Claim> {
    let mut candidates: BTreeMap<(usize, Option<usize>, &str), Vec<&Member>> = BTreeMap::new();
    for member in catalog.members() {
        let name = member.file_name();
        let is_known_name =
            files::PROFILES.iter().any(|(n, _)| *n == name) || matches!(name, "MEMORY.md" | files::AGENT_ID_FILE);
        let path = format!("memory/{name}");
        let is_daily_note = marks::folder_of(&member.name).ends_with("memory/")
            && (files::date_of(&path).is_some() || files::session_day(&path).is_some());
        if is_known_name || is_daily_note || (is_selected && name.to_ascii_lowercase().ends_with(".md")) {
            let folder = marks::folder_of(&member.name);
            let folder = if is_daily_note { folder.strip_suffix("memory/").unwrap_or(folder) } else { folder };
            candidates.entry((member.root, member.archive, folder)).or_default().push(member);
        }
    }
    let memory_folders = marks::memory_folders(catalog);
    let mixed_folders = if memory_folders.is_empty() { HashSet::new() } else { mixed_folders(catalog) };
    let mut out: Vec<Claim> = Vec::new();
    let mut claimed: Vec<(usize, Option<usize>, String)> = Vec::new();
    for ((root, archive, folder), found) in candidates {
        let is_in_claimed =
            |(r, a, f): &(usize, Option<usize>, String)| *r == root && *a == archive && folder.starts_with(f.as_str());
        if claimed.iter().any(is_in_claimed) || found.iter().any(|m| m.is_selected_alone()) {
            continue; // a single file, or part of a workspace that is already claimed
        }
        let has = |name: &str| found.iter().any(|m| m.file_name() == name);
        let is_certain = has("SOUL.md") || has(files::AGENT_ID_FILE);
        let is_likely = has("IDENTITY.md") && (has("AGENTS.md") || has("USER.md"))
            || has("MEMORY.md") && found.iter().any(|m| marks::folder_of(&m.name) != folder); // daily notes in a subfolder
        let is_likely = is_likely || !is_certain && marks::has_marked_files(catalog, &found, folder, &memory_folders);
        let is_likely = is_likely
            || has("MEMORY.md")
                && memory_folders.contains(&(root, archive, folder))
                && !mixed_folders.contains(&(root, archive, folder));
        if !(is_certain || is_likely || is_selected) {
            continue;
        }
        let manifest = found.iter().find(|m| marks::folder_of(&m.name) == folder).or(found.first());
        let Some(manifest) = manifest.map(|m| m.id) else { continue };
        let is_inside = |m: &&Member| m.root == root && m.archive == archive && m.name.starts_with(folder);
        let parts = catalog
            .members()
            .iter()
            .filter(is_inside)
            // The home of Hermes Agent has a `SOUL.md` too, but its memories are read by another format.
            .filter(|m| m.id == manifest || !is_of_hermes(catalog, m))
            .map(|m| Part { member: m.id, role: part_role(m, folder, manifest) })
            .collect();
        out.push(Claim {
            version: None,
            confidence: if is_certain || is_likely { 0.9 } else { 0.5 },
            reason: "a workspace of Markdown files with an agent's identity, its notes or its person".into(),
            parts,
            missing_parts: vec![],
        });
        claimed.push((root, archive, folder.to_owned()));
    }
    out
}

/// The folders that contain files other than Markdown, at any depth. Such a folder may be a software project, which can
/// also have a `MEMORY.md` and a folder `memory`.
fn mixed_folders(catalog: &Catalog) -> HashSet<marks::Folder<'_>> {
    let is_note = |name: &str| name.starts_with('.') || name.to_ascii_lowercase().ends_with(".md");
    let mut out = HashSet::new();
    for member in catalog.members().iter().filter(|member| !is_note(member.file_name())) {
        let mut folder = marks::folder_of(&member.name);
        // If a folder is already in the set, the folders that contain it are too.
        while out.insert((member.root, member.archive, folder)) && !folder.is_empty() {
            folder = marks::folder_of(folder.trim_end_matches('/'));
        }
    }
    out
}

fn part_role(member: &Member, folder: &str, manifest: usize) -> Role {
    match files::role(member.name.strip_prefix(folder).unwrap_or(&member.name)) {
        _ if member.id == manifest => Role::Manifest,
        FileRole::Junk => Role::Junk,
        FileRole::Profile(_) | FileRole::Memory(_) => Role::Memories,
        _ => Role::Sidecar,
    }
}
