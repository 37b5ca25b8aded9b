//! What a format claims of a catalog, and what detection makes of the claims.

/// Role of a member in the format that claims it.
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
    /// A file of the user.
    Attachment,
    /// Stored as a passthrough file.
    Sidecar,
    /// A page for browsers with data that another file has; not stored.
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

/// A member with its role.
#[derive(Debug, Clone)]
pub struct Part {
    /// Index into [`Catalog::members`].
    pub member: usize,
    /// What it is.
    pub role: Role,
}

/// A format's claim on members that belong together (one source).
#[derive(Debug, Clone)]
pub struct Claim {
    /// Version or layout.
    pub version: Option<String>,
    /// 0..1. 1.0 = a marker of the format was found; 0.9 = the structure matches; 0.5 = plausible text.
    pub confidence: f64,
    /// Explanation for the user.
    pub reason: String,
    /// All claimed members, including side files.
    pub parts: Vec<Part>,
    /// Parts that the source lists and that are missing.
    pub missing_parts: Vec<String>,
}

/// A format that claims a tied member.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Format id.
    pub format: &'static str,
    /// 0..1
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
    /// Bytes that reading this source takes, for progress.
    pub total_bytes: u64,
}

/// Everything recognised in a catalog.
#[derive(Debug, Clone, Default)]
pub struct Detection {
    /// Recognised sources, in catalog order.
    pub sources: Vec<Detected>,
    /// Members that two formats claim with the same confidence, with both candidates.
    pub ties: Vec<(usize, Vec<Candidate>)>,
    /// Members that no format claims.
    pub unknown: Vec<usize>,
}
