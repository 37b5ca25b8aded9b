//! Writes an Evidence Pack (spec v1.1 §6): proof of deletion, the audit trail, and the sources of derived records,
//! packaged like a bundle. A pack contains ids, times and reasons, never the content of records.
//!
//! The input is plain data, because formats have access neither to the vault nor to its keys. [`provenance`] collects
//! the edges from the record source of an export, so that the ids match those in exported bundles.
pub use super::evidence_pack::{
    AUDIT_CHAIN_FILE, AuditEntry, EvidencePack, ProvenanceEdge, RECEIPTS_FILE, SelectedParts, TRANSFERS_FILE,
};
use super::{
    bundle::PROVENANCE_FILE,
    delta::whole_second,
    howto_text::{self, HOWTO_FILE, PUBLIC_KEY_FILE},
    kinds::{AUDIT_LOG_FILE, AUDIT_LOG_SPEC, KindSpec, TOMBSTONES_FILE, kind_named},
    line_encoder::{id_prefix, patch, skeleton, target_id},
    manifest::{FileEntry, Manifest},
    output_target::OutputTarget,
    read::spec_of,
    sign,
    to_record::{KEY_SCOPE, to_record},
    tombstones,
    wire::{decode, line, list, text, texts, time_of},
};
use mementory_format::{FormatError, RecordSource, Signer, StoredRecord};
use mementory_json::Tree;
use mementory_model::{Kind, Limits, Timestamp};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// Capabilities declared by a pack with all parts.
const PACK_CAPABILITIES: [&str; 4] = ["evidence-pack", "proof-of-deletion", "audit", "provenance"];
/// Confidence of a derivation edge if the derived record has no confidence.
const DEFAULT_CONFIDENCE: f64 = 0.7;

/// The result of writing a pack: counts of the written lines, and the digest of the pack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvidenceReport {
    /// Number of tombstones.
    pub tombstones: u64,
    /// Number of audit entries.
    pub audit_entries: u64,
    /// Number of provenance edges.
    pub provenance_edges: u64,
    /// Value of `bundleDigest` in the manifest.
    pub digest: String,
    /// True if the manifest and every tombstone of this vault are signed.
    pub signed: bool,
}

/// Writes a pack to `out`: an archive if the name ends in `.zip`, otherwise a folder. `out` must not exist yet.
///
/// # Errors
/// Errors of the file system and of the signer; `malformed` if a confidence is not a number.
pub fn write(pack: &EvidencePack, out: &Path, signer: Option<&dyn Signer>) -> Result<EvidenceReport, FormatError> {
    let depth = Limits::default().json_depth;
    let since = pack.since.map(whole_second);
    let until = pack.until;
    let in_period = |at: Timestamp| since.is_none_or(|since| at >= since) && until.is_none_or(|until| at <= until);
    let SelectedParts { tombstones: include_tombstones, audit_trail, howto: include_howto } = pack.selected;
    let mut lines_by_path: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut seen_ids = BTreeSet::new();
    for tombstone in pack.tombstones.iter().filter(|t| include_tombstones && in_period(t.at)) {
        if seen_ids.insert(tombstone.id.as_str()) {
            let line = tombstones::to_line(tombstone, depth);
            let line = match signer.filter(|_| tombstones::needs_our_signature(tombstone)) {
                Some(signer) => sign::sign_tombstone(&line, signer, depth)?,
                None => line,
            };
            lines_by_path.entry(TOMBSTONES_FILE).or_default().push(line);
        }
    }
    for entry in pack.audit.iter().filter(|e| audit_trail && in_period(e.at)) {
        lines_by_path.entry(AUDIT_LOG_FILE).or_default().push(audit_line(entry)?);
    }
    for edge in pack.edges.iter().filter(|_| include_tombstones) {
        lines_by_path.entry(PROVENANCE_FILE).or_default().push(edge_line(edge)?);
    }
    let mut target = OutputTarget::create(out, if include_tombstones { &["audit", "provenance"] } else { &["audit"] })?;
    // Conformance level L3 (spec v1.1 §8) requires the audit trail.
    let level = if audit_trail { "L3" } else { "L2" };
    let is_proven = |capability: &&str| match *capability {
        "proof-of-deletion" | "provenance" => include_tombstones,
        "audit" => audit_trail,
        _ => true,
    };
    let capabilities: Vec<&str> = PACK_CAPABILITIES.into_iter().filter(is_proven).collect();
    let mut manifest = Manifest::new(&pack.generator, pack.created, level, &capabilities);
    if since.is_some() {
        manifest.mode = "incremental".into();
        manifest.since = since;
    }
    let mut files: Vec<FileEntry> = Vec::new();
    for (path, lines) in &mut lines_by_path {
        lines.sort_unstable();
        let name = match *path {
            TOMBSTONES_FILE => "tombstone",
            AUDIT_LOG_FILE => "audit",
            _ => "provenanceEdge",
        };
        manifest.counts.insert(name.into(), lines.len() as u64);
        files.push(target.write_file(path, format!("{}\n", lines.join("\n")).as_bytes())?);
    }
    for (path, lines) in pack.extra_files.iter().filter(|(_, lines)| !lines.is_empty()) {
        files.push(target.write_file(path, format!("{}\n", lines.join("\n")).as_bytes())?);
    }
    if include_howto {
        let listed_paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let text = howto_text::instructions(pack, &listed_paths, signer);
        files.push(target.write_file(HOWTO_FILE, text.as_bytes())?);
        if let Some(signer) = signer {
            files.push(target.write_file(PUBLIC_KEY_FILE, howto_text::public_key_pem(signer).as_bytes())?);
        }
    }
    let count = |path: &str| lines_by_path.get(path).map_or(0, |lines| lines.len() as u64);
    Ok(EvidenceReport {
        tombstones: count(TOMBSTONES_FILE),
        audit_entries: count(AUDIT_LOG_FILE),
        provenance_edges: count(PROVENANCE_FILE),
        digest: target.finish_with_new_manifest(files, manifest, signer)?,
        signed: signer.is_some(),
    })
}

fn text_tree(text: &str) -> Tree {
    Tree::Text(text.to_owned())
}

fn time_tree(at: Timestamp) -> Tree {
    Tree::Text(at.to_rfc3339_seconds())
}

fn canonical_line(spec: &KindSpec, tree: &Tree) -> Result<String, FormatError> {
    line(spec, tree).map_err(|_| FormatError::invalid("malformed", spec.kind, "a number is out of range"))
}

fn audit_line(entry: &AuditEntry) -> Result<String, FormatError> {
    let target =
        entry.kind.map_or_else(|| entry.target.clone(), |k| tombstones::bundle_id(id_prefix(k), &entry.target));
    let mut tree = Tree::Object(vec![
        ("ts".into(), time_tree(entry.at)),
        ("actor".into(), text_tree(&entry.actor)),
        ("op".into(), text_tree(&entry.op)),
        ("targetID".into(), text_tree(&target)),
    ]);
    if !entry.reason.is_empty() {
        tree.set("reason", text_tree(&entry.reason));
    }
    canonical_line(&AUDIT_LOG_SPEC, &tree)
}

fn edge_line(edge: &ProvenanceEdge) -> Result<String, FormatError> {
    let mut tree = Tree::Object(vec![
        ("id".into(), text_tree(&edge.id)),
        ("srcEntityID".into(), text_tree(&edge.source)),
        ("dstEntityID".into(), text_tree(&edge.target)),
        ("edgeType".into(), text_tree(&edge.relation)),
        ("ingestionTime".into(), time_tree(edge.recorded)),
        ("tValidFrom".into(), time_tree(edge.valid_from)),
        ("confidence".into(), Tree::Number(edge.confidence.to_string())),
        ("evidenceEpisodeIDs".into(), texts(&edge.evidence)),
    ]);
    if let Some(end) = edge.valid_to {
        tree.set("tValidTo", time_tree(end));
    }
    if let Some(by) = &edge.superseded_by {
        tree.set("supersededBy", text_tree(by));
    }
    match kind_named("edge") {
        Some(spec) if edge.confidence.is_finite() => canonical_line(spec, &tree),
        _ => Err(FormatError::invalid("malformed", PROVENANCE_FILE, "a number is out of range")),
    }
}

/// All edges between entities, and one edge for each link from a derived record to its source (`derived_from`), so that
/// every derived statement can be traced to its source (spec v1.1 §2).
///
/// # Errors
/// Errors of the record source.
pub fn provenance(source: &mut dyn RecordSource) -> Result<Vec<ProvenanceEdge>, FormatError> {
    let mut out = Vec::new();
    source.records(&mut |stored| {
        if stored.record.kind == Kind::Relation
            && let Some(edge) = graph_edge(&stored)
        {
            out.push(edge);
        } else {
            push_derivation_edges(&stored, &mut out);
        }
        Ok(())
    })?;
    Ok(out)
}

/// The edge for a relation between two entities, with the values that it would have in a bundle.
fn graph_edge(stored: &StoredRecord) -> Option<ProvenanceEdge> {
    let record = &stored.record;
    let origin_spec = spec_of(&record.origin).filter(|spec| record.origin.format == KEY_SCOPE && spec.kind == "edge");
    let depth = Limits::default().json_depth;
    let verbatim = origin_spec.zip(record.verbatim.as_ref());
    let (spec, mut tree) = match verbatim.and_then(|(spec, v)| Some((spec, decode(spec, &v.text, depth).ok()?))) {
        Some(original) => original,
        None => skeleton(stored, None),
    };
    if spec.kind != "edge" {
        return None;
    }
    let current_record = to_record(spec, &tree);
    patch(spec, &mut tree, &current_record, record);
    let text_of = |name: &str| text(&tree, name).unwrap_or_default().to_owned();
    let successor = linked_ids(stored, "superseded_by").next();
    Some(ProvenanceEdge {
        id: text_of("id"),
        source: text_of("srcEntityID"),
        target: text_of("dstEntityID"),
        relation: text_of("edgeType"),
        recorded: time_of(&tree, "ingestionTime")?,
        valid_from: time_of(&tree, "tValidFrom")?,
        valid_to: time_of(&tree, "tValidTo"),
        superseded_by: successor.or_else(|| text(&tree, "supersededBy").map(str::to_owned)),
        confidence: tree.get("confidence").and_then(Tree::as_f64).unwrap_or(DEFAULT_CONFIDENCE),
        evidence: match list(&tree, "evidenceEpisodeIDs") {
            none if none.is_empty() => linked_ids(stored, "derived_from").collect(),
            ids => ids,
        },
    })
}

/// Ids of the targets of all links with this relation, as the bundle writes them.
fn linked_ids<'s>(stored: &'s StoredRecord, relation: &'s str) -> impl Iterator<Item = String> + 's {
    let links = stored.record.links.iter().zip(&stored.link_ids).filter(move |(l, _)| l.relation == relation);
    links.filter_map(|(l, id)| target_id(l.kind, &l.target, id.as_ref()))
}

fn push_derivation_edges(stored: &StoredRecord, out: &mut Vec<ProvenanceEdge>) {
    let record = &stored.record;
    let own_id = match &record.origin_id {
        Some(id) if record.key.scope == KEY_SCOPE => id.clone(),
        _ => format!("{}{}", id_prefix(record.kind), stored.id),
    };
    let t = &record.times;
    let recorded_at = t.nearest_to_creation().unwrap_or(Timestamp::EPOCH);
    let sources = record.links.iter().zip(&stored.link_ids).filter(|(l, _)| l.relation == "derived_from");
    for (link, id) in sources {
        let Some(target) = target_id(link.kind, &link.target, id.as_ref()) else { continue };
        let digest = Sha256::digest(format!("{own_id}\u{0}derived_from\u{0}{target}"));
        let rests_on_episode = matches!(link.kind, Kind::Memory | Kind::Message);
        out.push(ProvenanceEdge {
            id: format!("edge_{}", hex::encode(&digest[..16])),
            source: own_id.clone(),
            target: target.clone(),
            relation: "derived_from".into(),
            recorded: recorded_at,
            valid_from: t.valid_from.unwrap_or(recorded_at),
            valid_to: t.valid_to,
            superseded_by: linked_ids(stored, "superseded_by").next(),
            confidence: record.confidence.filter(|c| c.is_finite()).unwrap_or(DEFAULT_CONFIDENCE),
            evidence: if rests_on_episode { vec![target] } else { vec![] },
        });
    }
}
