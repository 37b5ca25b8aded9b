//! The [`Format`] trait, its capabilities, the sink to which readers send records and the source from which writers get
//! them, detection over a list of formats, and the envelope for passthrough files in other formats. This crate names no
//! format. Formats see bytes, limits and a clock, but no key and no store.
mod claim;
mod decoded_head;
mod detect;
pub mod did_key;
pub mod extension;
mod file_operations;
mod folder_keys;
mod format;
mod json_keys;
mod options;
pub mod passthrough_envelope;
mod plain_secrets;
mod sequence;
mod signing;
#[cfg(feature = "testkit")]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
pub mod testkit;
mod text_batch;
mod tokens;
mod validation;

pub use claim::{Candidate, Claim, Detected, Detection, Part, Role};
pub use decoded_head::{JsonHead, decoded_head};
pub use detect::{detect, nearest};
pub use did_key::did_key;
pub use file_operations::{
    AppliedDeltas, BaseFindings, DeltaFile, DiscloseParts, Disclosure, EditArchives, ExportIdentity, IdentifyExports,
    Leftover, PurgeOptions, PurgeReport, SignFiles, SourceDate,
};
pub use folder_keys::FolderKeys;
pub use format::{
    AttachmentFile, Capabilities, Format, NO_BYTES_NOTE, PassthroughItem, ReadContext, RecordSource, Redaction,
    ReplacedList, SignatureRemover, Sink, SourceDescription, StoredRecord, WriteOptions, WriteReport,
    note_files_left_out,
};
pub use json_keys::json_keys;
pub use mementory_container::{
    AGE_HEAD, ArchiveFile, Catalog, Cipher, Fault, FaultKind, KeyDerivation, KeyPair, Member, Passphrase, Sealed,
    SealedContent, SealedFile, Spool, SpoolFile, WrappedKey, create_private_file, file_sha256, folded_name,
    is_age_head, is_reserved_name, is_safe_path, is_unreadable_entry, plain_name, sha256,
};
pub use mementory_model::{FormatError, REDACTED};
pub use options::FormatOptions;
pub use plain_secrets::{
    NOT_EXPORTED, SECRET_DOTS, bare_member_name, is_encryption, is_secret_member, plain_secrets, replace_plain_secrets,
    restore_from_slot, without_tokens,
};
pub use sequence::{SequenceError, SourceState, check_sequence};
pub use signing::{Signed, Signer, Verifier};
pub use text_batch::{BatchPipeline, TextBatch};
pub use validation::{Finding, Validation};

/// True for a UUID with hyphens, as vendors use in file names and ids.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}
