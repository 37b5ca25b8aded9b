//! Reads the identity of an export, and checks the base of an incremental export (§16).
use super::{
    bundle::{Bundle, KEY_SCOPE, scope_of_owner, supported_version},
    document::{self, Document},
};
use crate::detect;
use mementory_format::{Catalog, Detected, ExportIdentity, Finding, FormatError, Member};
use mementory_json::Tree;
use mementory_model::{Bounds, Limits, Timestamp};
use std::path::Path;

/// Returns the id, base, owner and time of the export in a source. None if the source has no store.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn export_of(catalog: &Catalog, source: &Detected, limits: &Limits) -> Result<Option<ExportIdentity>, FormatError> {
    let bundle = Bundle::open(catalog, source, limits)?;
    let Some(store) = bundle.store else { return Ok(None) };
    Ok(Some(description(catalog, store, limits)?.identity))
}

/// What several steps of an import need of a store outside its records. It is cached, because reading a large store for
/// each step would take longer than the step.
#[derive(Clone)]
struct Description {
    identity: ExportIdentity,
    is_unsigned: bool,
}

/// Estimated memory of a description, in bytes.
const DESCRIPTION_BYTES: usize = 1024;

fn description(catalog: &Catalog, store: &Member, limits: &Limits) -> Result<Description, FormatError> {
    catalog.derived(store, || {
        let text = document::read_text(catalog, store, limits)?;
        let doc = Document::open(&text, &store.place)?;
        let owner = doc.raw("owner").and_then(|raw| Tree::from_raw(raw, Bounds::from(limits)).ok());
        let identity = ExportIdentity {
            place: store.place.clone(),
            id: doc.id_member("export_id"),
            incremental: doc.text_member("export_type").as_deref() == Some("incremental"),
            base: doc.id_member("base_export_id"),
            group: scope_of_owner(owner.as_ref()),
            time: doc.text_member("export_date").and_then(|date| Timestamp::parse(&date)),
        };
        let is_unsigned = doc.raw("signature").is_none_or(|raw| raw.get() == "null");
        let is_supported = supported_version(&doc, &store.place).is_ok();
        Ok((Description { identity, is_unsigned: is_unsigned && is_supported }, DESCRIPTION_BYTES))
    })
}

/// True if a store of a supported version has no signature.
///
/// # Errors
/// Fails if the store cannot be read.
pub(super) fn is_unsigned(catalog: &Catalog, store: &Member, limits: &Limits) -> Result<bool, FormatError> {
    Ok(description(catalog, store, limits)?.is_unsigned)
}

/// Export id in a stored envelope (passthrough file [`STORE_FILE`]).
pub fn id_of_envelope(envelope: &str) -> Option<String> {
    Document::open(envelope, "envelope").ok()?.id_member("export_id")
}

/// Name of the store file, and of the passthrough file with its envelope.
pub const STORE_FILE: &str = "memory-store.json";

/// Checks that `base` is the export that `delta` is based on. Otherwise returns only a warning, because §16 allows the
/// import anyway.
///
/// # Errors
/// Fails if `base` is not an export of this format or cannot be read.
pub fn check_base(base: &Path, delta: &ExportIdentity, limits: &Limits) -> Result<Option<Finding>, FormatError> {
    let place = base.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let not_recognised = || FormatError::invalid("base_not_recognised", &place, "the base is not a PAM export");
    let catalog = Catalog::open(&[base.to_path_buf()], limits, None)?;
    let detection = detect(&catalog, limits, Some(KEY_SCOPE))?;
    let source = detection.sources.first().ok_or_else(not_recognised)?;
    let base_identity = export_of(&catalog, source, limits)?.ok_or_else(not_recognised)?;
    let is_base = delta.base.is_some() && delta.base == base_identity.id;
    Ok((!is_base).then(|| Finding {
        code: "delta_base_unknown".into(),
        place: format!("{}/base_export_id", delta.place),
        message: "it builds on another export than this base".into(),
    }))
}
