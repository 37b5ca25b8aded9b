//! Which members are bundles? A `manifest.json` with the format's own fields, or the files of one whose manifest is
//! gone.
use super::{
    bundle::{CHECKSUMS, MANIFEST, SIGNATURE, prefix_of},
    kinds::{by_path, vendor_of},
    manifest::Manifest,
};
use crate::{Catalog, Claim, FormatError, Member, Part, Role};
use keepsake_model::{Limits, json::Tree};
use std::collections::BTreeMap;

/// Given path, archive and folder: what one bundle's members share.
type Home<'a> = (usize, Option<usize>, &'a str);

/// Claims one bundle per manifest.
pub(super) fn detect(catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    let mut homes: BTreeMap<Home, (f64, Option<String>, &str)> = BTreeMap::new();
    for member in catalog.members() {
        let Some(prefix) = prefix_of(&member.name) else { continue };
        let home = (member.root, member.archive, prefix);
        if member.file_name() == MANIFEST
            && let Some((confidence, version)) = manifest_says(catalog, member, limits)?
        {
            homes.insert(home, (confidence, version, "manifest.json of a Portable Memory bundle"));
        }
    }
    // A bundle whose manifest was lost is still one: saying so beats not knowing it.
    for member in catalog.members() {
        let Some(prefix) = prefix_of(&member.name) else { continue };
        let rest = &member.name[prefix.len()..];
        if rest.starts_with("items/") && by_path(rest).is_some() {
            let home = (member.root, member.archive, prefix);
            let has = |name: &str| {
                catalog.members().iter().any(|m| {
                    (m.root, m.archive) == (home.0, home.1) && m.name.strip_prefix(prefix).is_some_and(|r| r == name)
                })
            };
            if !homes.contains_key(&home) && has(CHECKSUMS) && !has(MANIFEST) {
                homes.insert(home, (0.9, None, "items and CHECKSUMS of a bundle, without its manifest"));
            }
        }
    }
    let mut claims: BTreeMap<Home, Claim> = BTreeMap::new();
    for member in catalog.members() {
        // The deepest bundle around a member owns it.
        let owner = homes
            .iter()
            .filter(|((root, archive, prefix), _)| {
                (*root, *archive) == (member.root, member.archive) && member.name.starts_with(prefix)
            })
            .max_by_key(|((_, _, prefix), _)| prefix.len());
        let Some((home, (confidence, version, reason))) = owner else { continue };
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
    limits: &Limits,
) -> Result<Option<(f64, Option<String>)>, FormatError> {
    if member.size > limits.side_file_bytes {
        return Ok(None);
    }
    let bytes = catalog.bytes(member, limits.side_file_bytes)?;
    if let Ok(manifest) = Manifest::parse(&bytes, limits.json_depth) {
        return Ok(Some((1.0, Some(manifest.format))));
    }
    // Damaged, but no other format has these fields together: reading it gives the precise error.
    let tree = std::str::from_utf8(&bytes).ok().and_then(|t| Tree::parse(t.trim(), limits.json_depth).ok());
    Ok(match tree {
        Some(tree) => {
            let marks = ["conformanceLevel", "exportMode", "files", "embeddingsIncluded", "schemaVersion"];
            let version = tree.get("format").and_then(Tree::as_str).unwrap_or("unknown").to_owned();
            (marks.iter().filter(|m| tree.get(m).is_some()).count() >= 3).then_some((0.95, Some(version)))
        }
        None => {
            let beside = |name: &str| {
                let prefix = prefix_of(&member.name).unwrap_or_default();
                catalog.members().iter().any(|m| {
                    (m.root, m.archive) == (member.root, member.archive)
                        && m.name.strip_prefix(prefix).is_some_and(|r| r.starts_with(name))
                })
            };
            (beside(CHECKSUMS) && beside("items/")).then(|| (0.9, Some("unknown".into())))
        }
    })
}
