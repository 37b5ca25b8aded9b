//! The steps of a change that may fail, or that cannot be done completely, although the change itself is made.

/// A step that failed after a change was committed, or a part of the change that could not be made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailedStep {
    /// The search index does not contain the change until the next change, or until the vault is opened again.
    Index,
    /// The audit log has no entry for the change.
    AuditLog,
    /// Traces may remain after an erasure or redaction, because the cleaning failed. The receipt is not complete.
    Cleaning,
    /// The erasure is missing from the list in the program's folder. It is in the list in the vault's folder.
    ErasureList,
    /// The system did not confirm that the new name of a file is on the disk. The name may be lost in a power failure.
    Sync,
    /// The file that was written could not be read again afterwards.
    ReadBack,
    /// The configuration of a client still contains Mementory's server, although the client's grant has ended.
    ClientConfiguration {
        /// Path of the configuration file.
        path: String,
        /// Why the configuration could not be changed, in full sentences.
        reason: String,
    },
    /// An undone import left records as they are, because later imports contain only other versions of them: older ones,
    /// or ones with deleted or redacted words. These versions are not stored, so without their text the records would be
    /// lost.
    OtherVersionNotStored {
        /// The number of these records.
        records: u32,
    },
    /// Of several suggestions, at least one could not be accepted or refused. Such a suggestion stays in the queue.
    OtherSuggestions,
}
