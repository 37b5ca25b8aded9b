//! Detects bundles by a `manifest.json` with the format's fields, or by their record files and `CHECKSUMS`.
use super::{
    bundle::{CHECKSUMS_FILE, MANIFEST_FILE, SIGNATURE_FILE, prefix_of},
    kinds::{kind_at_path, vendor_kind_at_path},
    manifest::Manifest,
};
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_json::Tree;
use mementory_model::Limits;
use std::collections::{BTreeMap, HashSet};

/// Location of a bundle or file: index of the input path, index of the archive (if any), and the bundle's folder or the
/// file's full name.
type BundleLocation<'a> = (usize, Option<usize>, &'a str);

/// Claims one bundle for each manifest.
pub(super) fn detect(catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    let names: HashSet<BundleLocation> =
        catalog.members().iter().map(|m| (m.root, m.archive, m.name.as_str())).collect();
    let exists_in = |location: BundleLocation, name: &str| {
        names.contains(&(location.0, location.1, format!("{}{name}", location.2).as_str()))
    };
    let bundles_with_records: HashSet<BundleLocation> =
        catalog.members().iter().filter_map(location_of_records).collect();
    let files_beside = |location: BundleLocation| FilesBesideManifest {
        has_checksums: exists_in(location, CHECKSUMS_FILE),
        has_records: bundles_with_records.contains(&location),
    };
    let mut bundles: BTreeMap<BundleLocation, (f64, Option<String>, &str)> = BTreeMap::new();
    for member in catalog.members() {
        let Some(prefix) = prefix_of(&member.name) else { continue };
        let location = (member.root, member.archive, prefix);
        if member.file_name() == MANIFEST_FILE {
            if let Some((confidence, version)) = recognize_manifest(catalog, member, &files_beside(location), limits)? {
                bundles.insert(location, (confidence, version, "manifest.json of a Portable Memory bundle"));
            }
            continue;
        }
        // A bundle without its manifest is claimed too, and the claim lists the manifest as missing.
        let is_record_file =
            member.name[prefix.len()..].starts_with("items/") && kind_at_path(&member.name[prefix.len()..]).is_some();
        if is_record_file
            && !bundles.contains_key(&location)
            && exists_in(location, CHECKSUMS_FILE)
            && !exists_in(location, MANIFEST_FILE)
        {
            bundles.insert(location, (0.9, None, "items and CHECKSUMS of a bundle, without its manifest"));
        }
    }
    let mut claims: BTreeMap<BundleLocation, Claim> = BTreeMap::new();
    for member in catalog.members() {
        // A member belongs to the innermost bundle that contains it.
        let folders = member.name.rmatch_indices('/').map(|(at, _)| &member.name[..=at]).chain([""]);
        let innermost_bundle =
            folders.map(|f| (member.root, member.archive, f)).find_map(|location| bundles.get_key_value(&location));
        let Some((location, (confidence, version, reason))) = innermost_bundle else { continue };
        let claim = claims.entry(*location).or_insert_with(|| Claim {
            version: version.clone(),
            confidence: *confidence,
            reason: (*reason).to_owned(),
            parts: vec![],
            missing_parts: if version.is_none() { vec![MANIFEST_FILE.to_owned()] } else { vec![] },
        });
        claim.parts.push(Part { member: member.id, role: role(&member.name[location.2.len()..]) });
    }
    Ok(claims.into_values().collect())
}

/// Files next to a manifest that make its detection more certain.
struct FilesBesideManifest {
    has_checksums: bool,
    /// True if a file in `items/` is named after a kind that the format defines.
    has_records: bool,
}

/// Location of the bundle that a record file belongs to. None for any other file.
fn location_of_records(member: &Member) -> Option<BundleLocation<'_>> {
    let prefix = prefix_of(&member.name)?;
    let path = &member.name[prefix.len()..];
    (path.starts_with("items/") && kind_at_path(path).is_some()).then_some((member.root, member.archive, prefix))
}

fn role(path: &str) -> Role {
    match path {
        MANIFEST_FILE | CHECKSUMS_FILE | SIGNATURE_FILE => Role::Manifest,
        _ if kind_at_path(path).is_some() || vendor_kind_at_path(path).is_some() => Role::Records,
        _ if path.ends_with(".DS_Store") || path.starts_with("__MACOSX/") => Role::Junk,
        _ => Role::Sidecar,
    }
}

/// Confidence and version if the manifest is of this format.
fn recognize_manifest(
    catalog: &Catalog,
    member: &Member,
    beside: &FilesBesideManifest,
    limits: &Limits,
) -> Result<Option<(f64, Option<String>)>, FormatError> {
    if member.size > limits.side_file_bytes {
        return Ok(None);
    }
    let bytes = match catalog.bytes(member, limits.side_file_bytes) {
        // A damaged file must not fail the detection of other inputs. The reader reports the damage.
        Err(FormatError::Io { .. }) => return Ok(beside.has_checksums.then(|| (0.9, Some("unknown".into())))),
        other => other?,
    };
    if let Ok(manifest) = Manifest::parse(&bytes, limits) {
        return Ok(Some((1.0, Some(manifest.format))));
    }
    // The manifest is invalid, but no other format has these fields together. The reader reports the exact error.
    let tree = std::str::from_utf8(&bytes).ok().and_then(|t| Tree::parse(t.trim(), limits).ok());
    Ok(match tree {
        Some(tree) => {
            let known_fields = ["conformanceLevel", "exportMode", "files", "embeddingsIncluded", "schemaVersion"];
            let version = tree.get("format").and_then(Tree::as_str).unwrap_or("unknown").to_owned();
            match known_fields.iter().filter(|m| tree.get(m).is_some()).count() {
                3.. => Some((0.95, Some(version))),
                _ => (beside.has_checksums && beside.has_records).then_some((0.9, Some(version))),
            }
        }
        None => beside.has_checksums.then(|| (0.9, Some("unknown".into()))),
    })
}
