//! Every format of the program, and what callers of formats use.
//!
//! Adding a format: a folder in `mementory-formats-vendor` or `mementory-formats-interchange`, and its line in that
//! crate's `FORMATS`.
#[cfg(test)]
mod mixed_tests;

use mementory_model::Limits;
use std::sync::LazyLock;

pub use mementory_format::{
    AttachmentFile, Candidate, Capabilities, Catalog, Cipher, Claim, Detected, Detection, Finding, Format, FormatError,
    FormatOptions, Member, Part, Passphrase, PassthroughItem, REDACTED, ReadContext, RecordSource, Redaction, Role,
    Sealed, SealedFile, Signed, Signer, Sink, SourceAbout, Spool, SpoolFile, StoredRecord, Validation, WriteOptions,
    WriteReport, did_key, file_sha256, is_uuid, passthrough_envelope, sha256,
};
pub use mementory_formats_interchange::{alf, eventloom, mem, mif, pam, zaxy};
pub use mementory_formats_vendor::{
    chatgpt, claude, mem0, openclaw, openclaw::lacks_only_secrets, transfer_text, zeroclaw,
};

/// Interchange formats first: they say themselves what they are.
static REGISTRY: LazyLock<Vec<&'static dyn Format>> =
    LazyLock::new(|| [mementory_formats_interchange::FORMATS, mementory_formats_vendor::FORMATS].concat());

/// Every format, in the order in which detection asks them.
pub fn registry() -> &'static [&'static dyn Format] {
    &REGISTRY
}

/// The format with this id.
pub fn by_id(id: &str) -> Option<&'static dyn Format> {
    registry().iter().copied().find(|f| f.id() == id)
}

/// Whose files are these? Asks every format, or only the one that `only` names.
///
/// # Errors
/// Those of the formats.
pub fn detect(catalog: &Catalog, limits: &Limits, only: Option<&str>) -> Result<Detection, FormatError> {
    mementory_format::detect(registry(), catalog, limits, only)
}

/// Does this format carry files that are no records, its own and those of other formats?
pub fn carries_passthrough(id: &str) -> bool {
    by_id(id).is_some_and(|f| f.capabilities().carries_passthrough)
}
