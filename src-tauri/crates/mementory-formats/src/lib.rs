//! Detection, containers and one folder per format: `{mod,detect,wire,read,write}.rs` and a README.
//!
//! A format is a folder and one line in [`registry`]. Formats see bytes, limits and a clock; never a key, never the store.
pub mod carry;
mod detect;
mod did_key;
mod format;
pub mod input;
mod json_keys;
mod passphrase;

pub mod alf;
pub mod chatgpt;
pub mod claude;
pub mod eventloom;
pub mod mem;
pub mod mem0;
pub mod mif;
pub mod openclaw;
pub mod pam;
pub mod transfer_text;
pub mod zaxy;
pub mod zeroclaw;

#[cfg(test)]
mod mixed_tests;
#[cfg(test)]
mod properties;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
mod testing;

pub use detect::{Candidate, Claim, Detected, Detection, Part, Role, detect};
pub use did_key::did_key;
pub use format::{
    AttachmentFile, Capabilities, Finding, Format, PassthroughItem, REDACTED, ReadContext, RecordSource, Redaction,
    Signed, Signer, Sink, SourceAbout, StoredRecord, Validation, WriteOptions, WriteReport,
};
pub use input::{Catalog, Member, Spool, SpoolFile, file_sha256, sha256};
pub(crate) use json_keys::json_keys;
pub use mementory_model::FormatError;
pub use openclaw::lacks_only_secrets;
pub use passphrase::{Cipher, Passphrase, Sealed, SealedFile};

/// Every format, in the order in which detection asks them. One line each.
pub fn registry() -> &'static [&'static dyn Format] {
    &[
        &mem::Mem,
        &alf::Alf,
        &alf::delta::AlfDelta,
        &pam::Pam,
        &mif::Mif,
        &zaxy::Zaxy,
        &eventloom::Eventloom,
        &openclaw::OpenClaw,
        &zeroclaw::ZeroClaw,
        &chatgpt::ChatGpt,
        &claude::Claude,
        &mem0::Mem0,
        &transfer_text::TransferText,
    ]
}

/// True for a UUID with its hyphens, as vendors name files and ids.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

/// The format with this id.
pub fn by_id(id: &str) -> Option<&'static dyn Format> {
    registry().iter().copied().find(|f| f.id() == id)
}
