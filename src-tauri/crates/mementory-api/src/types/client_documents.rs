//! Types for documents that connected clients export and import. Only the clients' tools use these types, so the window
//! has no bindings for them.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Arguments of `export_memory`, as its specification defines them.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClientExport {
    /// `json`, `yaml` or `jsonl`.
    pub format: String,
    pub include_embeddings: bool,
    pub include_graph: bool,
    /// If given, only records dated after this time are exported.
    pub since: Option<String>,
    /// If given, only the records that follow those of an earlier document are exported. The value is the `next_cursor`
    /// of that document. Not part of the specification.
    pub cursor: Option<String>,
    /// True to mask sensitive values even if the grant does not require this.
    pub redact_pii: bool,
}

impl Default for ClientExport {
    fn default() -> Self {
        Self {
            format: "json".into(),
            include_embeddings: true,
            include_graph: true,
            since: None,
            cursor: None,
            redact_pii: true,
        }
    }
}

/// An exported document for a client.
#[derive(Debug, Clone)]
pub struct ClientDocument {
    pub text: String,
    /// Number of records in the document.
    pub records: u32,
    /// False if there are more records, which another call returns.
    pub complete: bool,
    /// Value of `cursor` with which the next call returns the remaining records.
    pub next_cursor: Option<String>,
    /// Value of `since` with which the next call returns the remaining records, as an alternative to `cursor`. None if
    /// no records remain, or if all records have the same time.
    pub next_since: Option<String>,
    /// True if sensitive values are masked.
    pub masked: bool,
}

/// Selection of entries of a bundle, with the fields that the specification of `memory_export` defines.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClientDisclosure {
    pub grains: Option<Vec<String>>,
    pub kinds: Option<Vec<String>>,
    pub since_seq: Option<u64>,
    pub max_seq: Option<u64>,
    pub since_time: Option<String>,
    pub until_time: Option<String>,
}

/// Arguments of `memory_export`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClientBundle {
    pub session_id: Option<String>,
    pub grains: Option<Vec<String>>,
    pub kinds: Option<Vec<String>>,
    pub since_seq: Option<u64>,
    pub max_seq: Option<u64>,
    pub since_time: Option<String>,
    pub until_time: Option<String>,
    pub query: Option<String>,
    pub query_limit: Option<u32>,
    pub exclude_sensitivities: Vec<String>,
    pub limit: Option<u32>,
    /// If given, only the records that follow those of an earlier bundle are exported. The value is the `next_cursor`
    /// of that bundle. Not part of the specification.
    pub cursor: Option<String>,
    /// True to sign the bundle with the vault's key.
    pub sign: bool,
    /// If given, only these entries of the signed bundle are returned, with proofs.
    pub disclose: Option<ClientDisclosure>,
}

/// Arguments of `import_memory`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientImport {
    /// The text of the document.
    pub data: String,
    /// `skip_duplicates`, `overwrite` or `rename`.
    #[serde(default = "skip_duplicates")]
    pub merge_strategy: String,
}

fn skip_duplicates() -> String {
    "skip_duplicates".into()
}

/// Result of importing a client's document.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ClientImported {
    /// Ids of the new suggestions, on which the person has to decide.
    pub suggestions: Vec<String>,
    /// Number of elements that were not suggested, by reason.
    pub skipped: BTreeMap<String, u32>,
}
