//! Types for exports, their loss reports, and Evidence Packs.
use super::{Filter, Finding, SignatureInfo, TsNumber};
use crate::{ApiError, ApiResult};
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// Request to write an export.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct ExportRequest {
    /// Id of a format that can be written.
    pub format: String,
    pub out: String,
    pub filter: Filter,
    /// True to replace an existing export.
    pub overwrite: bool,
    /// True to sign the export with the vault's key.
    pub sign: bool,
    /// True to replace sensitive values with `[REDACTED:class]` in the export. The content of attached files is not
    /// scanned.
    pub cover: bool,
}

/// Information in a record that the written format cannot express, so that other programs that read the export do not
/// see it.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Loss {
    pub record: String,
    pub field: String,
    /// `moved_to_extension`, `narrowed` or `left_out`.
    pub kind: String,
    pub note: String,
}

/// Number of losses of one kind in one field.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct LossCount {
    pub field: String,
    /// Kind of the losses, as in [`Loss::kind`].
    pub kind: String,
    pub count: u32,
}

/// Records that were not exported, by reason.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Withheld {
    pub reason: String,
    pub count: u32,
}

/// Result of an export, or of its preview. A preview writes nothing: `bytes` is 0 and `validated` is false.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Exported {
    pub path: String,
    pub format: String,
    pub version: String,
    pub records: u32,
    pub by_kind: BTreeMap<String, u32>,
    /// Number of distinct sensitive values masked in the export.
    pub covered: u32,
    #[specta(type = TsNumber)]
    pub bytes: u64,
    /// The digest that the format defines, such as the bundle digest of `.mem`. For other formats, the SHA-256 of the
    /// file or folder.
    pub digest: String,
    /// True if the export was read back and is valid.
    pub validated: bool,
    /// The first error of the validation. Null if the export is valid.
    pub first_error: Option<Finding>,
    /// Number of all validation errors.
    pub errors: u32,
    pub signature: SignatureInfo,
    /// The first thousand losses.
    pub losses: Vec<Loss>,
    /// Number of all losses, including those that are not listed in `losses`, by field and kind.
    pub loss_counts: Vec<LossCount>,
    pub withheld: Vec<Withheld>,
    /// A note for the person that applies to every export in this format.
    pub note: Option<String>,
}

/// Request to write an Evidence Pack.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct EvidencePackRequest {
    /// First date or time, inclusive. Null: from the beginning.
    pub since: Option<String>,
    /// Last date or time, inclusive. Null: up to now.
    pub until: Option<String>,
    /// True to sign the pack with the vault's key.
    pub sign: bool,
    /// The parts to write. Null: tombstones, the log and provenance, which the specification requires.
    pub parts: Option<Vec<EvidencePart>>,
}

/// One part of an Evidence Pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum EvidencePart {
    /// Tombstones with their receipts, and provenance.
    Tombstones,
    /// The audit log with its signatures.
    Log,
    /// The public key, and instructions to verify the pack.
    Key,
    /// Imports and exports, with file names.
    Transfers,
}

impl EvidencePart {
    /// Parses the name of a part.
    ///
    /// # Errors
    /// `usage` for any other word.
    pub fn parse(word: &str) -> ApiResult<Self> {
        match word {
            "tombstones" => Ok(Self::Tombstones),
            "log" => Ok(Self::Log),
            "key" => Ok(Self::Key),
            "transfers" => Ok(Self::Transfers),
            _ => Err(ApiError::usage(format!(
                "{word} is not a part of an Evidence Pack. Nothing was written. Use tombstones, log, key or transfers."
            ))),
        }
    }
}

/// The result of writing an Evidence Pack.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Evidence {
    /// Path of the pack.
    pub path: String,
    /// Number of tombstones in the pack.
    pub tombstones: u32,
    /// Number of audit log entries in the pack.
    pub audit_entries: u32,
    /// Number of derivations and relations between records in the pack.
    pub provenance_edges: u32,
    /// Number of receipts in the pack.
    pub receipts: u32,
    /// Number of imports and exports in the pack.
    pub transfers: u32,
    /// True if the pack was read back and is valid.
    pub validated: bool,
    /// True if the pack is signed with the vault's key.
    pub signed: bool,
}
