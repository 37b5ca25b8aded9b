//! Export and its loss report.
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
    /// Replace an existing export.
    pub overwrite: bool,
    /// Sign with the vault's key.
    pub sign: bool,
    /// Replace sensitive values with `[REDACTED:class]` in the export. The content of attached files is not scanned.
    pub cover: bool,
}

/// Information that the written format cannot express. Other programs that read the export do not see it.
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
    /// As in [`Loss`].
    pub kind: String,
    pub count: u32,
}

/// Records that were not exported, by reason.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Withheld {
    pub reason: String,
    pub count: u32,
}

/// Result of an export. Also used for a preview, which writes nothing; then `bytes` is 0 and `validated` is false.
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
    /// The digest that the format defines (for `.mem`, the bundle digest), or otherwise the SHA-256 of the file or
    /// folder.
    pub digest: String,
    /// True if the export was read back and is valid.
    pub validated: bool,
    /// The first error of the validation, if it failed.
    pub first_error: Option<Finding>,
    /// Number of all validation errors.
    pub errors: u32,
    pub signature: SignatureInfo,
    /// The first thousand losses.
    pub losses: Vec<Loss>,
    /// Number of all losses, including the listed ones, by field and kind.
    pub loss_counts: Vec<LossCount>,
    pub withheld: Vec<Withheld>,
    /// What the person has to know about any export in this format.
    pub note: Option<String>,
}

/// Request to write an Evidence Pack.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct EvidenceRequest {
    /// First date or time, inclusive; null = from the beginning.
    pub since: Option<String>,
    /// Last date or time, inclusive; null = up to now.
    pub until: Option<String>,
    /// Sign with the vault's key.
    pub sign: bool,
    /// Parts to write. Null means tombstones, the log and provenance, which the specification requires.
    pub parts: Option<Vec<EvidencePart>>,
}

/// One part of an Evidence Pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum EvidencePart {
    /// Tombstones with their receipts, and provenance.
    Tombstones,
    /// The log with its signatures.
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

/// An Evidence Pack that was written.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Evidence {
    /// Path of the pack.
    pub path: String,
    /// Number of tombstones.
    pub tombstones: u32,
    /// Number of entries of the audit log.
    pub audit_entries: u32,
    /// Number of derivations and relations.
    pub provenance_edges: u32,
    /// Number of receipts.
    pub receipts: u32,
    /// Number of imports and exports.
    pub transfers: u32,
    /// True if the pack was read back and is valid.
    pub validated: bool,
    /// True if the pack is signed with the vault's key.
    pub signed: bool,
}
