//! Whose files are these? Every format claims members by content; the strongest claim wins, a tie is a question.
use crate::{Catalog, Format, FormatError};
use mementory_model::Limits;

/// What a member is to the format that claims it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Conversations.
    Conversations,
    /// Memories, notes about the person.
    Memories,
    /// Projects.
    Projects,
    /// The format's own manifest.
    Manifest,
    /// Records of a portable format.
    Records,
    /// A file of the person's.
    Attachment,
    /// Kept as a passthrough part.
    Sidecar,
    /// Renders data that is also there as data; not stored.
    DuplicateRendering,
    /// Bookkeeping of operating systems (`__MACOSX`, `.DS_Store`); not stored.
    Junk,
}

impl Role {
    /// Stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Conversations => "conversations",
            Role::Memories => "memories",
            Role::Projects => "projects",
            Role::Manifest => "manifest",
            Role::Records => "records",
            Role::Attachment => "attachment",
            Role::Sidecar => "sidecar",
            Role::DuplicateRendering => "duplicate_rendering",
            Role::Junk => "junk",
        }
    }
}

/// One member with its role.
#[derive(Debug, Clone)]
pub struct Part {
    /// Index into [`Catalog::members`].
    pub member: usize,
    /// What it is.
    pub role: Role,
}

/// One format's claim on members that belong together (one source).
#[derive(Debug, Clone)]
pub struct Claim {
    /// Version or layout.
    pub version: Option<String>,
    /// 0..1. 1.0 = the format's own marker was read; 0.9 = shape of the content; 0.5 = plausible text.
    pub confidence: f64,
    /// For people: what was seen.
    pub reason: String,
    /// All members it takes, side files included.
    pub parts: Vec<Part>,
    /// Parts that the source names and that are not there.
    pub missing_parts: Vec<String>,
}

/// Another possibility.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Format id.
    pub format: &'static str,
    /// 0..1
    pub confidence: f64,
    /// What was seen.
    pub reason: String,
}

/// One source, recognised.
#[derive(Debug, Clone)]
pub struct Detected {
    /// Format id.
    pub format: &'static str,
    /// The winning claim.
    pub claim: Claim,
    /// Bytes that reading it will go through, for progress.
    pub total_bytes: u64,
}

/// Everything recognised in a catalog.
#[derive(Debug, Clone, Default)]
pub struct Detection {
    /// Recognised sources, in catalog order.
    pub sources: Vec<Detected>,
    /// Members that two formats claim equally, with both.
    pub ties: Vec<(usize, Vec<Candidate>)>,
    /// Members nobody claims.
    pub unknown: Vec<usize>,
}

/// Ask every format of `formats` (or only `only`), let the strongest claim on each member win.
pub fn detect(
    formats: &[&'static dyn Format],
    catalog: &Catalog,
    limits: &Limits,
    only: Option<&str>,
) -> Result<Detection, FormatError> {
    let mut claims: Vec<(&'static dyn Format, Claim)> = Vec::new();
    for format in formats.iter().copied().filter(|f| only.is_none_or(|id| f.id() == id)) {
        let found = match only {
            Some(_) => format.detect_asked(catalog, limits)?,
            None => format.detect(catalog, limits)?,
        };
        claims.extend(found.into_iter().map(|c| (format, c)));
    }
    // Stable: equal confidence keeps the order of the formats, and is then a tie if both want the same member.
    claims.sort_by(|a, b| b.1.confidence.total_cmp(&a.1.confidence));
    let mut owner: Vec<Option<usize>> = vec![None; catalog.members().len()];
    let mut ties: Vec<(usize, Vec<Candidate>)> = Vec::new();
    for (index, (_, claim)) in claims.iter().enumerate() {
        for part in &claim.parts {
            let Some(slot) = owner.get_mut(part.member) else { continue };
            match *slot {
                None => *slot = Some(index),
                Some(other)
                    if other != index
                        && (claims[other].1.confidence - claim.confidence).abs() < 0.05
                        && claims[other].0.id() != claims[index].0.id()
                        && !matches!(part.role, Role::Sidecar | Role::Junk | Role::DuplicateRendering) =>
                {
                    ties.push((part.member, [other, index].into_iter().map(|i| candidate(&claims[i])).collect()));
                }
                Some(_) => {}
            }
        }
    }
    for (member, _) in &ties {
        owner[*member] = None;
    }
    let mut sources = Vec::new();
    for (index, (format, mut claim)) in claims.into_iter().enumerate() {
        claim.parts.retain(|p| owner.get(p.member).copied().flatten() == Some(index));
        if claim.parts.is_empty() {
            continue;
        }
        let total_bytes = claim.parts.iter().filter_map(|p| catalog.members().get(p.member)).map(|m| m.size).sum();
        sources.push(Detected { format: format.id(), claim, total_bytes });
    }
    sources.sort_by_key(|s| s.claim.parts.iter().map(|p| p.member).min());
    let unknown = owner
        .iter()
        .enumerate()
        .filter(|(i, o)| o.is_none() && !ties.iter().any(|(m, _)| m == i))
        .map(|(i, _)| i)
        .collect();
    Ok(Detection { sources, ties, unknown })
}

fn candidate((format, claim): &(&'static dyn Format, Claim)) -> Candidate {
    Candidate { format: format.id(), confidence: claim.confidence, reason: claim.reason.clone() }
}
