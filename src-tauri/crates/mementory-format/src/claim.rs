//! Claims of formats on members of a catalog, and the result of detection.
use mementory_container::{Catalog, Fault, FaultKind};
use std::collections::BTreeSet;

/// Role of a member in the format that claims it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Conversations.
    Conversations,
    /// Memories, notes about the person.
    Memories,
    /// Projects.
    Projects,
    /// The manifest of the format.
    Manifest,
    /// Records of a portable format.
    Records,
    /// A file of the user.
    Attachment,
    /// A file that is only in the same folder as the other members of the claim. It is an attachment, unless another
    /// format has records in it.
    Beside,
    /// Any other file of the export, stored as a passthrough file.
    Sidecar,
    /// A web page that repeats data of another file; not stored.
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
            Role::Attachment | Role::Beside => "attachment",
            Role::Sidecar => "sidecar",
            Role::DuplicateRendering => "duplicate_rendering",
            Role::Junk => "junk",
        }
    }
}

/// A member and its role.
#[derive(Debug, Clone)]
pub struct Part {
    /// Index into [`Catalog::members`].
    pub member: usize,
    /// The member's role.
    pub role: Role,
}

/// A format's claim that these members together form one source.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Version or layout of the format.
    pub version: Option<String>,
    /// From 0 to 1: 1.0 for a marker of the format, 0.9 for a matching structure, 0.5 for plausible text.
    pub confidence: f64,
    /// Explanation for the user.
    pub reason: String,
    /// All claimed members, including files that are not records.
    pub parts: Vec<Part>,
    /// Names of the parts that the source lists but does not contain.
    pub missing_parts: Vec<String>,
}

/// A format that may be right for a member, because its claim ties with the claim of another format, or because no
/// format claims the member and this format could read it.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Format id.
    pub format: &'static str,
    /// The confidence of the format's claim, from 0 to 1.
    pub confidence: f64,
    /// Explanation for the user.
    pub reason: String,
}

/// A recognised source.
#[derive(Debug, Clone)]
pub struct Detected {
    /// Format id.
    pub format: &'static str,
    /// The winning claim.
    pub claim: Claim,
    /// Total size of the claimed members in bytes, for the progress display.
    pub total_bytes: u64,
}

impl Detected {
    /// The archives that contain the source.
    pub fn archives(&self, catalog: &Catalog) -> BTreeSet<usize> {
        let members = self.claim.parts.iter().filter_map(|part| catalog.members().get(part.member));
        members.filter_map(|member| member.archive).collect()
    }

    /// The structure and name faults for which an import refuses the source. Name faults count only in archives that
    /// contain the source; contradictory structure counts in every archive.
    pub fn listing_faults<'c>(&self, catalog: &'c Catalog) -> Vec<&'c Fault> {
        let archives = self.archives(catalog);
        let is_listed = |fault: &&Fault| fault.kind == FaultKind::Structure || archives.contains(&fault.archive);
        catalog.faults().iter().filter(is_listed).collect()
    }
}

/// The sources and members that were recognised in a catalog.
#[derive(Debug, Clone, Default)]
pub struct Detection {
    /// Recognised sources, in catalog order.
    pub sources: Vec<Detected>,
    /// Members that two formats claim with nearly the same confidence, each with the two candidates.
    pub ties: Vec<(usize, Vec<Candidate>)>,
    /// Members that no format claims.
    pub unknown: Vec<usize>,
}
