//! Which members are bundles? A `manifest.json` with the format's own fields, or the files of one whose manifest is
//! gone.
use super::{
    bundle::{CHECKSUMS, MANIFEST, SIGNATURE, prefix_of},
    kinds::{by_path, vendor_of},
    manifest::Manifest,
};
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_json::Tree;
use mementory_model::Limits;
use std::collections::{BTreeMap, HashSet};

/// Given path, archive and folder: what one bundle's members share. Also a member, with its whole name.
type Home<'a> = (usize, Option<usize>, &'a str);

/// Claims one bundle per manifest.
pub(super) fn detect(catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    let names: HashSet<Home> = catalog.members().iter().map(|m| (m.root, m.archive, m.name.as_str())).collect();
    let beside = |home: Home, name: &str| names.contains(&(home.0, home.1, format!("{}{name}", home.2).as_str()));
    let mut homes: BTreeMap<Home, (f64, Option<String>, &str)> = BTreeMap::new();
    for member in catalog.members() {
        let Some(prefix) = prefix_of(&member.name) else { continue };
        let home = (member.root, member.archive, prefix);
        if member.file_name() == MANIFEST {
            if let Some((confidence, version)) = manifest_says(catalog, member, beside(home, CHECKSUMS), limits)? {
                homes.insert(home, (confidence, version, "manifest.json of a Portable Memory bundle"));
            }
            continue;
        }
        // A bundle whose manifest was lost is still one: saying so beats not knowing it.
        let item = member.name[prefix.len()..].starts_with("items/") && by_path(&member.name[prefix.len()..]).is_some();
        if item && !homes.contains_key(&home) && beside(home, CHECKSUMS) && !beside(home, MANIFEST) {
            homes.insert(home, (0.9, None, "items and CHECKSUMS of a bundle, without its manifest"));
        }
    }
    let mut claims: BTreeMap<Home, Claim> = BTreeMap::new();
    for member in catalog.members() {
        // The deepest bundle around a member owns it.
        let folders = member.name.rmatch_indices('/').map(|(at, _)| &member.name[..=at]).chain([""]);
        let found = folders.map(|f| (member.root, member.archive, f)).find_map(|home| homes.get_key_value(&home));
        let Some((home, (confidence, version, reason))) = found else { continue };
        let claim = claims.entry(*home).or_insert_with(|| Claim {
            version: version.clone(),
            confidence: *confidence,
            reason: (*reason).to_owned(),
            parts: vec![],
            missing_parts: if version.is_none() { vec![MANIFEST.to_owned()] } else { vec![] },
        });
        claim.parts.push(Part { member: member.id, role: role(&member.name[home.2.len()..]) });
    }
    Ok(claims.into_values().collect())
}

fn role(path: &str) -> Role {
    match path {
        MANIFEST | CHECKSUMS | SIGNATURE => Role::Manifest,
        _ if by_path(path).is_some() || vendor_of(path).is_some() => Role::Records,
        _ if path.ends_with(".DS_Store") || path.starts_with("__MACOSX/") => Role::Junk,
        _ => Role::Sidecar,
    }
}

/// Confidence and version, when the manifest is one of this format.
fn manifest_says(
    catalog: &Catalog,
    member: &Member,
    has_checksums: bool,
    limits: &Limits,
) -> Result<Option<(f64, Option<String>)>, FormatError> {
    if member.size > limits.side_file_bytes {
        return Ok(None);
    }
    let bytes = match catalog.bytes(member, limits.side_file_bytes) {
        // Cut off or damaged: reading it says so, and what else was dropped is not held up by it.
        Err(FormatError::Io { .. }) => return Ok(has_checksums.then(|| (0.9, Some("unknown".into())))),
        other => other?,
    };
    if let Ok(manifest) = Manifest::parse(&bytes, limits) {
        return Ok(Some((1.0, Some(manifest.format))));
    }
    // Damaged, but no other format has these fields together: reading it gives the precise error.
    let tree = std::str::from_utf8(&bytes).ok().and_then(|t| Tree::parse(t.trim(), limits).ok());
    Ok(match tree {
        Some(tree) => {
            let marks = ["conformanceLevel", "exportMode", "files", "embeddingsIncluded", "schemaVersion"];
            let version = tree.get("format").and_then(Tree::as_str).unwrap_or("unknown").to_owned();
            (marks.iter().filter(|m| tree.get(m).is_some()).count() >= 3).then_some((0.95, Some(version)))
        }
        None => has_checksums.then(|| (0.9, Some("unknown".into()))),
    })
}
