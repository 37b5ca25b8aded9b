//! The registry of all formats, detection over all of them, and re-exports of the few format-specific items that
//! callers use.
//!
//! To add a format, create a folder in `mementory-formats-vendor`, `-files`, `-engines`, `-agents`, `-archives` or
//! `-interchange` and add a line to that crate's `FORMATS`.
mod demonstration;
#[cfg(test)]
mod mixed_tests;
#[cfg(test)]
mod stable_ids_tests;
mod typescript;

use mementory_model::Limits;
use std::{path::Path, sync::LazyLock};

pub use demonstration::DEMONSTRATION;
pub use mementory_format::{
    AppliedDeltas, AttachmentFile, Candidate, Capabilities, Catalog, Cipher, Claim, DeltaFile, Detected, Detection,
    DiscloseParts, Disclosure, EditArchives, ExportIdentity, Fault, FaultKind, Finding, FolderKeys, Format,
    FormatError, FormatOptions, IdentifyExports, KeyDerivation, KeyPair, Member, NOT_EXPORTED, Part, Passphrase,
    PassthroughItem, PurgeOptions, PurgeReport, REDACTED, ReadContext, RecordSource, Redaction, ReplacedList, Role,
    SECRET_DOTS, Sealed, SealedContent, SealedFile, SequenceError, SignFiles, SignatureRemover, Signed, Signer, Sink,
    SourceDate, SourceDescription, SourceState, Spool, SpoolFile, StoredRecord, Validation, Verifier, WrappedKey,
    WriteOptions, WriteReport, check_sequence, create_private_file, did_key, file_sha256, is_unreadable_entry, is_uuid,
    passthrough_envelope, plain_secrets, replace_plain_secrets, sha256,
};
/// True if the only difference between two versions of a workspace file is that secrets were removed from one.
pub use mementory_formats_agents::openclaw::differs_only_by_secrets;
/// Evidence Packs: files that prove deletions to other people.
pub use mementory_formats_archives::mem::evidence;
pub use typescript::typescript;

/// Selects entries of a bundle for an export or a disclosure.
pub use mementory_formats_interchange::zaxy::{AnswerOptions, Grain, Selector};

/// All formats. Interchange formats come first, because their files name their format.
static REGISTRY: LazyLock<Vec<&'static dyn Format>> = LazyLock::new(|| {
    use mementory_formats_agents as agents;
    use mementory_formats_archives as archives;
    use mementory_formats_engines as engines;
    use mementory_formats_files as files;
    use mementory_formats_interchange as interchange;
    use mementory_formats_vendor as vendor;
    [archives::FORMATS, interchange::FORMATS, agents::FORMATS, engines::FORMATS, vendor::FORMATS, files::FORMATS]
        .concat()
});

/// Every format, in the order in which detection tries them.
pub fn registry() -> &'static [&'static dyn Format] {
    &REGISTRY
}

/// The format with this id or alias. None if there is no such format.
pub fn by_id(id: &str) -> Option<&'static dyn Format> {
    let by_alias = || registry().iter().copied().find(|f| f.aliases().contains(&id));
    registry().iter().copied().find(|f| f.id() == id).or_else(by_alias)
}

/// Returns the format that offers connected clients an export or import tool with this name.
pub fn by_tool(tool: &str) -> Option<&'static dyn Format> {
    registry().iter().copied().find(|format| {
        let capabilities = format.capabilities();
        [capabilities.export_tool, capabilities.import_tool].contains(&Some(tool))
    })
}

/// The first format that can edit its archives without a vault.
pub fn archive_editing() -> Option<(&'static dyn Format, &'static dyn EditArchives)> {
    registry().iter().find_map(|format| Some((*format, format.archive_editing()?)))
}

/// The first format that can disclose a part of a file with a proof.
pub fn disclosure() -> Option<(&'static dyn Format, &'static dyn DiscloseParts)> {
    registry().iter().find_map(|format| Some((*format, format.disclosure()?)))
}

/// True if the path has the extension of a format whose exports are encrypted as a whole.
pub fn has_encrypted_extension(path: &Path) -> bool {
    let extensions = registry().iter().filter_map(|format| format.capabilities().encrypted_extension);
    path.extension().is_some_and(|found| extensions.into_iter().any(|known| found.eq_ignore_ascii_case(known)))
}

/// Finds the format of every input. Tries all formats, or only the one whose id or alias is `only`.
///
/// # Errors
/// The errors of the formats.
pub fn detect(catalog: &Catalog, limits: &Limits, only: Option<&str>) -> Result<Detection, FormatError> {
    let only = only.map(|name| by_id(name).map_or(name, |format| format.id()));
    mementory_format::detect(registry(), catalog, limits, only)
}

/// The formats that could read the members that no format recognised. See [`mementory_format::nearest`].
///
/// # Errors
/// The errors of the formats.
pub fn nearest(
    catalog: &Catalog,
    limits: &Limits,
    members: &[usize],
) -> Result<Vec<(usize, Vec<Candidate>)>, FormatError> {
    mementory_format::nearest(registry(), catalog, limits, members)
}

/// True if exports in this format can contain passthrough files, including those of other formats.
pub fn carries_passthrough(id: &str) -> bool {
    by_id(id).is_some_and(|f| f.capabilities().carries_passthrough)
}
