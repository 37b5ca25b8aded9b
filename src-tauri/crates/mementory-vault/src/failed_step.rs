//! What may fail after a commit, when the change itself is made.

/// A step after a commit that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailedStep {
    /// The search index lacks the change; it catches up at the next change or opening.
    Index,
    /// The audit log has no entry of the change.
    AuditLog,
    /// What was erased or redacted may have left traces; the receipt is not complete.
    Cleaning,
}
