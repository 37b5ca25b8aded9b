//! Detects ALF archives by their content: a ZIP with a top-level `manifest.json` that has `alf_version`. An archive
//! without a readable manifest is detected by its other entries.
use super::manifest::{DELTA_CLAIM_VERSION, DELTA_MANIFEST_FILE, MANIFEST_FILE, archive_place};
use super::wire;
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role, is_unreadable_entry};
use mementory_model::{Limits, is_damage};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashSet};

/// Size limit of a manifest in bytes. A larger one is not read for detection.
const MAX_MANIFEST_BYTES: u64 = 4 << 20;

/// Claims each agent archive. A manifest with `changes` and without a layer belongs to a delta bundle, which has its own
/// format, `alf_delta`.
pub(super) fn detect(catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    Ok(detect_any(catalog, limits)?.into_iter().filter(|c| c.version.as_deref() != Some(DELTA_CLAIM_VERSION)).collect())
}

/// Claims each delta bundle.
pub(super) fn detect_deltas(catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    Ok(detect_any(catalog, limits)?.into_iter().filter(|c| c.version.as_deref() == Some(DELTA_CLAIM_VERSION)).collect())
}

/// Claims agent archives and delta bundles. Called for a file that the user opens as an `.alf`, so that a delta is
/// refused with the reason.
pub(super) fn detect_any(catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    let mut claims = claim_damaged_archives(catalog);
    let named = |name: &'static str| {
        catalog.members().iter().filter(move |member| member.archive.is_some() && member.name == name)
    };
    // If an archive has manifests under both names, `manifest.json` decides what the archive is, in whatever order they
    // are stored.
    for manifest in named(MANIFEST_FILE).chain(named(DELTA_MANIFEST_FILE)) {
        let Some(version) = version_of(catalog, manifest, limits) else { continue };
        let is_delta = version == DELTA_CLAIM_VERSION;
        // Skips damaged archives, which were claimed above, and the second manifest of a bundle that has manifests
        // under both names.
        if claims.iter().any(|c: &Claim| c.parts.iter().any(|p| p.member == manifest.id)) {
            continue;
        }
        let parts = parts_with(catalog, manifest);
        claims.push(Claim {
            version: Some(version).filter(|version| !version.is_empty()),
            confidence: 1.0,
            reason: if is_delta {
                "an .alf-delta bundle: changes, not a whole agent"
            } else {
                "manifest.json with alf_version"
            }
            .into(),
            parts,
            missing_parts: if is_delta { vec![] } else { absent_files(catalog, manifest, limits) },
        });
    }
    Ok(claims)
}

/// All members of the archive with this manifest, and of archives nested in it, with their roles.
fn parts_with(catalog: &Catalog, manifest: &Member) -> Vec<Part> {
    let is_inside = |m: &&Member| m.archive == manifest.archive && m.root == manifest.root;
    let archive_prefix = manifest.place.strip_suffix(&manifest.name).unwrap_or(&manifest.place);
    let prefix = format!("{}!/", archive_prefix.trim_end_matches("!/"));
    let members = catalog.members().iter().filter(|m| is_inside(m) || m.place.starts_with(&prefix));
    let is_manifest = |m: &Member| is_inside(&m) && matches!(m.name.as_str(), MANIFEST_FILE | DELTA_MANIFEST_FILE);
    members.map(|m| Part { member: m.id, role: if is_manifest(m) { Role::Manifest } else { role(&m.name) } }).collect()
}

/// Claims archives with a missing or damaged manifest, if their other entries show that they are of this format.
/// Without such a claim, other formats would claim some of the entries, and the remaining entries would be lost
/// silently.
fn claim_damaged_archives(catalog: &Catalog) -> Vec<Claim> {
    let mut archives: BTreeMap<(usize, usize), Layout<'_>> = BTreeMap::new();
    for member in catalog.members() {
        let Some(archive) = member.archive else { continue };
        archives.entry((member.root, archive)).or_default().add(catalog, member);
    }
    let damaged_claims = archives.into_values().filter_map(|layout| {
        let (damaged_member, reason) = layout.damage()?;
        Some(Claim {
            version: layout.is_delta.then(|| DELTA_CLAIM_VERSION.into()),
            confidence: 1.0,
            reason: reason.into(),
            parts: parts_with(catalog, damaged_member),
            missing_parts: if layout.manifest.is_none() { vec![MANIFEST_FILE.to_owned()] } else { vec![] },
        })
    });
    damaged_claims.collect()
}

/// Properties of an archive by which it is recognised if its manifest cannot be read.
#[derive(Default)]
struct Layout<'c> {
    /// The manifest, and true if it is damaged.
    manifest: Option<(&'c Member, bool)>,
    /// True if the archive has a manifest that is encrypted or compressed by a method that we do not support.
    has_unreadable_manifest: bool,
    /// True if the readable start of the manifest contains `alf_version`.
    has_alf_version: bool,
    /// Number of layer documents.
    documents: u32,
    /// Number of files with memory lines.
    partitions: u32,
    /// True if there are raw files of a runtime (under `raw/`).
    has_raw_files: bool,
    is_delta: bool,
    first_member: Option<&'c Member>,
    /// A manifest inside a folder, although the specification requires it at the top level.
    in_folder: Option<&'c Member>,
}

fn is_object(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).ok();
    text.is_some_and(|text| wire::members(text.strip_prefix('\u{feff}').unwrap_or(text)).is_some())
}

impl<'c> Layout<'c> {
    fn add(&mut self, catalog: &Catalog, member: &'c Member) {
        if self.first_member.is_none() {
            self.first_member = Some(member);
            let manifests =
                [MANIFEST_FILE, DELTA_MANIFEST_FILE].map(|name| format!("{}!/{name}", archive_place(member)));
            let mut unreadable = catalog.issues().iter().filter(|issue| is_unreadable_entry(issue));
            self.has_unreadable_manifest = unreadable.any(|issue| manifests.contains(&issue.place));
        }
        match member.name.as_str() {
            name @ (MANIFEST_FILE | DELTA_MANIFEST_FILE) => {
                let is_damaged = match catalog.bytes(member, MAX_MANIFEST_BYTES) {
                    Ok(bytes) => !is_object(&bytes),
                    Err(FormatError::Io { source, .. }) => is_damage(&source),
                    Err(_) => false,
                };
                self.manifest = Some((member, is_damaged));
                let head = catalog.head(member, MAX_MANIFEST_BYTES as usize).unwrap_or_default();
                let has = |word: &[u8]| memchr::memmem::find(&head, word).is_some();
                self.has_alf_version |= has(b"\"alf_version\"");
                self.is_delta |= name == DELTA_MANIFEST_FILE || has(b"\"base_sequence\"");
            }
            "identity.json" | "principals.json" | "credentials.json" | "attachments.json" | "memory/index.json" => {
                self.documents += 1;
            }
            "memory/delta.jsonl" => {
                self.partitions += 1;
                self.is_delta = true;
            }
            name if name.starts_with("memory/") && name.ends_with(".jsonl") => self.partitions += 1,
            name if name.starts_with("raw/") => self.has_raw_files = true,
            name if name.split_once('/').is_some_and(|(_, rest)| rest == MANIFEST_FILE) => {
                let bytes = catalog.bytes(member, MAX_MANIFEST_BYTES).unwrap_or_default();
                if is_object(&bytes) && memchr::memmem::find(&bytes, b"\"alf_version\"").is_some() {
                    self.in_folder = Some(member);
                }
            }
            _ => {}
        }
    }

    /// The manifest of a damaged ALF archive, or its first member if it has no manifest, and the reason for the claim.
    /// None if the archive is intact or not recognised.
    fn damage(&self) -> Option<(&'c Member, &'static str)> {
        let layers = self.documents + self.partitions.min(1) + u32::from(self.has_raw_files);
        match self.manifest {
            Some((manifest, true)) if self.has_alf_version || layers >= 1 => {
                Some((manifest, "a damaged .alf: its manifest.json cannot be read"))
            }
            // If there are two manifests, `self.manifest` is the last one, but `has_alf_version` covers both.
            Some((manifest, false)) if !self.has_alf_version && layers >= 2 && self.partitions > 0 => {
                Some((manifest, "the files of an .alf, with another manifest.json"))
            }
            None if layers >= 1 && self.has_unreadable_manifest => {
                Some((self.first_member?, "the files of an .alf whose manifest.json cannot be read"))
            }
            None if layers >= 2 && self.partitions > 0 => {
                Some((self.first_member?, "the files of an .alf without its manifest.json"))
            }
            None => Some((self.in_folder?, "an .alf whose files are in a folder of the archive")),
            _ => None,
        }
    }
}

fn version_of(catalog: &Catalog, manifest: &Member, limits: &Limits) -> Option<String> {
    let bytes = catalog.bytes(manifest, MAX_MANIFEST_BYTES.min(limits.side_file_bytes)).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let members = wire::members(text.strip_prefix('\u{feff}').unwrap_or(text))?;
    let has_base = || wire::get(&members, "sync").is_some_and(|sync| sync.get().contains("\"base_sequence\""));
    // An empty `layers` is ignored, because a delta with it would otherwise be read as an archive without content.
    let is_empty =
        |layers: &RawValue| layers.get() == "null" || wire::members(layers.get()).is_some_and(|m| m.0.is_empty());
    let has_layers = wire::get(&members, "layers").is_some_and(|layers| !is_empty(layers));
    let is_delta = !has_layers && (wire::get(&members, "changes").is_some() || has_base());
    let version = wire::get(&members, "alf_version").and_then(wire::string);
    let has = |key: &str| wire::get(&members, key).is_some_and(|value| value.get().starts_with('{'));
    // A manifest without a version is recognised by its other members, so that it is reported instead of being read as
    // another format.
    let is_versionless = version.is_none() && has("agent") && (has("layers") || has("sync"));
    match (is_delta, manifest.name == MANIFEST_FILE) {
        _ if version.is_none() && !is_versionless => None,
        (true, _) => Some(DELTA_CLAIM_VERSION.into()),
        (false, true) => Some(version.unwrap_or_default().into_owned()),
        (false, false) => None,
    }
}

fn absent_files(catalog: &Catalog, manifest: &Member, limits: &Limits) -> Vec<String> {
    let Ok(bytes) = catalog.bytes(manifest, MAX_MANIFEST_BYTES.min(limits.side_file_bytes)) else { return vec![] };
    let text = String::from_utf8_lossy(&bytes);
    let Ok(parsed) = super::manifest::Manifest::parse(&text, &manifest.place, limits) else { return vec![] };
    let neighbours = catalog.members().iter().filter(|m| m.archive == manifest.archive && m.root == manifest.root);
    let present: HashSet<&str> = neighbours.map(|m| m.name.as_str()).collect();
    parsed.named_files().into_iter().filter(|name| !present.contains(name)).map(str::to_owned).collect()
}

fn role(name: &str) -> Role {
    if name.starts_with("artifacts/") {
        Role::Attachment
    } else if name.starts_with("memory/") && name.ends_with(".jsonl") {
        Role::Records
    } else {
        Role::Sidecar
    }
}
