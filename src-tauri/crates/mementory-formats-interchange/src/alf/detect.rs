//! Detects ALF archives by their content: a ZIP with a top-level `manifest.json` that has `alf_version`.
use super::manifest::{DELTA, MANIFEST};
use super::wire;
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_model::Limits;

/// Size limit of a manifest in bytes. A larger one is not read for detection.
const MANIFEST_BYTES: u64 = 4 << 20;

/// Name of the manifest of a delta bundle in the reference tool. The specification calls it [`MANIFEST`].
pub(super) const DELTA_MANIFEST: &str = "delta-manifest.json";

/// Claims each agent archive. Delta bundles (`changes`, no `layers`) belong to the format `alf_delta`.
pub(super) fn detect(catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    Ok(detect_any(catalog, limits)?.into_iter().filter(|c| c.version.as_deref() != Some(DELTA)).collect())
}

/// Claims each delta bundle.
pub(super) fn detect_deltas(catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    Ok(detect_any(catalog, limits)?.into_iter().filter(|c| c.version.as_deref() == Some(DELTA)).collect())
}

/// Claims agent archives and delta bundles, so that opening a delta as an `.alf` can be refused with an explanation.
pub(super) fn detect_any(catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    let mut claims = Vec::new();
    let named = |m: &&Member| m.archive.is_some() && matches!(m.name.as_str(), MANIFEST | DELTA_MANIFEST);
    for manifest in catalog.members().iter().filter(named) {
        let Some(version) = version_of(catalog, manifest, limits) else { continue };
        let delta = version == DELTA;
        // A bundle may have the manifest under both names.
        if claims.iter().any(|c: &Claim| c.parts.iter().any(|p| p.member == manifest.id)) {
            continue;
        }
        let inside = |m: &&Member| m.archive == manifest.archive && m.root == manifest.root;
        let above = manifest.place.strip_suffix(&manifest.name).unwrap_or(&manifest.place);
        let prefix = format!("{}!/", above.trim_end_matches("!/"));
        let parts = catalog
            .members()
            .iter()
            .filter(|m| inside(m) || m.place.starts_with(&prefix))
            .map(|m| Part { member: m.id, role: if m.id == manifest.id { Role::Manifest } else { role(&m.name) } })
            .collect();
        claims.push(Claim {
            version: Some(version),
            confidence: 1.0,
            reason: if delta {
                "an .alf-delta bundle: changes, not a whole agent"
            } else {
                "manifest.json with alf_version"
            }
            .into(),
            parts,
            missing_parts: if delta { vec![] } else { missing(catalog, manifest, limits) },
        });
    }
    Ok(claims)
}

fn version_of(catalog: &Catalog, manifest: &Member, limits: &Limits) -> Option<String> {
    let bytes = catalog.bytes(manifest, MANIFEST_BYTES.min(limits.side_file_bytes)).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let members = wire::members(text.strip_prefix('\u{feff}').unwrap_or(text))?;
    let delta = wire::get(&members, "changes").is_some() && wire::get(&members, "layers").is_none();
    let version = wire::get(&members, "alf_version").and_then(wire::string)?;
    match (delta, manifest.name == MANIFEST) {
        (true, _) => Some(DELTA.into()),
        (false, true) => Some(version.into_owned()),
        (false, false) => None,
    }
}

fn missing(catalog: &Catalog, manifest: &Member, limits: &Limits) -> Vec<String> {
    let Ok(bytes) = catalog.bytes(manifest, MANIFEST_BYTES.min(limits.side_file_bytes)) else { return vec![] };
    let text = String::from_utf8_lossy(&bytes);
    let Ok(parsed) = super::manifest::Manifest::parse(&text, &manifest.place, limits) else { return vec![] };
    let present = |name: &str| {
        catalog.members().iter().any(|m| m.archive == manifest.archive && m.root == manifest.root && m.name == name)
    };
    parsed.named_files().into_iter().filter(|name| !present(name)).map(str::to_owned).collect()
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
