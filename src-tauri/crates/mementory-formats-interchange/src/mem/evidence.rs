//! The Evidence Pack (spec v1.1 §6): proof of deletion, the audit trail, and what every derived statement rests on, in
//! the same container as a bundle. It holds ids, times and reasons; never what a record says.
//!
//! It takes plain data, since a writer of formats knows neither the store nor its keys. [`provenance`] gathers the edges
//! from records as an export sees them, so that their ids are those of the exported bundles.
use super::{
    bundle::PROVENANCE,
    delta::whole_second,
    guide::{self, GUIDE, KEY},
    kinds::{AUDIT_LOG, LOG, Spec, TOMBSTONES, by_name},
    manifest::{FileEntry, Manifest},
    map::{SCOPE, to_record},
    native::{id_prefix, patch, skeleton, target_id},
    place::Place,
    read::spec_of,
    sign, tombstones,
    wire::{decode, line, list, text, texts, time_of},
};
use mementory_format::{FormatError, RecordSource, Signer, StoredRecord};
use mementory_json::Tree;
use mementory_model::{Kind, Limits, Timestamp, Tombstone};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// What a pack can prove.
const CAPABILITIES: [&str; 4] = ["evidence-pack", "proof-of-deletion", "audit", "provenance"];
/// Receipts of the deletions. Ours, as the next two: other programs take them for parts that are no records.
pub const RECEIPTS: &str = "audit/receipts.jsonl";
/// Hash and signature of each entry of the trail.
pub const CHAIN: &str = "audit/chain.jsonl";
/// What came in and went out, with names.
pub const TRANSFERS: &str = "audit/transfers.jsonl";
/// How sure a derivation is that does not say.
const UNSAID: f64 = 0.7;

/// One event of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// When.
    pub at: Timestamp,
    /// Who; opaque.
    pub actor: String,
    /// What was done (`import`, `erase` …).
    pub op: String,
    /// On what. A vault id becomes the id under which our bundles name the record, when `kind` is said.
    pub target: String,
    /// Kind of the record, when `target` is one.
    pub kind: Option<Kind>,
    /// Why, or how much; no personal data. May be empty.
    pub reason: String,
}

/// What rests on what.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvenanceEdge {
    /// Its own id.
    pub id: String,
    /// Id of one end, as bundles have it.
    pub source: String,
    /// Id of the other end.
    pub target: String,
    /// `derived_from`, or the relation of a graph edge.
    pub relation: String,
    /// When it was recorded.
    pub recorded: Timestamp,
    /// Since when it holds.
    pub valid_from: Timestamp,
    /// Until when it held.
    pub valid_to: Option<Timestamp>,
    /// The edge that took its place.
    pub superseded_by: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// Ids of the episodes that it rests on.
    pub evidence: Vec<String>,
}

/// Which parts go in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chosen {
    /// Tombstones, and what rests on what.
    pub tombstones: bool,
    /// The audit trail.
    pub log: bool,
    /// How to check it all, and the public key.
    pub guide: bool,
}

impl Default for Chosen {
    /// What the specification asks for.
    fn default() -> Self {
        Self { tombstones: true, log: true, guide: false }
    }
}

/// What goes into a pack.
#[derive(Debug, Clone)]
pub struct EvidencePack {
    /// Which parts of what follows.
    pub chosen: Chosen,
    /// `vendor/version`.
    pub generator: String,
    /// Time of the export.
    pub created: Timestamp,
    /// Only deletions and events from then on; edges go whole, since an old edge may be what a new deletion reached.
    pub since: Option<Timestamp>,
    /// Only deletions and events until then.
    pub until: Option<Timestamp>,
    /// All tombstones, as [`RecordSource::tombstones`] gives them.
    pub tombstones: Vec<Tombstone>,
    /// The audit trail.
    pub audit: Vec<AuditEntry>,
    /// Provenance.
    pub edges: Vec<ProvenanceEdge>,
    /// Files beside these, by path, as lines.
    pub beside: BTreeMap<&'static str, Vec<String>>,
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvidenceReport {
    /// Tombstones.
    pub tombstones: u64,
    /// Events.
    pub audit_entries: u64,
    /// Edges.
    pub provenance_edges: u64,
    /// `bundleDigest`.
    pub digest: String,
    /// True with a signer: the manifest, and every tombstone of this vault.
    pub signed: bool,
}

/// Writes a pack to `out`, a folder, or an archive when the name ends in `.zip`; it must not exist yet.
///
/// # Errors
/// The file system's, the signer's, and `malformed` for a confidence that is no number.
pub fn write(pack: &EvidencePack, out: &Path, signer: Option<&dyn Signer>) -> Result<EvidenceReport, FormatError> {
    let depth = Limits::default().json_depth;
    let since = pack.since.map(whole_second);
    let until = pack.until;
    let counts = |at: Timestamp| since.is_none_or(|since| at >= since) && until.is_none_or(|until| at <= until);
    let Chosen { tombstones: stones, log, guide: guided } = pack.chosen;
    let mut streams: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for tombstone in pack.tombstones.iter().filter(|t| stones && counts(t.at)) {
        if seen.insert(tombstone.id.as_str()) {
            let line = tombstones::to_line(tombstone, depth);
            let line = match signer.filter(|_| tombstones::is_own(tombstone)) {
                Some(signer) => sign::tombstone(&line, signer, depth)?,
                None => line,
            };
            streams.entry(TOMBSTONES).or_default().push(line);
        }
    }
    for entry in pack.audit.iter().filter(|e| log && counts(e.at)) {
        streams.entry(LOG).or_default().push(audit_line(entry)?);
    }
    for edge in pack.edges.iter().filter(|_| stones) {
        streams.entry(PROVENANCE).or_default().push(edge_line(edge)?);
    }
    let mut place = Place::create(out, if stones { &["audit", "provenance"] } else { &["audit"] })?;
    // The highest level asks for the trail, and a pack claims to prove what is in it.
    let level = if log { "L3" } else { "L2" };
    let proves = |capability: &&str| match *capability {
        "proof-of-deletion" | "provenance" => stones,
        "audit" => log,
        _ => true,
    };
    let capabilities: Vec<&str> = CAPABILITIES.into_iter().filter(proves).collect();
    let mut manifest = Manifest::new(&pack.generator, pack.created, level, &capabilities);
    if since.is_some() {
        manifest.mode = "incremental".into();
        manifest.since = since;
    }
    let mut files: Vec<FileEntry> = Vec::new();
    for (path, lines) in &mut streams {
        lines.sort_unstable();
        let name = match *path {
            TOMBSTONES => "tombstone",
            LOG => "audit",
            _ => "provenanceEdge",
        };
        manifest.counts.insert(name.into(), lines.len() as u64);
        files.push(place.put(path, format!("{}\n", lines.join("\n")).as_bytes())?);
    }
    for (path, lines) in pack.beside.iter().filter(|(_, lines)| !lines.is_empty()) {
        files.push(place.put(path, format!("{}\n", lines.join("\n")).as_bytes())?);
    }
    if guided {
        let listed: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let text = guide::text(pack, &listed, signer);
        files.push(place.put(GUIDE, text.as_bytes())?);
        if let Some(signer) = signer {
            files.push(place.put(KEY, guide::pem(signer).as_bytes())?);
        }
    }
    let count = |path: &str| streams.get(path).map_or(0, |lines| lines.len() as u64);
    Ok(EvidenceReport {
        tombstones: count(TOMBSTONES),
        audit_entries: count(LOG),
        provenance_edges: count(PROVENANCE),
        digest: place.seal(files, manifest, signer)?,
        signed: signer.is_some(),
    })
}

fn word(text: &str) -> Tree {
    Tree::Text(text.to_owned())
}

fn stamp(at: Timestamp) -> Tree {
    Tree::Text(at.to_rfc3339_seconds())
}

fn checked(spec: &Spec, tree: &Tree) -> Result<String, FormatError> {
    line(spec, tree).map_err(|_| FormatError::invalid("malformed", spec.kind, "a number is out of range"))
}

fn audit_line(entry: &AuditEntry) -> Result<String, FormatError> {
    let target = entry.kind.map_or_else(|| entry.target.clone(), |k| tombstones::named(id_prefix(k), &entry.target));
    let mut tree = Tree::Object(vec![
        ("ts".into(), stamp(entry.at)),
        ("actor".into(), word(&entry.actor)),
        ("op".into(), word(&entry.op)),
        ("targetID".into(), word(&target)),
    ]);
    if !entry.reason.is_empty() {
        tree.set("reason", word(&entry.reason));
    }
    checked(&AUDIT_LOG, &tree)
}

fn edge_line(edge: &ProvenanceEdge) -> Result<String, FormatError> {
    let mut tree = Tree::Object(vec![
        ("id".into(), word(&edge.id)),
        ("srcEntityID".into(), word(&edge.source)),
        ("dstEntityID".into(), word(&edge.target)),
        ("edgeType".into(), word(&edge.relation)),
        ("ingestionTime".into(), stamp(edge.recorded)),
        ("tValidFrom".into(), stamp(edge.valid_from)),
        ("confidence".into(), Tree::Number(edge.confidence.to_string())),
        ("evidenceEpisodeIDs".into(), texts(&edge.evidence)),
    ]);
    if let Some(end) = edge.valid_to {
        tree.set("tValidTo", stamp(end));
    }
    if let Some(by) = &edge.superseded_by {
        tree.set("supersededBy", word(by));
    }
    match by_name("edge") {
        Some(spec) if edge.confidence.is_finite() => checked(spec, &tree),
        _ => Err(FormatError::invalid("malformed", PROVENANCE, "a number is out of range")),
    }
}

/// The edges of the graph, and one for each record that was taken from another (`derived_from`): every derived
/// assertion ties back to what justifies it (spec v1.1 §2).
///
/// # Errors
/// Those of the source.
pub fn provenance(source: &mut dyn RecordSource) -> Result<Vec<ProvenanceEdge>, FormatError> {
    let now = source.about().now;
    let mut out = Vec::new();
    source.records(&mut |stored| {
        if stored.record.kind == Kind::Relation
            && let Some(edge) = graph_edge(&stored, now)
        {
            out.push(edge);
        } else {
            derivations(&stored, now, &mut out);
        }
        Ok(())
    })?;
    Ok(out)
}

/// A relation between two entities, as a bundle would have it.
fn graph_edge(stored: &StoredRecord, now: Timestamp) -> Option<ProvenanceEdge> {
    let record = &stored.record;
    let own = spec_of(&record.origin).filter(|spec| record.origin.format == SCOPE && spec.kind == "edge");
    let depth = Limits::default().json_depth;
    let verbatim = own.zip(record.verbatim.as_ref());
    let (spec, mut tree) = match verbatim.and_then(|(spec, v)| Some((spec, decode(spec, &v.text, depth).ok()?))) {
        Some(own) => own,
        None => skeleton(stored, now),
    };
    if spec.kind != "edge" {
        return None;
    }
    let said = to_record(spec, &tree);
    patch(spec, &mut tree, &said, record);
    let word = |name: &str| text(&tree, name).unwrap_or_default().to_owned();
    let successor = linked(stored, "superseded_by").next();
    Some(ProvenanceEdge {
        id: word("id"),
        source: word("srcEntityID"),
        target: word("dstEntityID"),
        relation: word("edgeType"),
        recorded: time_of(&tree, "ingestionTime")?,
        valid_from: time_of(&tree, "tValidFrom")?,
        valid_to: time_of(&tree, "tValidTo"),
        superseded_by: successor.or_else(|| text(&tree, "supersededBy").map(str::to_owned)),
        confidence: tree.get("confidence").and_then(Tree::as_f64).unwrap_or(UNSAID),
        evidence: match list(&tree, "evidenceEpisodeIDs") {
            none if none.is_empty() => linked(stored, "derived_from").collect(),
            ids => ids,
        },
    })
}

/// Ids, as bundles have them, of what a record is linked to in this way.
fn linked<'s>(stored: &'s StoredRecord, relation: &'s str) -> impl Iterator<Item = String> + 's {
    let links = stored.record.links.iter().zip(&stored.link_ids).filter(move |(l, _)| l.relation == relation);
    links.filter_map(|(l, id)| target_id(l.kind, &l.target, id.as_ref()))
}

fn derivations(stored: &StoredRecord, now: Timestamp, out: &mut Vec<ProvenanceEdge>) {
    let record = &stored.record;
    let own = match &record.origin_id {
        Some(id) if record.key.scope == SCOPE => id.clone(),
        _ => format!("{}{}", id_prefix(record.kind), stored.id),
    };
    let t = &record.times;
    let recorded = t.created.or(t.observed).or(t.updated).unwrap_or(now);
    let ends = record.links.iter().zip(&stored.link_ids).filter(|(l, _)| l.relation == "derived_from");
    for (link, id) in ends {
        let Some(target) = target_id(link.kind, &link.target, id.as_ref()) else { continue };
        let digest = Sha256::digest(format!("{own}\u{0}derived_from\u{0}{target}"));
        let rests_on_episode = matches!(link.kind, Kind::Memory | Kind::Message);
        out.push(ProvenanceEdge {
            id: format!("edge_{}", hex::encode(&digest[..16])),
            source: own.clone(),
            target: target.clone(),
            relation: "derived_from".into(),
            recorded,
            valid_from: t.valid_from.unwrap_or(recorded),
            valid_to: t.valid_to,
            superseded_by: linked(stored, "superseded_by").next(),
            confidence: record.confidence.filter(|c| c.is_finite()).unwrap_or(UNSAID),
            evidence: if rests_on_episode { vec![target] } else { vec![] },
        });
    }
}
